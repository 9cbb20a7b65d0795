"""Arrow tables of rows that a test writes by hand."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import pyarrow as pa


def table_of(rows: Iterable[Sequence[object]], *names: str) -> pa.Table:
    """A table of at least one row, whose columns have these names and the types that Arrow infers."""
    columns = zip(*rows, strict=True)
    return pa.table({name: list(column) for name, column in zip(names, columns, strict=True)})
