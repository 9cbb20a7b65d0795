"""DuckDB in the driver: for queries on a few rows that the driver has, a job of Spark's takes far longer."""

from __future__ import annotations

from threading import local

import pyarrow as pa

from penstock.compile import sql
from penstock.compile.kernels.slice_kernel import Kernel
from penstock.compile.sql import DUCKDB, Query
from penstock.spark.session.jobs import Jobs
from penstock.tuning import DEFAULT, Tuning

__all__ = ["driver_kernel", "rows_here"]

_threads = local()


def driver_kernel(jobs: Jobs, tuning: Tuning = DEFAULT) -> Kernel:
    """Return the kernel of this thread."""
    if not hasattr(_threads, "kernel"):
        _threads.kernel = Kernel(tuning.slice_memory, jobs.java, tuning.kernel_programs)
    kernel: Kernel = _threads.kernel
    return kernel


def rows_here(query: Query, columns: tuple[str, ...], jobs: Jobs, tuning: Tuning = DEFAULT) -> pa.Table | None:
    """Return the rows of a query on tables of terms; None if the driver lacks a table, or DuckDB cannot say it
    exactly."""
    tables = {name: jobs.catalog.table(name) for name in sql.table_names(query)}
    here = {name: table for name, table in tables.items() if table is not None}
    if len(here) < len(tables) or sum(table.num_rows for table in here.values()) > tuning.slice_table_rows:
        return None
    written = sql.written(query, DUCKDB)
    if written.refusal is not None:
        return None
    return driver_kernel(jobs, tuning).rows(written.text, written.functions, here).rename_columns(list(columns))
