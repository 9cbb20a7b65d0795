"""The stream log: Parquet segments (s, p, o, ts, g) with a manifest each. It is all the state that streams have.

    ROOT/<stream>/<source>-<batch>.parquet/part-….parquet     the rows, in the order of their arrival
    ROOT/<stream>/<source>-<batch>.json                       the manifest; a segment without one does not exist
    ROOT/<stream>/journal                                     pushes that are in no segment yet

Batches of a source have growing numbers. A batch that runs again writes the same names again, so it replaces itself.
"""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from threading import RLock

import pyarrow as pa

from penstock.errors import StoreError
from penstock.stream.base import durable_files
from penstock.stream.log.journal import Record, Tail
from penstock.stream.log.maintenance import droppable, merge, worth_merging
from penstock.stream.log.partition import PUSH, StreamPartition
from penstock.stream.log.segment import Segment, SegmentFile, write_part
from penstock.stream.log.source_positions import Reached
from penstock.tuning import DEFAULT, Tuning

__all__ = ["Counts", "Segment", "StreamLog"]


@dataclass(frozen=True, slots=True)
class Counts:
    """The totals of a stream: elements in the log, late elements, malformed lines, and elements that were too far
    ahead of the clock."""

    elements: int
    late: int
    malformed: int
    ahead: int = 0


