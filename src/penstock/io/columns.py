"""The columns of a stream's elements, in Arrow, in the log's Parquet and in Spark: only this module spells them out.

An element that lasts has an interval. Its `ts` is the end: from then on it can be seen, so that is what orders elements
and what windows, lateness and retention go by. `start` is where it begins, NULL for a point of time.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

__all__ = [
    "BACKWARDS", "ELEMENTS", "END", "LOGGED", "REPEATED", "ddl", "interval", "lasting", "logged", "slim", "table_of",
]  # fmt: skip

_TYPES: dict[str, pa.DataType] = {"s": pa.string(), "p": pa.string(), "o": pa.string(), "ts": pa.int64()}
_MORE: dict[str, pa.DataType] = {"g": pa.string(), "start": pa.int64()}
ELEMENTS = pa.schema(_TYPES)
"""The columns of every element: its encoded terms, and its time in microseconds since 1970."""
LOGGED = pa.schema(_TYPES | _MORE)
"""All that an element may have: the name of its graph too, NULL for none, and its start. A table or a file without one
of these columns has NULL there throughout."""
END = "te"
"""In Parquet that is not the log's: the end of what began at `ts`. Elsewhere `ts` is the end."""
REPEATED = ["s", "p", "o", "g"]  # texts come again and again, times hardly do
_SQL = {pa.string(): "STRING", pa.int64(): "BIGINT"}

BACKWARDS = "it ends before it starts"


def ddl(schema: pa.Schema) -> str:
    """The columns as Spark writes them."""
    return ", ".join(f"{field.name} {_SQL[field.type]}" for field in schema)


def table_of(rows: Sequence[tuple[Any, ...]]) -> pa.Table:
    """A table of rows that have a value for each column of the log."""
    columns = zip(*rows, strict=True) if rows else [()] * len(LOGGED)
    arrays = [pa.array(column, field.type) for column, field in zip(columns, LOGGED, strict=True)]
    return pa.Table.from_arrays(arrays, schema=LOGGED)


def logged(table: pa.Table) -> pa.Table:
    """The table with all columns of the log, in its order."""
    for field in LOGGED:
        if field.name not in table.column_names:
            table = table.append_column(field, pa.nulls(table.num_rows, field.type))
    return table.select(LOGGED.names)


def slim(table: pa.Table) -> pa.Table:
    """The table without the optional columns that are all NULL."""
    return table.drop_columns([name for name in _MORE if table.column(name).null_count == table.num_rows])


def interval(start: int, end: int) -> tuple[int, int | None]:
    """`ts` and `start` of an element with a duration; a `ValueError` if it ends before it starts."""
    if end < start:
        raise ValueError(BACKWARDS)
    return end, None if start == end else start


def lasting(table: pa.Table) -> pa.Table:
    """The table with its starts as `interval` has them: an element that starts when it ends is a point."""
    start, end = table.column("start"), table.column("ts")
    place = table.column_names.index("start")
    return table.set_column(place, LOGGED.field("start"), pc.if_else(pc.equal(start, end), None, start))
