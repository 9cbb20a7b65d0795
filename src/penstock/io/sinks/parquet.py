"""A folder of Parquet, a sub-folder a batch. Spark writes it, so that answers need not pass through this process."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

from penstock.errors import StoreError
from penstock.io.sinks.sink import Batch, Position

__all__ = ["ParquetSink"]

_BATCH = re.compile(r"batch-(\d+)")


class ParquetSink:
    """`DIR/batch-00000017/….parquet` with the columns `time` and one of encoded terms a variable.

    The position is the number of batches: a repeated one replaces its folder, and rewinding removes those beyond.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def begin(self) -> Position:
        """See `Sink.begin`."""
        if self._folder.is_dir() and any(self._folder.iterdir()):
            raise StoreError(f"{self._folder} is not empty: name a new folder for the answers.")
        self._folder.mkdir(parents=True, exist_ok=True)
        return 0

    def rewind(self, position: Position) -> None:
        """See `Sink.rewind`."""
        for folder in list(self._folder.iterdir()) if self._folder.is_dir() else []:
            if (name := _BATCH.fullmatch(folder.name)) and int(name[1]) >= int(position or 0):
                shutil.rmtree(folder)

    def deliver(self, batch: Batch) -> Position:
        """See `Sink.deliver`."""
        batch.write_parquet(str(self._folder / f"batch-{batch.number:08d}"))
        return batch.number + 1

    def close(self) -> None:
        """See `Sink.close`."""
