"""The result of RSTREAM, from Spark or from slices: rows at instants, and the instants whose answer is empty."""

from __future__ import annotations

from collections.abc import Callable, Reversible
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame

from penstock.compile import sql
from penstock.compile.kernels.slice_kernel import ROW, marked
from penstock.model.span import Span
from penstock.spark.query.answer_rows import AnswerRows

__all__ = ["ROW", "SlicedSnapshot", "SnapshotResult", "marked"]


@dataclass(frozen=True, slots=True)
class SnapshotResult:
    """The rows of the answers, each with its instant in the first column, of a family with `.km` in the second.

    `possible` has all instants of the span, None if only Spark knows them: they are never listed, for there may be very
    many between two elements. `non_empty` returns, for a span, the instants at which some window holds an element. It
    is called only if an instant has no row.
    """

    frame: DataFrame
    possible: Reversible[int] | None
    non_empty: Callable[[Span], DataFrame]

    def collect(self) -> pa.Table:
        """Run the Spark job: the rows, with a further column `.row` that is true.

        An instant without a row is one more row, in which it is false.
        """
        rows = self.frame.toArrow()
        return marked(rows, {rows.column_names[0]: self._empty(_integers(pc.unique(rows.column(0))))})

    def _empty(self, present: set[int]) -> list[int]:
        if self.possible is None:
            return sorted({row[0] for row in self.non_empty(Span(0, 0)).collect()} - present)
        ends = (next((t for t in some if t not in present), None) for some in (self.possible, reversed(self.possible)))
        first, last = ends
        if first is None or last is None:
            return []
        return sorted(_integers(self.non_empty(Span(first - 1, last)).toArrow().column(0)) - present)

    def write_open(self, path: str) -> int:
        """Fail: RSTREAM has no operator state."""
        raise NotImplementedError


class SlicedSnapshot:
    """The rows of the answers of RSTREAM, deltas or events, as the kernel returns them from slices."""

    def __init__(self, rows: AnswerRows) -> None:
        self._rows = rows

    @property
    def frame(self) -> DataFrame:
        """The rows of the answers in Spark."""
        row = sql.write_expression(sql.name(ROW))
        return self._rows.frame.where(row).drop(ROW)

    def collect(self) -> pa.Table:
        """Compute the rows, with a further column `.row` that is true. An instant without a row is one more row, in
        which it is false."""
        return self._rows.collect()

    def write_open(self, path: str) -> int:
        """Fail: RSTREAM has no operator state."""
        raise NotImplementedError


def _integers(column: Any) -> set[int]:
    return set(column.to_pylist())
