"""The streams as rounds read them: segments of the log, and Parquet that is read in place."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import pyarrow as pa
import pyarrow.compute as pc

from penstock.io.columns import lasting
from penstock.io.sinks import Batch
from penstock.stream.ingest.stream_declaration import Declared
from penstock.stream.log.stream_log import Segment, StreamLog

__all__ = ["StreamView", "derived_elements"]

_SOURCE = "derived"
_TRIPLE = ["s", "p", "o"]


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
        """The segments that are read in place, then those of the log."""
        return (*self.in_place(stream), *self._log.segments(stream))

    def verify(self, stream: str, segments: Iterable[Segment]) -> None:
        """Raise a StoreError if one of these segments is damaged; each is looked at once."""
        self._log.verify(stream, segments)

    def in_place(self, stream: str) -> Sequence[Segment]:
        """The segments of Parquet that is read in place."""
        return self._in_place.get(stream, ())

    def read_in_place(self, stream: str, segments: list[Segment]) -> None:
        """Read these segments in place from now on, instead of earlier ones."""
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
        """Append a batch of a query's triples to its derived stream, in place of an earlier batch of that number."""
        self._log.append(stream, _SOURCE, batch.number, derived_elements(batch.rows))

    def undo(self, stream: str, number: int) -> None:
        """Remove the elements of an interrupted batch: `begin` removes its files, and no `commit` follows."""
        self._log.begin(stream, _SOURCE, number)


def derived_elements(rows: pa.Table) -> pa.Table:
    """The triples of answers as elements, in the order of time.

    The answer at an instant is a graph, so each triple is there once.
    Before the three columns of the triple there is the instant, or there are a start and an end.
    """
    when = ["start", "ts"][-(rows.num_columns - len(_TRIPLE)) :]
    table = rows.rename_columns([*when, *_TRIPLE])
    distinct = table.group_by(["ts", *_TRIPLE, *when[:-1]], use_threads=False).aggregate([])
    ordered = distinct.take(pc.sort_indices(distinct, [(name, "ascending") for name in distinct.column_names]))
    times = [ordered.column(name).cast(pa.int64()) for name in when]
    elements = pa.table([*times, *(ordered.column(name) for name in _TRIPLE)], names=[*when, *_TRIPLE])
    return lasting(elements) if "start" in when else elements
