"""Operator state between evaluations: the solutions that hold when a span ends, and since when.

    ROOT/<name>.parquet     of the queries that were evaluated together then

A file is written before the delivery that it goes with becomes progress, and the one before is kept until then. The
registry says which files count: one that a crash has left unused is removed when the engine starts again.
"""

from __future__ import annotations

import shutil
from collections.abc import Collection, Iterable
from pathlib import Path
from typing import Protocol
from uuid import uuid4

from penstock.stream.base import durable_files

__all__ = ["ReportState"]


class Carrying(Protocol):
    """The result of an evaluation that has operator state."""

    def write_open(self, path: str) -> int:
        """Write the state to that path, and return how many solutions are open."""


class ReportState:
    """The files of all queries, by name."""

    def __init__(self, root: Path) -> None:
        self._root = root

    def path(self, name: str) -> str | None:
        """The path of the file of that name; None if there is no such file."""
        path = self._root / name
        return str(path) if path.exists() else None

    def keep(self, result: Carrying) -> tuple[str, int]:
        """Write the state of an evaluation: the new file's name, and how many solutions are open."""
        self._root.mkdir(parents=True, exist_ok=True)
        file = self._root / f"{uuid4().hex}.parquet"
        count = result.write_open(str(file))
        _sync(file)
        return file.name, count

    def remove(self, names: Iterable[str]) -> None:
        """Remove files that no group refers to any more."""
        for name in names:
            _remove(self._root / name)

    def sweep(self, used: Collection[str]) -> None:
        """Remove all files but the used ones. A crash may have left one that no query refers to."""
        names = [found.name for found in self._root.iterdir()] if self._root.is_dir() else []
        self.remove(name for name in names if name not in used)


def _remove(file: Path) -> None:
    shutil.rmtree(file) if file.is_dir() else file.unlink(missing_ok=True)


def _sync(file: Path) -> None:
    """Spark writes a folder of files."""
    for part in [*(file.iterdir() if file.is_dir() else ()), file, file.parent]:
        durable_files.sync(part)
