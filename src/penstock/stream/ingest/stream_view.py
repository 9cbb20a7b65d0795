"""What rounds see of the streams: the log, Parquet that is read where it lies, and through when they are complete."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from penstock.io.sinks import Batch
from penstock.stream.ingest.derived_streams import SOURCE, derive
from penstock.stream.ingest.stream_declaration import Declared
from penstock.stream.log.stream_log import Segment, StreamLog

if TYPE_CHECKING:
    from penstock.stream.ingest.ingest import Ingest

__all__ = ["StreamView"]


class StreamView:
    """`Inputs` for rounds. Without ingest, nothing is known about time, as in a bounded run."""

    def __init__(self, log: StreamLog, streams: Mapping[str, Declared]) -> None:
        self._log = log
        self._streams = streams
        self.in_place: dict[str, list[Segment]] = {}
        self.ingest: Ingest | None = None

    @property
    def streams(self) -> Iterable[str]:
        return tuple(self._streams)

    def segments(self, stream: str) -> Sequence[Segment]:
        return (*self.in_place.get(stream, ()), *self._log.segments(stream))

    def dropped(self, stream: str) -> int:
        return self._log.dropped(stream)

    def complete(self, streams: Iterable[str], others: Iterable[int | None] = ()) -> int | None:
        return None if self.ingest is None else self.ingest.complete(list(streams), others)

    def ripe(self, stream: str) -> int | None:
        """By the elements alone, and by what was said; a stream that nobody reads need not follow the clock."""
        newest, said = self._log.newest(stream), self._log.complete(stream)
        ends = [said, None if newest is None else newest - self._streams[stream].allowed_lateness - 1]
        return max((end for end in ends if end is not None), default=None)

    def tidy(self, stream: str, horizon: int, keep_last: int) -> None:
        self._log.discard(stream, horizon, keep_last)
        self._log.compact(stream)

    def derive(self, stream: str, batch: Batch) -> None:
        derive(self._log, stream, batch)

    def undo(self, stream: str, number: int) -> None:
        """`begin` takes away what a batch of that number has left; without a `commit` nothing else comes of it."""
        self._log.begin(stream, SOURCE, number)
