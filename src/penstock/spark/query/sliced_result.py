"""The result of RSTREAM, deltas or events from slices: rows at instants, with the instants whose answer is empty."""

from __future__ import annotations

import pyarrow as pa
from pyspark.sql import DataFrame

from penstock.compile import sql
from penstock.spark.query.answer_rows import AnswerRows
from penstock.spark.query.snapshot_result import ROW

__all__ = ["SlicedSnapshot"]


class SlicedSnapshot:
    """The rows of the answers, as the kernel returns them."""

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
