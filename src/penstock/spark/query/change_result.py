"""The result of ISTREAM, DSTREAM or interval output: the rows to report, and the intervals that stay open."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import parquet
from pyspark.sql import DataFrame

from penstock.compile import sql
from penstock.compile.reports.validity import AT, REPORTED, SINCE, UNTIL
from penstock.spark.query.answer_rows import AnswerRows, SparkRows
from penstock.spark.query.snapshot_result import marked
from penstock.tuning import DEFAULT

__all__ = ["ChangeResult"]


class ChangeResult:
    """The validity intervals of a span: the columns of the query (of a family first `.km`) and of `reported_intervals`.

    Mostly one job collects all rows into the driver, which then filters the open ones. A caller that asks for the open
    ones first leaves the others in Spark.
    """

    def __init__(
        self, intervals: AnswerRows, columns: Sequence[str], with_start: bool, few: int = DEFAULT.open_intervals_here
    ) -> None:
        self._intervals, self._few = intervals, few
        self._reported = [AT, *columns, *([SINCE] if with_start else [])]
        self._open = [SINCE, UNTIL, *columns]

    @property
    def frame(self) -> DataFrame:
        """The rows to report, each with its instant in the first column; intervals also with their start."""
        reported = self._intervals.frame.where(_column(REPORTED)).select(*map(_column, self._reported))
        return reported.toDF("time", *self._reported[1:])

    def collect(self) -> pa.Table:
        """Run the Spark job: the rows to report, with a further column `.row` that is true.

        An instant without a change has no answer.
        """
        reported = self._fetched.filter(self._fetched.column(REPORTED)).select(self._reported)
        return marked(reported.rename_columns(["time", *self._reported[1:]]))

    def write_open(self, path: str) -> int:
        """Store the open intervals and return their number: one file if they are collected or few, else many in
        parallel."""
        if "_fetched" in vars(self):
            return _written(self._fetched.filter(pc.is_null(self._fetched.column(UNTIL))).select(self._open), path)
        self._intervals = SparkRows(self._intervals.frame.localCheckpoint())
        without_end = sql.write_expression(sql.name(UNTIL).is_null())
        frame = self._intervals.frame.where(without_end).select(*map(_column, self._open))
        few = frame.limit(self._few + 1).toArrow()
        if few.num_rows <= self._few:
            return _written(few, path)
        frame.write.parquet(path)
        return frame.count()

    @cached_property
    def _fetched(self) -> pa.Table:
        return self._intervals.collect()


def _column(name: str) -> str:
    return sql.write_expression(sql.name(name))


def _written(table: pa.Table, path: str) -> int:
    parquet.write_table(table, path)
    return table.num_rows
