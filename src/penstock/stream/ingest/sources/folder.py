"""A drop folder: Spark's file source lists each new file once, and the driver reads the files."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from penstock.errors import PenstockError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

__all__ = ["Dropped", "Folder", "dropped"]

_SCHEMA = "path string, modificationTime timestamp, length bigint, content binary"
_OPTIONS = {
    "maxFilesPerTrigger": "1000",
    # A file may be old when it is dropped. Spark would leave out, without a word, files older than this.
    "maxFileAge": "36500d",
}


@dataclass(frozen=True, slots=True)
class Dropped:
    """A file that was dropped, when (microseconds), and how large it is."""

    path: str
    modified: int
    size: int


@dataclass(frozen=True, slots=True)
class Folder:
    """A folder that is watched. Names that begin with a dot or an underscore are not looked at."""

    path: str

    def arrivals(self, session: SparkSession) -> DataFrame:
        """A streaming frame of the files; their content is not read, since no column of it is selected."""
        if "://" not in self.path and not Path(self.path).exists():
            raise PenstockError(f"{self.path}: there is no such folder")
        reader = session.readStream.format("binaryFile").schema(_SCHEMA).options(**_OPTIONS)
        return reader.load(self.path).selectExpr("path", "unix_micros(modificationTime) AS modified", "length AS size")


def dropped(batch: DataFrame) -> list[Dropped]:
    """The files of a batch in the order in which they came."""
    files = [Dropped(_path(row.path), row.modified, row.size) for row in batch.collect()]
    return sorted(files, key=lambda file: (file.modified, file.path))


def _path(uri: str) -> str:
    """Local files by their plain path: what Spark prints before it is no URI that others read."""
    return "/" + uri.removeprefix("file:").lstrip("/") if uri.startswith("file:") else uri
