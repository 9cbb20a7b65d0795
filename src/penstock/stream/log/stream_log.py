"""The stream log: Parquet segments (s, p, o, ts, g) with a manifest each. It is all the state that streams have.

    ROOT/<stream>/<source>-<batch>.parquet/part-….parquet     the rows, in the order of their arrival
    ROOT/<stream>/<source>-<batch>.json                       the manifest; a segment without one does not exist

Batches of a source have growing numbers. A batch that runs again writes the same names again, so it replaces itself.
"""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from threading import RLock

import pyarrow as pa

from penstock.stream.base import durable_files
from penstock.stream.base.failpoints import reach
from penstock.stream.log.maintenance import droppable, merge, worth_merging
from penstock.stream.log.partition import StreamPartition
from penstock.stream.log.segment import Segment, SegmentFile, segment_of, write_part

__all__ = ["Counts", "Segment", "StreamLog"]


@dataclass(frozen=True, slots=True)
class Counts:
    """All that ever came in: elements in the log, late ones kept aside, and lines that hold no element."""

    elements: int
    late: int
    malformed: int


class StreamLog:
    """The segments of all streams. All methods may be called from any thread.

    `discard` and `compact` remove files: call them when nobody reads segments that were asked for before.
    """

    def __init__(self, root: Path | str) -> None:
        self.root = Path(root)
        self._shelves: dict[str, StreamPartition] = {}
        self._listeners: list[Callable[[str], None]] = []
        self._lock = RLock()

    def listen(self, listener: Callable[[str], None]) -> None:
        """Call this with the stream's name after every commit, and when the stream's time was moved."""
        self._listeners.append(listener)

    def segments(self, stream: str) -> tuple[Segment, ...]:
        """What is in the log, in the order of arrival."""
        with self._lock:
            return tuple(segment for segment in self._shelf(stream).segments.values() if segment.rows)

    def newest(self, stream: str) -> int | None:
        """The greatest time that any element has had, whether it is still there or not."""
        with self._lock:
            return self._shelf(stream).newest

    def dropped(self, stream: str) -> int:
        """How many elements stood before those that are still there."""
        with self._lock:
            return self._shelf(stream).dropped.elements

    def counts(self, stream: str) -> Counts:
        with self._lock:
            shelf = self._shelf(stream)
            total = Counter(elements=shelf.dropped.elements, late=shelf.dropped.late, malformed=shelf.dropped.malformed)
            for segment in shelf.segments.values():
                total.update(elements=segment.rows, late=segment.late, malformed=segment.malformed)
            return Counts(total["elements"], total["late"], total["malformed"])

    def advanced_to(self, stream: str) -> int | None:
        """The time through which `advance` has called the stream complete; None: it was never called."""
        with self._lock:
            return self._shelf(stream).advanced_to

    def advance(self, stream: str, through: int) -> None:
        """Call the stream complete through this time; it never goes back."""
        with self._lock:
            moved = self._shelf(stream).advance(through)
        if moved:
            self._tell(stream)

    def holds(self, stream: str, source: str, batch: int) -> bool:
        """Whether this batch of the source has been committed, be it still there or not."""
        with self._lock:
            return batch <= self._shelf(stream).batches.get(source, batch - 1)

    def begin(self, stream: str, source: str, batch: int) -> Path:
        """The folder for the parts of a batch, empty. What an earlier run of the batch has left goes."""
        with self._lock:
            shelf, name = self._shelf(stream), _name(source, batch)
            shelf.take(name)
            shelf.data(name).mkdir()
            return shelf.data(name)

    def commit(
        self, stream: str, source: str, batch: int, parts: Sequence[SegmentFile], *, late: int = 0, malformed: int = 0
    ) -> None:
        """Make the parts that lie in `begin`'s folder, in the order of arrival, a segment.

        If the log has let go of this very batch already, nothing of it comes back.
        """
        name = _name(source, batch)
        with self._lock:
            shelf = self._shelf(stream)
            if batch <= shelf.batches.get(source, batch - 1):
                shelf.take(name)
                return
            reach("segment")
            files = [Path(part.path) for part in parts]
            for path in [*files, *{file.parent for file in files}, shelf.folder]:
                durable_files.sync(path)
            shelf.add(name, segment_of(parts, shelf.next_number, {source: batch}, late, malformed))
        self._tell(stream)

    def append(
        self, stream: str, source: str, batch: int, table: pa.Table, *, late: int = 0, malformed: int = 0
    ) -> None:
        """Write a small table as a segment of one part."""
        folder = self.begin(stream, source, batch)
        parts = [write_part(table, folder / "part-00000.parquet")] if table.num_rows else []
        self.commit(stream, source, batch, parts, late=late, malformed=malformed)

    def forget(self, stream: str) -> None:
        """Let go of a whole stream, as if it had never been: another one of that name begins anew."""
        with self._lock:
            shutil.rmtree(self._shelf(stream).folder)
            del self._shelves[stream]

    def discard(self, stream: str, horizon: int, keep_last: int = 0) -> int:
        """Drop whole segments that nobody will see again; how many elements that was.

        Nobody will see elements with ts ≤ horizon, except the newest `keep_last` of them.
        """
        with self._lock:
            shelf = self._shelf(stream)
            return shelf.drop(droppable(shelf.segments, horizon, keep_last))

    def compact(self, stream: str) -> int:
        """Merge small segments that stand side by side, since every file costs its reader; how many that was."""
        with self._lock:
            shelf = self._shelf(stream)
            names = worth_merging(shelf.segments)
            if names:
                merge(shelf, names)
            return len(names)

    def _tell(self, stream: str) -> None:
        for listener in self._listeners:
            listener(stream)

    def _shelf(self, stream: str) -> StreamPartition:
        if stream not in self._shelves:
            self._shelves[stream] = StreamPartition(self.root / durable_files.folder_name(stream))
        return self._shelves[stream]


def _name(source: str, batch: int) -> str:
    return f"{source}-{batch}"
