"""The late filter: splits the arrivals of a stream by its watermark and the clock, and writes those that are in time.

An element is late iff ts < (the greatest ts of all that arrived before it) − lateness, or the stream was advanced
beyond its time. The rule looks at single elements, so it does not matter how arrivals are cut into batches. Of a source
with partitions it looks at each by itself, so it does not matter either how they take turns. An element that is
further ahead of the clock than `max_ahead` is set aside before, and so moves no watermark.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from penstock.io.columns import ELEMENTS
from penstock.stream.base.watermark import Position, late_before, minimum, watermark
from penstock.stream.ingest.dead_letters import LIMIT, Malformed
from penstock.stream.ingest.load_task import LoadedFile
from penstock.stream.log.segment import SegmentFile, write_part
from penstock.tuning import DEFAULT, Tuning

__all__ = ["Advance", "BatchWriter", "Item", "LateFilter", "Reading", "split_ahead", "split_late", "with_newest"]


@dataclass(frozen=True, slots=True)
class Reading:
    """Elements in the order of arrival, and lines that hold none. All are of one partition (None: of none)."""

    elements: pa.Table
    malformed: Sequence[Malformed] = ()
    partition: str | None = None


@dataclass(frozen=True, slots=True)
class Advance:
    """A call of `advance`: the stream is complete through this time."""

    through: int


_NO_LIMIT = (1 << 63) - 1
Item: TypeAlias = Reading | Advance


@dataclass
class LateFilter:
    """Splits arrivals by the watermark: elements in time, late elements, those of a time to come, and malformed
    lines.

    `newest` has the newest time of each partition. Where there are partitions, elements of none are late if the
    watermark of the stream is beyond their time, which they do not move.
    """

    position: Position
    in_time: list[pa.Table] = field(default_factory=list)
    late: pa.Table = field(default_factory=ELEMENTS.empty_table)
    ahead: pa.Table = field(default_factory=ELEMENTS.empty_table)
    malformed: list[Malformed] = field(default_factory=list)
    omitted: int = 0  # malformed lines beyond those that are listed
    newest: dict[str, int | None] = field(default_factory=dict)

    def add(self, items: Iterable[Item]) -> None:
        """Split arrivals, in their order."""
        for item in items:
            self._add(item)

    @property
    def elements(self) -> pa.Table:
        """The elements in time."""
        return pa.concat_tables([ELEMENTS.empty_table(), *self.in_time], promote_options="default")

    @property
    def refused(self) -> int:
        """The number of lines without an element."""
        return len(self.malformed) + self.omitted

    def _add(self, item: Item) -> None:
        if isinstance(item, Advance):
            advanced_to = self.position.advanced_to
            through = item.through if advanced_to is None else max(advanced_to, item.through)
            self.position = replace(self.position, advanced_to=through)
        else:
            self.malformed.extend(item.malformed)
            self.in_time.append(self._split(item.elements, item.partition))

    def _split(self, elements: pa.Table, partition: str | None = None) -> pa.Table:
        position = self._position(partition)
        elements, ahead = split_ahead(elements, position)
        if ahead.num_rows:
            self.ahead = pa.concat_tables([self.ahead, ahead], promote_options="default")
        on_time, late = split_late(elements, position)
        if late.num_rows:
            self.late = pa.concat_tables([self.late, late], promote_options="default")
        if on_time.num_rows:
            self._move(position, int(on_time.column("ts").to_numpy().max()), partition)
        return on_time

    def _position(self, partition: str | None) -> Position:
        """The event time by which elements of that partition are judged."""
        if partition is not None:
            return replace(self.position, newest=self.newest.get(partition))
        if not self.newest:
            return self.position
        behind = minimum([watermark(replace(self.position, newest=time), 0) for time in self.newest.values()])
        ends = [end for end in (self.position.advanced_to, behind) if end is not None]
        return replace(self.position, newest=None, advanced_to=max(ends, default=None), lateness=_NO_LIMIT // 2)

    def _move(self, position: Position, last: int, partition: str | None) -> None:
        if partition is not None:
            self.newest[partition] = with_newest(position, last).newest
        elif not self.newest:
            self.position = with_newest(position, last)


@dataclass
class BatchWriter(LateFilter):
    """Writes the elements of a batch that are in time to Parquet files in a folder."""

    folder: Path = field(kw_only=True)
    parts: list[SegmentFile] = field(default_factory=list)
    tuning: Tuning = DEFAULT

    def add(self, items: Iterable[Item]) -> None:
        """Split arrivals by the watermark, and write the elements that are in time."""
        for item in items:
            self._add(item)
            self._write(self.tuning.segment_part_rows)
        self._write(1)

    def add_file(self, part: LoadedFile) -> None:
        """Add a file that lies in the folder, or the elements of it that are in time."""
        self.malformed += [Malformed(bad.file or "", bad.line, bad.text, bad.reason) for bad in part.bad]
        self.omitted += part.malformed - len(part.bad)
        if not part.rows:
            return
        if _is_clean(part, self.position):
            self.position = with_newest(self.position, part.last)
            self.parts.append(part)
        elif (timely := self._split(pq.read_table(part.path, partitioning=None))).num_rows:
            self.parts.append(write_part(timely, Path(part.path), tuning=self.tuning))

    def _write(self, least: int) -> None:
        """Write the collected elements to a file if they are at least so many: small readings share a file."""
        if sum(table.num_rows for table in self.in_time) >= least:
            path = self.folder / f"part-{len(self.parts):05}.parquet"
            self.parts.append(write_part(self.elements, path, tuning=self.tuning))
            self.in_time = []


def split_late(table: pa.Table, position: Position) -> tuple[pa.Table, pa.Table]:
    """The elements that are in time and the late ones, if they arrive in this order at this position of the stream.

    Late ones have a column more: the time before which the stream was complete when they came.
    """
    ts = table.column("ts").to_numpy()
    limits = _limits(ts, position)
    late = ts < limits
    if not late.any():
        return table, table.slice(0, 0)
    mask = pa.array(late)
    return table.filter(pc.invert(mask)), table.filter(mask).append_column(LIMIT, pa.array(limits[late]))


def split_ahead(table: pa.Table, position: Position) -> tuple[pa.Table, pa.Table]:
    """The elements that are not too far ahead of the clock, and the others."""
    ahead = table.column("ts").to_numpy() > _latest(position)
    if not ahead.any():
        return table, table.slice(0, 0)
    mask = pa.array(ahead)
    return table.filter(pc.invert(mask)), table.filter(mask)


def _latest(position: Position) -> int:
    """The greatest time that an element may have now."""
    return _NO_LIMIT if position.max_ahead is None else position.now + position.max_ahead


def with_newest(position: Position, last: int) -> Position:
    """The position of the stream after elements have arrived of which the greatest time is `last`."""
    return replace(position, newest=last if position.newest is None else max(position.newest, last))


def _is_clean(part: LoadedFile, position: Position) -> bool:
    """Whether no element of a loaded file can be late or ahead, by its statistics. If false, they have to be read."""
    limit = late_before(position)
    in_order = part.disorder <= position.lateness and (limit is None or part.first >= limit)
    return in_order and part.last <= _latest(position)


def _limits(ts: npt.NDArray[np.int64], position: Position) -> npt.NDArray[np.int64]:
    """The watermark at the arrival of each element, which is late if its own timestamp is earlier."""
    if not len(ts):
        return ts
    start = ts[0] if position.newest is None else position.newest
    earlier = np.maximum.accumulate(np.concatenate([[start], ts[:-1]]))
    limits: npt.NDArray[np.int64] = earlier - position.lateness
    return limits if position.advanced_to is None else np.maximum(limits, position.advanced_to + 1)
