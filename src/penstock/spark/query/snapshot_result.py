"""What an evaluation gives: rows at instants, and the instants that have an answer without any row."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from types import MappingProxyType
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame

from penstock.compile.relation import MEMBER
from penstock.model.span import Span

ROW = ".row"


@dataclass(frozen=True, slots=True)
class SnapshotResult:
    """`frame` has the rows of the answers, each with its instant in the first column. Of a family of queries, the
    second is `.km`: the number of the one whose answer it is.

    `possible` are all instants there could be, None if only Spark knows; `occupied` gives, for a span, those at which
    some window holds something. It is asked only where an instant has no row, which for most queries is seldom.
    `members` are the numbers of a family's queries: at such an instant each has an answer.
    """

    frame: DataFrame
    possible: list[int] | None
    non_empty: Callable[[Span], DataFrame]
    members: Sequence[int] | None = None

    def collect(self) -> pa.Table:
        """Run the Spark job: the rows, with a further column `.row` that is true; and for every instant whose answer is
        empty one more, in which it is false."""
        rows = self.frame.toArrow()
        present = _integers(pc.unique(rows.column(0)))
        empty = self._empty(present)
        if self.members is None:
            return marked(rows, {rows.column_names[0]: empty})
        return marked(rows, _silent(rows, sorted({*present, *empty}), self.members))

    def _empty(self, present: set[int]) -> list[int]:
        if self.possible is None:
            return sorted({row[0] for row in self.non_empty(Span(0, 0)).collect()} - present)
        missing = [t for t in self.possible if t not in present]
        if not missing:
            return []
        found = _integers(self.non_empty(Span(missing[0] - 1, missing[-1])).toArrow().column(0))
        return sorted(found & set(missing))

    def write_open(self, path: str) -> int:
        """Whole answers leave nothing open."""
        raise NotImplementedError


def _integers(column: Any) -> set[int]:
    return set(column.to_pylist())


def _silent(rows: pa.Table, instants: Sequence[int], members: Sequence[int]) -> dict[str, list[int]]:
    """The instants and members without a row."""
    time = rows.column_names[0]
    some = rows.select([time, MEMBER]).rename_columns(["t", "m"]).group_by(["t", "m"]).aggregate([])
    present = set(zip(some.column("t").to_pylist(), some.column("m").to_pylist(), strict=True))
    silent = [pair for pair in product(instants, members) if pair not in present]
    return {time: [instant for instant, _ in silent], MEMBER: [member for _, member in silent]}


def marked(rows: pa.Table, empty: Mapping[str, list[int]] = MappingProxyType({})) -> pa.Table:
    """The rows, and the answers that have none, which are in these columns, as one table."""
    schema = rows.schema.append(pa.field(ROW, pa.bool_()))
    count = max(map(len, empty.values()), default=0)
    cells = [pa.array(empty[f.name], f.type) if f.name in empty else pa.nulls(count, f.type) for f in rows.schema]
    marks = pa.table([*cells, pa.array([False] * count, pa.bool_())], schema=schema)
    real = rows.append_column(schema.field(ROW), pa.array([True] * rows.num_rows, pa.bool_()))
    return pa.concat_tables([real.cast(schema), marks])
