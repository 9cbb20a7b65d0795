"""Triples of a query as elements of the stream that it derives: each with the instant of its answer or its interval."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

from penstock.io.columns import lasting
from penstock.io.sinks import Batch
from penstock.stream.log.stream_log import StreamLog

__all__ = ["SOURCE", "derive", "elements"]

SOURCE = "derived"
_TRIPLE = ["s", "p", "o"]


def derive(log: StreamLog, stream: str, batch: Batch) -> None:
    """Append a batch to the log, in place of what a batch of that number has left there."""
    log.append(stream, SOURCE, batch.number, elements(batch.rows))


def elements(rows: pa.Table) -> pa.Table:
    """The elements in the order of time. The answer at an instant is a graph, so each triple is there once.

    Before the three columns of the triple there is the instant, or there are a start and an end.
    """
    when = ["start", "ts"][-(rows.num_columns - len(_TRIPLE)) :]
    table = rows.rename_columns([*when, *_TRIPLE])
    distinct = table.group_by(["ts", *_TRIPLE, *when[:-1]], use_threads=False).aggregate([])
    ordered = distinct.take(pc.sort_indices(distinct, [(name, "ascending") for name in distinct.column_names]))
    times = [ordered.column(name).cast(pa.int64()) for name in when]
    found = pa.table([*times, *(ordered.column(name) for name in _TRIPLE)], names=[*when, *_TRIPLE])
    return lasting(found) if "start" in when else found
