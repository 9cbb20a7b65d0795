"""The rows of an evaluation: as a DataFrame of Spark, or from the slices of a span, each evaluated by the kernel."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property, partial
from typing import Protocol

import pyarrow as pa
from pyspark.sql import DataFrame

from penstock.compile.kernels import duckdb_functions, java_numbers, slice_kernel
from penstock.compile.kernels.slice_kernel import Kernel, Program, Slice
from penstock.spark.session.catalog import frame
from penstock.spark.session.jobs import Jobs
from penstock.syntax import iri

__all__ = ["AnswerRows", "SlicedRows", "SparkRows"]

_MODULES = (slice_kernel, duckdb_functions, java_numbers, iri)  # sent along with a task
_DDL = {pa.string(): "STRING", pa.int64(): "BIGINT", pa.int32(): "INT", pa.bool_(): "BOOLEAN"}


class AnswerRows(Protocol):
    """Rows that are computed when they are read."""

    @property
    def frame(self) -> DataFrame:
        """The rows in Spark."""

    def collect(self) -> pa.Table:
        """Return the rows in the driver."""


class SparkRows:
    """The rows of a query that Spark evaluates."""

    def __init__(self, frame: DataFrame) -> None:
        self.frame = frame

    def collect(self) -> pa.Table:
        return self.frame.toArrow()


class SlicedRows:
    """The rows of a program for the slices of a span. The last column is `.row`: see `slice_kernel`.

    `kernel` is that of the driver, if the slices are evaluated there; else each is a task of Spark's.
    """

    def __init__(
        self,
        jobs: Jobs,
        program: Program,
        names: Sequence[str],
        tables: Mapping[str, pa.Table],
        slices: Sequence[Slice],
        memory: int,
        kernel: Kernel | None,
    ) -> None:
        self._jobs, self._program, self._tables, self._slices = jobs, program, tables, slices
        self._names, self._memory, self._kernel = [*names, slice_kernel.ROW], memory, kernel

    @property
    def frame(self) -> DataFrame:
        if self._kernel is not None:
            return frame(self._jobs.session, self.collect())
        return self._tasks.toDF(*self._names)

    def collect(self) -> pa.Table:
        return self._collected

    @cached_property
    def _collected(self) -> pa.Table:
        if self._kernel is None:
            return self._tasks.toArrow().rename_columns(self._names)
        found = [self._kernel.evaluate(self._program, self._tables, piece) for piece in self._slices]
        return pa.concat_tables(found).rename_columns(self._names)

    @cached_property
    def _tasks(self) -> DataFrame:
        fields = [*self._program.schema, pa.field(f"c{len(self._program.schema)}", pa.bool_())]
        columns = ", ".join(f"{field.name} {_DDL[field.type]}" for field in fields)
        work = partial(slice_kernel.run, self._program, dict(self._tables), self._memory, self._jobs.java)
        return self._jobs.tasks(list(self._slices), work, columns, _MODULES)