class StreamLog:
    """The segments of all streams. All methods may be called from any thread.

    `discard` and `compact` remove files: call them only while no evaluation reads segments.
    """

    def __init__(self, root: Path | str, tuning: Tuning = DEFAULT) -> None:
        self.root, self._tuning = Path(root), tuning
        self._partitions: dict[str, StreamPartition] = {}
        self._listeners: list[Callable[[str], None]] = []
        self._lock = RLock()

    def listen(self, listener: Callable[[str], None]) -> None:
        """Call the listener with the stream's name after every commit, and after every advance of its event time."""
        self._listeners.append(listener)

    def segments(self, stream: str) -> tuple[Segment, ...]:
        """The segments of a stream that have rows, in the order of arrival. The last ones are staged: the journal has
        their elements."""
        with self._lock:
            partition = self._partition(stream)
            partition.stage()
            return (*(segment for segment in partition.segments.values() if segment.rows), *partition.staged.segments)

    def fold(self, stream: str) -> None:
        """Commit the pushes of the journal as a segment."""
        with self._lock:
            self._partition(stream).fold()

    def verify(self, stream: str, segments: Iterable[Segment]) -> None:
        """Raise a StoreError if one of these segments is damaged. Each segment that an earlier process has written is
        looked at once; pushes go on meanwhile."""
        with self._lock:
            partition = self._partition(stream)
        if partition.unverified:
            partition.verify(segments)

    def newest(self, stream: str) -> int | None:
        """The greatest event time of all elements, including those of dropped segments."""
        with self._lock:
            return self._partition(stream).newest

    def dropped(self, stream: str) -> int:
        """The number of elements in dropped segments."""
        with self._lock:
            return self._partition(stream).dropped.elements

    def counts(self, stream: str) -> Counts:
        with self._lock:
            partition = self._partition(stream)
            dropped = partition.dropped
            total = Counter(
                elements=dropped.elements, late=dropped.late, malformed=dropped.malformed, ahead=dropped.ahead
            )
            parts: list[Segment | Tail] = [*partition.segments.values(), partition.tail]
            for part in parts:
                total.update(elements=part.rows, late=part.late, malformed=part.malformed, ahead=part.ahead)
            return Counts(total["elements"], total["late"], total["malformed"], total["ahead"])

    def reached(self, stream: str, source: str) -> Mapping[str, Reached]:
        """How far the partitions of a stream's source have been read; empty: nothing of that source was."""
        with self._lock:
            return self._partition(stream).reached(source)

    def advanced_to(self, stream: str) -> int | None:
        """The time through which `advance` has called the stream complete; None: it was never called."""
        with self._lock:
            return self._partition(stream).advanced_to

    def advance(self, stream: str, through: int) -> None:
        """Call the stream complete through this time; it never goes back."""
        with self._lock:
            moved = self._partition(stream).advance(through)
        if moved:
            self._notify(stream)

    def holds(self, stream: str, source: str, batch: int) -> bool:
        """Whether this batch of the source has been committed, even if its segment was dropped since."""
        with self._lock:
            return batch <= self._partition(stream).batches.get(source, batch - 1)

    def next_batch(self, stream: str, source: str = PUSH) -> int:
        """The number of the source's next batch."""
        with self._lock:
            return self._partition(stream).batches.get(source, -1) + 1

    def push(self, stream: str, record: Record) -> None:
        """Append a record to the stream's journal; its elements are durable and visible when this returns."""
        with self._lock:
            self._partition(stream).append(record)
        self._notify(stream)

    def begin(self, stream: str, source: str, batch: int) -> Path:
        """An empty folder for the files of a batch. Files of an earlier run of the batch are removed."""
        with self._lock:
            partition, name = self._partition(stream), _name(source, batch)
            partition.remove(name)
            durable_files.make_folder(partition.data(name), durable=False)
            return partition.data(name)

    def commit(
        self,
        stream: str,
        source: str,
        batch: int,
        parts: Sequence[SegmentFile],
        *,
        late: int = 0,
        malformed: int = 0,
        ahead: int = 0,
    ) -> None:
        """Commit the files in `begin`'s folder, in the order of arrival, as a segment after all that was pushed.

        If the segment of this batch was dropped already, its files are removed.
        """
        name = _name(source, batch)
        with self._lock:
            partition = self._partition(stream)
            if batch <= partition.batches.get(source, batch - 1):
                partition.remove(name)
                return
            partition.fold()
            partition.commit(name, parts, {source: batch}, late, malformed, ahead)
        self._notify(stream)

    def append(
        self, stream: str, source: str, batch: int, table: pa.Table, *, late: int = 0, malformed: int = 0
    ) -> None:
        """Write a small table as a segment of one part."""
        folder = self.begin(stream, source, batch)
        path = folder / "part-00000.parquet"
        parts = [write_part(table, path, tuning=self._tuning)] if table.num_rows else []
        self.commit(stream, source, batch, parts, late=late, malformed=malformed)

    def forget(self, stream: str) -> None:
        """Remove the whole stream: another stream of that name begins anew."""
        with self._lock:
            shutil.rmtree(self._partition(stream).folder)
            del self._partitions[stream]

    def discard(self, stream: str, horizon: int, keep_last: int = 0) -> int:
        """Drop whole segments that no query can read any more, and return the number of their elements.

        No query reads elements with ts ≤ horizon, except the newest `keep_last` of them.
        """
        with self._lock:
            partition = self._partition(stream)
            return partition.drop(droppable(partition.segments, horizon, keep_last, partition.tail.oldest))

    def compact(self, stream: str) -> int:
        """Merge small neighbouring segments, since every file costs its reader, and return how many were merged. The
        journal is folded first if many are staged.

        Pushes go on while the rows are copied.
        """
        with self._lock:
            partition = self._partition(stream)
            if partition.staged.is_long:
                partition.fold()
            partition.staged.remove_replaced()
            names = worth_merging(partition.segments, self._tuning)
            members = [partition.segments[name] for name in names]
        if not members:
            return 0
        try:
            partition.verify(members)  # lest damage be copied, with a checksum that is right
            name, merged = merge(partition, members)
        except (FileNotFoundError, StoreError):
            if self._partitions.get(stream) is partition:
                raise
            return 0  # forgotten meanwhile
        with self._lock:
            if self._partitions.get(stream) is partition:
                partition.add(name, merged, replaces=names)
        return len(names)

    def _notify(self, stream: str) -> None:
        for listener in self._listeners:
            listener(stream)

    def _partition(self, stream: str) -> StreamPartition:
        if stream not in self._partitions:
            self._partitions[stream] = StreamPartition(self.root / durable_files.folder_name(stream), self._tuning)
        return self._partitions[stream]


def _name(source: str, batch: int) -> str:
    return f"{source}-{batch}"
