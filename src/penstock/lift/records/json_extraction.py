"""Values of JSON texts at paths, a whole column at a time: DuckDB's functions on an Arrow column of texts."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any, cast

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from penstock.lift.columns import Ints, Mask
from penstock.lift.records.jsonpath import JsonPath

__all__ = ["can_extract", "distinct_keys", "extract", "is_valid", "items", "keys"]

_CONFIG: dict[str, str | bool | int | float | list[str]] = {
    "threads": 1,
    "enable_external_access": False,
    "autoload_known_extensions": False,
    "autoinstall_known_extensions": False,
    "allow_community_extensions": False,
}


class _Connections(threading.local):
    """A database in memory for each thread: it reads nothing but the columns that it is given."""

    def __init__(self) -> None:
        self.connection = duckdb.connect(":memory:", config=_CONFIG)


_connections: _Connections | None = None


def _query(texts: pa.StringArray, sql: str) -> pa.Table:
    """The answer of a query in which `texts` is a table with the column `m`."""
    global _connections
    if _connections is None:
        _connections = _Connections()
    connection = _connections.connection
    connection.register("texts", pa.table({"m": texts}))
    try:
        return cast(pa.Table, connection.sql(sql).to_arrow_table())
    finally:
        connection.unregister("texts")


def _column(table: pa.Table, place: int = 0) -> pa.Array[Any]:
    column = table.column(place).combine_chunks()
    return column if isinstance(column, pa.Array) else pa.concat_arrays(column.chunks)


def is_valid(texts: pa.StringArray) -> Mask:
    """Whether DuckDB can read each text."""
    valid = _column(_query(texts, "SELECT json_valid(m) FROM texts"))
    return cast(Mask, valid.to_numpy(zero_copy_only=False).astype(np.bool_))


def distinct_keys(texts: pa.StringArray) -> list[list[str]]:
    """The different lists of names that the objects have."""
    return cast(list[list[str]], _column(_query(texts, "SELECT DISTINCT json_keys(m) FROM texts")).to_pylist())


def keys(texts: pa.StringArray) -> list[list[str]]:
    """The list of names of each object."""
    return cast(list[list[str]], _column(_query(texts, "SELECT json_keys(m) FROM texts")).to_pylist())


def items(texts: pa.StringArray) -> tuple[Ints, pa.StringArray]:
    """The items of arrays, each with the row of its array."""
    return _spread(_column(_query(texts, "SELECT json_extract(m, '$[*]') FROM texts")))


def extract(texts: pa.StringArray, paths: Sequence[JsonPath]) -> list[tuple[Ints, pa.StringArray]]:
    """The values that each path finds, as JSON without gaps, each with the row of its text. Null is a value."""
    single = [path for path in paths if not path.many]
    values_at: dict[JsonPath, tuple[Ints, pa.StringArray]] = {}
    if single:
        values = ", ".join(f"v[{place}] AS c{place}" for place in range(1, len(single) + 1))
        listed = ", ".join(_text(path) for path in single)
        table = _query(texts, f"SELECT {values} FROM (SELECT json_extract(m, [{listed}]) AS v FROM texts)")
        values_at |= {path: _present(_column(table, place)) for place, path in enumerate(single)}
    for path in paths:
        if path.many:
            values_at[path] = _spread(_column(_query(texts, f"SELECT json_extract(m, {_text(path)}) FROM texts")))
    return [values_at[path] for path in paths]


def can_extract(path: JsonPath) -> bool:
    """Whether DuckDB takes the path for what it is: it has no empty names, and sees a wildcard in the name *."""
    return not {"", "*"} & {step for step in path.steps if isinstance(step, str)}


def _present(values: pa.Array[Any]) -> tuple[Ints, pa.StringArray]:
    """The values that are there, with their rows."""
    texts = cast(pa.StringArray, values)
    if not texts.null_count:
        return np.arange(len(texts)), texts
    rows = np.flatnonzero(texts.is_valid().to_numpy(zero_copy_only=False))
    return rows, texts.take(rows)


def _spread(lists: pa.Array[Any]) -> tuple[Ints, pa.StringArray]:
    """The items of lists, with the rows of their lists."""
    arrays = cast("pa.ListArray[Any]", lists)
    rows = cast(Ints, pc.list_parent_indices(arrays).to_numpy(zero_copy_only=False).astype(np.int64))
    return rows, cast(pa.StringArray, pc.list_flatten(arrays))


def _text(path: JsonPath) -> str:
    """The path as a string of SQL, in DuckDB's syntax."""
    written = "$" + "".join(map(_step, path.steps))
    return "'" + written.replace("'", "''") + "'"


def _step(step: str | int | None) -> str:
    if isinstance(step, str):
        escaped = step.replace("\\", "\\\\").replace('"', '\\"')
        return f'."{escaped}"'
    return "[*]" if step is None else f"[{step}]"
