"""The spool as a source of Structured Streaming: its offset is the number of the next file, and nothing else travels.

Spark's own file source would do, but it lists the folder through Hadoop's layers (half a core, idle) and remembers
every file for ever, in a list that it writes again and again. A number costs neither.

The source runs in a Python process of Spark's, to which this module travels by value: only the standard library and
PySpark may be used here.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pyspark import cloudpickle
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.datasource import DataSource, SimpleDataSourceStreamReader
from pyspark.sql.types import StructType

__all__ = ["SpoolSource", "arrivals", "consumed", "files_of"]

_NEXT = "next"
_BATCH, _WAIT, _LOOK = "batch_bytes", "wait_s", "look_s"  # the options of the source


class SpoolReader(SimpleDataSourceStreamReader):
    """Gives Spark the offset of the spool. The files are read in the driver, when the batch runs."""

    def __init__(self, folder: str, batch_bytes: int, wait_s: float, look_s: float) -> None:
        self._folder, self._batch_bytes = folder, batch_bytes
        self._wait_s, self._look_s = wait_s, look_s

    def initialOffset(self) -> dict[str, int]:
        return {_NEXT: 0}

    def read(self, start: dict[str, int]) -> tuple[Iterator[Any], dict[str, int]]:
        """Wait a little for new files: asking once is cheap, but Spark would ask a hundred times a second."""
        until = time.monotonic() + self._wait_s
        while not (new := self._sizes(start[_NEXT])) and time.monotonic() < until:
            time.sleep(self._look_s)
        return iter(()), {_NEXT: _end(start[_NEXT], new, self._batch_bytes)}

    def readBetweenOffsets(self, start: dict[str, int], end: dict[str, int]) -> Iterator[Any]:
        return iter(())

    def commit(self, end: dict[str, int]) -> None:
        """Everything below has been read for good. The newest stays, so that the spool's numbers go on from it."""
        for number in self._numbers():
            if number < end[_NEXT] - 1:
                os.unlink(os.path.join(self._folder, f"{number}.nq"))

    def _numbers(self) -> list[int]:
        return sorted(
            int(name[:-3]) for name in os.listdir(self._folder) if name[:-3].isdecimal() and name[-3:] == ".nq"
        )

    def _sizes(self, start: int) -> dict[int, int]:
        new = [number for number in self._numbers() if number >= start]
        return {number: os.path.getsize(os.path.join(self._folder, f"{number}.nq")) for number in new}


def _end(start: int, sizes: dict[int, int], most: int) -> int:
    """The number after the last file of the next batch."""
    end, total = start, 0
    for number, size in sizes.items():
        if total and total + size > most:
            break
        end, total = number + 1, total + size
    return end


class SpoolSource(DataSource):
    """The data source that Spark loads the reader from."""

    @classmethod
    def name(cls) -> str:
        return "penstock_spool"

    def schema(self) -> str:
        return "nothing int"

    def simpleStreamReader(self, schema: StructType) -> SpoolReader:
        options = self.options
        return SpoolReader(options["path"], int(options[_BATCH]), float(options[_WAIT]), float(options[_LOOK]))


def arrivals(session: SparkSession, folder: Path, batch_bytes: int, wait_s: float, look_s: float) -> DataFrame:
    """A streaming frame without rows that has a batch whenever there are new files in the spool."""
    cloudpickle.register_pickle_by_value(sys.modules[__name__])  # type: ignore[no-untyped-call]
    session.dataSource.register(SpoolSource)
    options = {_BATCH: str(batch_bytes), _WAIT: str(wait_s), _LOOK: str(look_s)}
    return session.readStream.format(SpoolSource.name()).options(**options).load(str(folder))


def files_of(checkpoint: Path, batch: int) -> tuple[int, int]:
    """The numbers of a batch's first file and of the one after its last.

    Spark writes a batch's offsets down before it runs it, and takes them from there when it runs it again. A job that
    asks for them instead would double the time that a batch takes.
    """
    return (_offset(checkpoint, batch - 1) if batch else 0), _offset(checkpoint, batch)


def consumed(checkpoint: Path) -> int:
    """The number after the last file that Spark knows to be read."""
    commits = checkpoint / "commits"
    done = [int(path.name) for path in commits.iterdir() if path.name.isdecimal()] if commits.exists() else []
    return _offset(checkpoint, max(done)) if done else 0


def _offset(checkpoint: Path, batch: int) -> int:
    """From Spark's log of offsets: a version, a line about the query, and a line for each source."""
    return int(json.loads((checkpoint / "offsets" / str(batch)).read_text().splitlines()[2])[_NEXT])
