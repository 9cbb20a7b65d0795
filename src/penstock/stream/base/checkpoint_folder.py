"""The folder of a checkpoint: for its owner only, and without a way out of it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from penstock.errors import StoreError

__all__ = ["open_folder"]

_OWNER_ONLY = 0o700


def open_folder(folder: Path) -> None:
    """Make the folder, or close it to others. StoreError if it is another user's checkpoint, or holds a link."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    folder.mkdir(_OWNER_ONLY, exist_ok=True)
    status = folder.stat()
    if status.st_uid != os.geteuid():
        if (folder / "registry").exists():
            raise StoreError(
                f"The checkpoint {folder} belongs to another user ({status.st_uid}), who may have written anything"
                " into it: make it yours (chown) if you trust it."
            )
    elif status.st_mode & 0o777 != _OWNER_ONLY:
        folder.chmod(_OWNER_ONLY)
    for link in _links(folder):
        raise StoreError(f"The checkpoint {folder} holds the link {link}, which leads out of it: remove it.")


def _links(folder: Path) -> Iterator[str]:
    """The symbolic links in a folder and the folders in it."""
    with os.scandir(folder) as listing:
        entries = list(listing)
    for entry in entries:
        if entry.is_symlink():
            yield entry.path
        elif entry.is_dir():
            yield from _links(Path(entry.path))
