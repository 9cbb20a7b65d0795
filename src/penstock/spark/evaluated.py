"""What an evaluation gives: rows at instants, and the instants that have an answer without any row."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame

from penstock.spark.timeline import Span

ROW = ".row"


@dataclass(frozen=True, slots=True)
class Evaluated:
    """`frame` has the rows of the answers, each with its instant in the first column.

    `possible` are all instants there could be, None if only Spark knows; `occupied` gives, for a span, those at which
    some window holds something. It is asked only where an instant has no row, which for most queries is seldom.
    """

    frame: DataFrame
    possible: list[int] | None
    occupied: Callable[[Span], DataFrame]

    def toArrow(self) -> pa.Table:
        """The rows, with a further column `.row` that is true; and for every instant whose answer is empty one more, in
        which it is false."""
        rows = self.frame.toArrow()
        return marked(rows, self._empty(_integers(pc.unique(rows.column(0)))))

    def _empty(self, present: set[int]) -> list[int]:
        if self.possible is None:
            return sorted({row[0] for row in self.occupied(Span(0, 0)).collect()} - present)
        missing = [t for t in self.possible if t not in present]
        if not missing:
            return []
        found = _integers(self.occupied(Span(missing[0] - 1, missing[-1])).toArrow().column(0))
        return sorted(found & set(missing))

    def write_open(self, path: str) -> int:
        """Whole answers leave nothing open."""
        raise NotImplementedError


def _integers(column: Any) -> set[int]:
    return set(column.to_pylist())


def marked(rows: pa.Table, empty: list[int]) -> pa.Table:
    """The rows and the empty instants as one table."""
    schema = rows.schema.append(pa.field(ROW, pa.bool_()))
    first, *others = rows.schema
    nulls = [pa.nulls(len(empty), field.type) for field in others]
    marks = pa.table([pa.array(empty, first.type), *nulls, pa.array([False] * len(empty), pa.bool_())], schema=schema)
    real = rows.append_column(schema.field(ROW), pa.array([True] * rows.num_rows, pa.bool_()))
    return pa.concat_tables([real.cast(schema), marks])
