"""Triples of a query as elements of the stream that it derives: each with the instant of its answer."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

from penstock.io.sinks import Batch
from penstock.stream.log import StreamLog

__all__ = ["SOURCE", "derive", "elements"]

SOURCE = "derived"


def derive(log: StreamLog, stream: str, batch: Batch) -> None:
    """Append a batch to the log, in place of what a batch of that number has left there."""
    log.append(stream, SOURCE, batch.number, elements(batch.rows))


def elements(rows: pa.Table) -> pa.Table:
    """The elements in the order of time. The answer at an instant is a graph, so each triple is there once."""
    table = rows.rename_columns(["time", "s", "p", "o"])
    distinct = table.group_by(["time", "s", "p", "o"], use_threads=False).aggregate([])
    ordered = distinct.take(pc.sort_indices(distinct, [(name, "ascending") for name in distinct.column_names]))
    times = ordered.column("time").cast(pa.int64())
    return pa.table([*(ordered.column(name) for name in ("s", "p", "o")), times], names=["s", "p", "o", "ts"])
