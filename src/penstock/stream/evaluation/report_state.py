"""Operator state between evaluations: the solutions that hold when a span ends, and since when.

    ROOT/<name>-<CRC-32>.parquet        of the queries that were evaluated together then

A file is written before the delivery that it goes with becomes progress, and the one before is kept until then. The
registry says which files count: one that a crash has left unused is removed when the engine starts again.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Collection, Iterable
from contextlib import suppress
from functools import reduce
from pathlib import Path
from typing import Protocol
from uuid import uuid4

from penstock.stream.base import durable_files
from penstock.stream.base.disk_errors import damaged, disk_errors

__all__ = ["ReportState"]

_NAME = re.compile(r"[0-9a-f]{32}-[0-9a-f]{8}\.parquet")


class Carrying(Protocol):
    """The result of an evaluation that has operator state."""

    def write_open(self, path: str) -> int:
        """Write the state to that path, and return how many solutions are open."""


class ReportState:
    """The files of all queries, by name."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._verified: set[str] = set()  # written or verified by this process

    def path(self, name: str) -> str:
        """The path of the file of that name. StoreError if it is missing, or not as it was written; a file that an
        earlier process has written is looked at once."""
        path = self._root / name
        if name not in self._verified:
            _verify(path, name)
            self._verified.add(name)
        return str(path)

    def keep(self, result: Carrying) -> tuple[str, int]:
        """Write the state of an evaluation: the new file's name, and how many solutions are open."""
        durable_files.make_folder(self._root)
        new = self._root / f"{uuid4().hex}.parquet"
        try:
            with disk_errors(new):
                count = result.write_open(str(new))
                file = new.rename(new.with_name(f"{new.stem}-{_checksum(new):08x}.parquet"))
            _sync(file)
        except BaseException:
            self._remove_failed(new.stem)
            raise
        self._verified.add(file.name)
        return file.name, count

    def _remove_failed(self, stem: str) -> None:
        with suppress(OSError):
            for file in self._root.glob(f"{stem}*"):
                _remove(file)

    def remove(self, names: Iterable[str]) -> None:
        """Remove files that no group refers to any more."""
        for name in names:
            _remove(self._root / name)
            self._verified.discard(name)

    def sweep(self, used: Collection[str]) -> None:
        """Remove all files but the used ones. A crash may have left one that no query refers to."""
        names = [file.name for file in self._root.iterdir()] if self._root.is_dir() else []
        self.remove(name for name in names if name not in used)


def _verify(path: Path, name: str) -> None:
    """Raise a StoreError if the file is missing, or not the one that it was when it was named."""
    if path.name != name or not _NAME.fullmatch(name):
        raise damaged(path.parent, f"the registry names a state {name!r}, which is no file of this folder")
    try:
        checksum = _checksum(path)
    except OSError as error:
        raise damaged(path, f"it cannot be read ({error.strerror})") from error
    if f"{checksum:08x}" != path.stem[-8:]:
        raise damaged(path, "its checksum is not the one in its name")


def _checksum(file: Path) -> int:
    return reduce(lambda before, part: durable_files.checksum(part, before), _parts(file), 0)


def _parts(file: Path) -> list[Path]:
    """The file itself; or the files of rows, as Spark writes a folder of them."""
    return sorted(part for part in file.iterdir() if part.name[0] not in "._") if file.is_dir() else [file]


def _remove(file: Path) -> None:
    shutil.rmtree(file) if file.is_dir() else file.unlink(missing_ok=True)


def _sync(file: Path) -> None:
    """Spark writes a folder of files."""
    for part in [*(file.iterdir() if file.is_dir() else ()), file, file.parent]:
        durable_files.sync(part)
