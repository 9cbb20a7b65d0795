"""The streams as rounds see them: segments of the log, and Parquet that is read where it lies."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from penstock.io.sinks import Batch
from penstock.stream.ingest.derived_streams import SOURCE, derive
from penstock.stream.ingest.stream_declaration import Declared
from penstock.stream.log.stream_log import Segment, StreamLog

__all__ = ["StreamView"]


class StreamView:
    """`Inputs` for rounds, from the log."""

    def __init__(self, log: StreamLog, streams: Mapping[str, Declared]) -> None:
        self._log = log
        self._streams = streams
        self._in_place: dict[str, list[Segment]] = {}

    @property
    def streams(self) -> Iterable[str]:
        return tuple(self._streams)

    def segments(self, stream: str) -> Sequence[Segment]:
        """The segments that are read where they lie, then those of the log."""
        return (*self.in_place(stream), *self._log.segments(stream))

    def in_place(self, stream: str) -> Sequence[Segment]:
        """The segments of Parquet that is read where it lies."""
        return self._in_place.get(stream, ())

    def read_in_place(self, stream: str, segments: list[Segment]) -> None:
        """Read these segments where they lie, from now on, and no others."""
        self._in_place[stream] = segments

    def read_log_alone(self, *streams: str) -> None:
        """Read these streams from the log alone, from now on."""
        for stream in streams:
            self._in_place.pop(stream, None)

    def dropped(self, stream: str) -> int:
        return self._log.dropped(stream)

    def tidy(self, stream: str, horizon: int, keep_last: int) -> None:
        self._log.discard(stream, horizon, keep_last)
        self._log.compact(stream)

    def derive(self, stream: str, batch: Batch) -> None:
        derive(self._log, stream, batch)

    def undo(self, stream: str, number: int) -> None:
        """`begin` takes away what a batch of that number has left; without a `commit` nothing else comes of it."""
        self._log.begin(stream, SOURCE, number)
