"""Durable files: written atomically and synced, so that a crash leaves the old content or the new."""

from __future__ import annotations

import os
import re
from hashlib import blake2s
from pathlib import Path

__all__ = ["folder_name", "make_folder", "replace", "sync"]

_LONGEST = 40  # letters of the readable part of a folder's name


def replace(path: Path, data: bytes) -> None:
    """Replace the content of a file atomically: a reader sees the old or the new, also after a crash."""
    temporary = path.with_name(f".{path.name}.tmp")
    with temporary.open("wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    temporary.replace(path)
    sync(path.parent)


def make_folder(path: Path) -> None:
    """Make a folder, and those that it lies in; their names are on the disk when this returns."""
    missing = [folder for folder in (path, *path.parents) if not folder.exists()]
    path.mkdir(parents=True, exist_ok=True)
    for folder in reversed(missing):
        sync(folder.parent)


def sync(path: Path) -> None:
    """Wait until a file's content, or a folder's list of names, is on the disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def folder_name(text: str) -> str:
    """A name for a folder that belongs to an IRI or a path: readable, and different for every text."""
    words = re.sub(r"[^A-Za-z0-9]+", "-", text.partition("://")[2] or text).strip("-")
    return f"{words[-_LONGEST:].strip('-')}-{blake2s(text.encode(), digest_size=4).hexdigest()}".lstrip("-")
