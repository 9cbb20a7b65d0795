"""What arrives on a stream, one after the other, and what is in time of it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TypeAlias

import pyarrow as pa
import pyarrow.parquet as pq

from penstock.io.columns import ELEMENTS
from penstock.stream.base.watermark import Position
from penstock.stream.ingest.dead_letters import Malformed
from penstock.stream.ingest.lateness import after, is_clean, split_late
from penstock.stream.ingest.load_task import LoadedFile as MeasuredPart
from penstock.stream.log.segment import SegmentFile, write_part
from penstock.tuning import DEFAULT, Tuning

__all__ = ["Advance", "BatchWriter", "Item", "Reading"]


@dataclass(frozen=True, slots=True)
class Reading:
    """Elements in the order of arrival, and lines that hold none."""

    elements: pa.Table
    malformed: Sequence[Malformed] = ()


@dataclass(frozen=True, slots=True)
class Advance:
    """A call of `advance`: the stream is complete through this time."""

    through: int


Item: TypeAlias = Reading | Advance


@dataclass
class BatchWriter:
    """A batch on its way into a folder: where the stream stands, and what has become of the arrivals so far."""

    position: Position
    folder: Path
    parts: list[SegmentFile] = field(default_factory=list)
    late: pa.Table = field(default_factory=ELEMENTS.empty_table)
    malformed: list[Malformed] = field(default_factory=list)
    untold: int = 0  # malformed lines whose text is only where they came from
    tuning: Tuning = DEFAULT
    _kept: list[pa.Table] = field(default_factory=list)

    def take(self, items: Iterable[Item]) -> None:
        """Sift arrivals, and write those that are in time."""
        for item in items:
            if isinstance(item, Advance):
                self._advance(item.through)
            else:
                self.malformed.extend(item.malformed)
                self._kept.append(self._sift(item.elements))
                self._write(self.tuning.segment_part_rows)
        self._write(1)

    def take_part(self, part: MeasuredPart) -> None:
        """Take a part that lies in the folder, or what is in time of it."""
        self.malformed += [Malformed(bad.file or "", bad.line, bad.text, bad.reason) for bad in part.bad]
        self.untold += part.malformed - len(part.bad)
        if not part.rows:
            return
        if is_clean(part, self.position):
            self.position = after(self.position, part.last)
            self.parts.append(part)
        elif (kept := self._sift(pq.read_table(part.path, partitioning=None))).num_rows:
            self.parts.append(write_part(kept, Path(part.path), tuning=self.tuning))

    @property
    def refused(self) -> int:
        """How many lines held no element."""
        return len(self.malformed) + self.untold

    def _advance(self, through: int) -> None:
        known = self.position.advanced_to
        self.position = replace(self.position, advanced_to=through if known is None else max(known, through))

    def _sift(self, elements: pa.Table) -> pa.Table:
        kept, behind = split_late(elements, self.position)
        if behind.num_rows:
            self.late = pa.concat_tables([self.late, behind], promote_options="default")
        if kept.num_rows:
            self.position = after(self.position, int(kept.column("ts").to_numpy().max()))
        return kept

    def _write(self, least: int) -> None:
        """Write what waits as a part if it is so many rows: small pushes become one, and nothing large waits."""
        if sum(table.num_rows for table in self._kept) >= least:
            path = self.folder / f"part-{len(self.parts):05}.parquet"
            kept = pa.concat_tables(self._kept, promote_options="default")
            self.parts.append(write_part(kept, path, tuning=self.tuning))
            self._kept = []
