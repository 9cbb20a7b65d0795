"""What queries carry from one evaluation to the next: the solutions that hold when a span ends, and since when.

    ROOT/<query>/<batches>.parquet     as it was after so many deliveries

A file is written before the delivery that it goes with becomes progress, so one that a crash has left unused is written
again; the one before is needed until then.
"""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Protocol

from penstock.stream import durable

__all__ = ["Carried"]


class Carrying(Protocol):
    """An evaluation that leaves something open."""

    def write_open(self, path: str) -> int:
        """Write it there, and say how much it was."""


class Carried:
    """The files of all queries."""

    def __init__(self, root: Path) -> None:
        self._root = root

    def path(self, query: str, batches: int) -> str | None:
        """What the query left open after so many deliveries."""
        found = self._file(query, batches)
        return str(found) if found.exists() else None

    def keep(self, query: str, batches: int, made: Carrying) -> int:
        """Keep what is open after so many deliveries; files that no restart needs are removed."""
        file = self._file(query, batches)
        file.parent.mkdir(parents=True, exist_ok=True)
        for old in file.parent.iterdir():
            if old.name not in (file.name, f"{batches - 1}.parquet"):
                _remove(old)
        _remove(file)
        count = made.write_open(str(file))
        _sync(file)
        return count

    def forget(self, query: str) -> None:
        """A query of that name begins anew, or is gone."""
        shutil.rmtree(self._file(query, 0).parent, ignore_errors=True)

    def _file(self, query: str, batches: int) -> Path:
        return self._root / durable.folder_name(query) / f"{batches}.parquet"


def _remove(file: Path) -> None:
    shutil.rmtree(file) if file.is_dir() else file.unlink(missing_ok=True)


def _sync(file: Path) -> None:
    """Spark writes a folder of files."""
    for part in [*(file.iterdir() if file.is_dir() else ()), file, file.parent]:
        durable.sync(part)
