"""The result of RSTREAM, deltas or events from slices: rows at instants, with the instants whose answer is empty."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
from pyspark.sql import DataFrame

from penstock.compile import sql
from penstock.spark.query.answer_rows import AnswerRows
from penstock.spark.query.snapshot_result import ROW, empty_answers, marked

__all__ = ["SlicedSnapshot"]


class SlicedSnapshot:
    """The rows of the answers, as the kernel returns them. `members` has the numbers of a family's queries."""

    def __init__(self, rows: AnswerRows, members: Sequence[int] | None) -> None:
        self._rows, self._members = rows, members

    @property
    def frame(self) -> DataFrame:
        """The rows of the answers in Spark."""
        row = sql.write_expression(sql.name(ROW))
        return self._rows.frame.where(row).drop(ROW)

    def collect(self) -> pa.Table:
        """Compute the rows, with a further column `.row` that is true. An empty answer is one more row, in which it is
        false."""
        rows = self._rows.collect()
        if self._members is None:
            return rows
        real = rows.filter(rows.column(ROW)).drop_columns([ROW])
        instants: list[int] = np.unique(rows.column(0).to_numpy()).tolist()
        return marked(real, empty_answers(real, instants, self._members))

    def write_open(self, path: str) -> int:
        """Fail: RSTREAM has no operator state."""
        raise NotImplementedError
