"""What an evaluation gives that tells of spells: those to report, and those that are open when the span ends."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import parquet
from pyspark.sql import DataFrame

from penstock.compile import sql
from penstock.compile.reports.validity import AT, REPORTED, SINCE, UNTIL
from penstock.spark.query.snapshot_result import marked

__all__ = ["ChangeResult"]

_FEW = 50_000


class ChangeResult:
    """`spells` has the columns of the query (of a family's first of all `.km`), and those of `spells.emitted`.

    Mostly all rows come into this process, in one job, and the open ones are found here. Who asks for these first wants
    the others to stay with Spark.
    """

    def __init__(self, intervals: DataFrame, columns: Sequence[str], with_start: bool) -> None:
        self._intervals = intervals
        self._reported = [AT, *columns, *([SINCE] if with_start else [])]
        self._open = [SINCE, UNTIL, *columns]

    @property
    def frame(self) -> DataFrame:
        """The rows to report, each with its instant in the first column; intervals also with their beginning."""
        reported = self._intervals.where(_column(REPORTED)).select(*map(_column, self._reported))
        return reported.toDF("time", *self._reported[1:])

    def collect(self) -> pa.Table:
        """Run the Spark job: the same, with a further column `.row` that is true. An instant at which nothing is reported
        has no answer."""
        reported = self._fetched.filter(self._fetched.column(REPORTED)).select(self._reported)
        return marked(reported.rename_columns(["time", *self._reported[1:]]))

    def write_open(self, path: str) -> int:
        """Keep the open spells: as one file where they are here or few, else by Spark, in parallel."""
        if "_fetched" in vars(self):
            return _written(self._fetched.filter(pc.is_null(self._fetched.column(UNTIL))).select(self._open), path)
        self._intervals = self._intervals.localCheckpoint()
        without_end = sql.write_expression(sql.name(UNTIL).is_null())
        frame = self._intervals.where(without_end).select(*map(_column, self._open))
        few = frame.limit(_FEW + 1).toArrow()
        if few.num_rows <= _FEW:
            return _written(few, path)
        frame.write.parquet(path)
        return frame.count()

    @cached_property
    def _fetched(self) -> pa.Table:
        return self._intervals.toArrow()


def _column(name: str) -> str:
    return sql.write_expression(sql.name(name))


def _written(table: pa.Table, path: str) -> int:
    parquet.write_table(table, path)
    return table.num_rows
