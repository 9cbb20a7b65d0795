"""Staged segments: elements of the journal as Parquet files, for the rounds that read them.

    journal     | push 0 | push 1 | push 2 | push 3 | push 4 |
    staged      |    staged-0     |    staged-2     |   tail of a round that has not begun

The files are not synced and have no manifest: after a crash the journal has all their elements, and the files are
removed. When the journal is folded, one segment of the log takes their place.
"""

from __future__ import annotations

import shutil
from pathlib import Path

import pyarrow as pa

from penstock.stream.log.journal import Tail
from penstock.stream.log.segment import Segment, segment_of, write_part
from penstock.tuning import DEFAULT, Tuning

__all__ = ["StagedSegments"]


class StagedSegments:
    """The staged segments of one stream, in the order of arrival. Not thread-safe."""

    def __init__(self, folder: Path, tuning: Tuning = DEFAULT) -> None:
        self._folder, self._tuning = folder, tuning
        self.segments: list[Segment] = []
        self._records = 0  # of the tail, that are in them
        self._files: list[Path] = []
        self._replaced: list[Path] = []  # files whose elements a segment of the log has; a round may still read them

    @property
    def is_long(self) -> bool:
        """Whether there are so many that one file in their place is worth its syncs."""
        return len(self.segments) >= self._tuning.staged_segments

    def add(self, tail: Tail, number: int) -> None:
        """Stage the records of the tail that are not staged yet, as a segment with that number or a higher one."""
        records = tail.records[self._records :]
        tables = [record.elements for record in records if record.elements.num_rows]
        if tables:
            file = self._folder / f"staged-{records[0].batch}.parquet"
            elements = pa.concat_tables(tables, promote_options="default").combine_chunks()
            part = write_part(elements, file / "part-00000.parquet", tuning=self._tuning)
            self.segments.append(segment_of([part], number + len(self.segments), {}, tuning=self._tuning))
            self._files.append(file)
        self._records = len(tail.records)

    def clear(self) -> None:
        """Forget all: a segment of the log has their elements."""
        self._replaced += self._files
        self.segments, self._files, self._records = [], [], 0

    def remove_replaced(self) -> None:
        """Remove files that are not needed any more. No evaluation reads them meanwhile."""
        for file in self._replaced:
            shutil.rmtree(file, ignore_errors=True)
        self._replaced = []
