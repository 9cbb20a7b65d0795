"""The rows of an evaluation in slices of time, and the Spark job that evaluates the slices of all due queries."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial

import pyarrow as pa
from pyspark.sql import DataFrame

from penstock.compile.kernels import duckdb_functions, java_numbers, prepared_program, slice_kernel, slice_share
from penstock.compile.kernels.slice_kernel import Kernel, Program, Slice
from penstock.compile.kernels.slice_share import Work
from penstock.errors import PenstockError
from penstock.spark.session.catalog import frame
from penstock.spark.session.jobs import Jobs
from penstock.syntax import iri

__all__ = ["SliceJob", "SlicedRows", "start_worker"]

_MODULES = (slice_kernel, slice_share, prepared_program, duckdb_functions, java_numbers, iri)  # sent with a task
_DDL = {pa.string(): "STRING", pa.int64(): "BIGINT", pa.int32(): "INT", pa.bool_(): "BOOLEAN"}


class SlicedRows:
    """The rows of a program for the slices of a span. The last column is `.row`: see `slice_kernel`.

    `kernel` is that of the driver, if the slices are evaluated there; else each slice is part of a Spark task.
    """

    def __init__(
        self,
        jobs: Jobs,
        program: Program,
        names: Sequence[str],
        tables: Mapping[str, pa.Table],
        slices: Sequence[Slice],
        kernel: Kernel | None,
    ) -> None:
        self.jobs, self._program, self._tables, self._slices = jobs, program, tables, slices
        self._names, self._kernel = [*names, slice_kernel.ROW], kernel
        self._job: SliceJob | None = None
        self.found: Found | None = None

    @property
    def frame(self) -> DataFrame:
        """The rows in Spark."""
        if self._kernel is not None:
            return frame(self.jobs.session, self.collect())
        fields = [*self._program.schema, pa.field(f"c{len(self._program.schema)}", pa.bool_())]
        columns = ", ".join(f"{field.name} {_DDL[field.type]}" for field in fields)
        memory = self.jobs.tuning.slice_memory
        work = partial(slice_kernel.run, self._program, dict(self._tables), memory, self.jobs.java)
        return self.jobs.tasks(list(self._slices), work, columns, _MODULES).toDF(*self._names)

    def share(self, job: SliceJob) -> None:
        """Let a job evaluate the slices together with those of other queries, unless the driver evaluates them."""
        if self._kernel is None:
            self._job = job
            job.add(self)

    def work(self, number: int) -> list[Work]:
        """Return the slices for a job, in which this query has that number."""
        return [Work(number, self._program, self._tables, piece) for piece in self._slices]

    def collect(self) -> pa.Table:
        """Return the rows in the driver."""
        return self._collected.rename_columns(self._names)

    @cached_property
    def _collected(self) -> pa.Table:
        if self._kernel is not None:
            return pa.concat_tables(
                [self._kernel.evaluate(self._program, self._tables, piece) for piece in self._slices]
            )
        if self.found is None:
            (self._job or SliceJob()).run(self)
        assert self.found is not None
        return self.found.table()


def start_worker(jobs: Jobs) -> None:
    """Run a job without a slice, for which Spark starts a Python process that loads the kernel: the first job that has
    slices then need not wait for that."""
    empty = slice_share.pack([], _settings(jobs), jobs.tuning.slice_answer_rows)
    jobs.collect([empty], slice_share.evaluate, _MODULES, {})


def _settings(jobs: Jobs) -> slice_share.Settings:
    """Return the settings of the kernels that evaluate the slices of a job."""
    return jobs.tuning.slice_memory, jobs.java, jobs.tuning.kernel_programs


@dataclass(slots=True)
class Found:
    """The rows of a query that a job has computed, in parts; or the reasons why there are none."""

    parts: list[bytes] = field(default_factory=list)
    reasons: list[str] = field(default_factory=list)

    def table(self) -> pa.Table:
        if self.reasons:
            raise PenstockError(f"DuckDB failed: {self.reasons[0]}")
        return slice_share.unpack_rows(self.parts)


class SliceJob:
    """One Spark job for the slices of queries that are due together. It runs when the rows of one are collected."""

    def __init__(self) -> None:
        self._waiting: list[SlicedRows] = []

    def add(self, rows: SlicedRows) -> None:
        """Evaluate these rows with the next run."""
        self._waiting.append(rows)

    def __len__(self) -> int:
        return len(self._waiting)

    def run(self, wanted: SlicedRows) -> None:
        """Compute the rows of a query, and of all that wait. If Spark fails the job, each of the others has another."""
        queries, self._waiting = [wanted, *(rows for rows in self._waiting if rows is not wanted)], []
        jobs = wanted.jobs
        work = [part for number, rows in enumerate(queries) for part in rows.work(number)]
        tasks = len(work) if len(queries) == 1 else min(len(work), jobs.cores)
        large = jobs.broadcasts(table for part in work for table in part.tables.values())
        most = jobs.tuning.slice_answer_rows
        shares = [slice_share.pack(work[first::tasks], _settings(jobs), most, large) for first in range(tasks)]
        answers = [Found() for _ in queries]
        for number, part, reason in jobs.collect(shares, slice_share.evaluate, _MODULES, large):
            if part is None:
                answers[number].reasons.append(reason)
            else:
                answers[number].parts.append(part)
        for rows, computed in zip(queries, answers, strict=True):
            rows.found = computed
