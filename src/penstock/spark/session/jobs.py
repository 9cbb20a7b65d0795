"""Spark jobs of a plan: materialised rows, collected rows, published tables, and the settings for their number."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property
from types import ModuleType
from typing import Any, TypeVar
from weakref import WeakKeyDictionary

import pyarrow as pa
from pyspark.core.broadcast import Broadcast
from pyspark.sql import DataFrame, SparkSession

from penstock.compile import sql
from penstock.compile.context import Rows
from penstock.compile.sql import Query, Select
from penstock.spark.session import java, tasks
from penstock.spark.session.catalog import Catalog, catalog
from penstock.spark.session.lazy_session import has_started
from penstock.spark.session.sent_tables import sent_tables
from penstock.spark.session.tasks import ShareWork
from penstock.tuning import DEFAULT, Tuning

T = TypeVar("T")
_SIZES = (
    "spark.sql.adaptive.enabled",
    "spark.sql.shuffle.partitions",
    "spark.sql.codegen.aggregate.fastHashMap.capacityBit",  # groups beyond 2^n take a slower way
    "spark.sql.leafNodeDefaultParallelism",  # partitions of a table that is sent along
)
_COMPILED = {  # compiling generated code takes longer than a few rows take without it
    "spark.sql.codegen.wholeStage": ("false", "true"),
    "spark.sql.codegen.factoryMode": ("NO_CODEGEN", "FALLBACK"),
}
_SET: WeakKeyDictionary[SparkSession, dict[str, str]] = (
    WeakKeyDictionary()
)  # the settings of each session, which only this module changes
_NO_JAVA = 21  # the version whose functions DuckDB has where there is no Java
_CONSTRAINTS = "spark.sql.constraintPropagation.enabled"


class Jobs:
    """The jobs that a `Plan` runs in a session."""

    def __init__(self, session: SparkSession, tuning: Tuning = DEFAULT) -> None:
        self.session, self.tuning = session, tuning

    @property
    def cores(self) -> int:
        """The number of tasks that run at once; before Spark has started, that of this machine's processors."""
        if not has_started(self.session):
            return os.cpu_count() or 1
        return self.session.sparkContext.defaultParallelism

    @cached_property
    def java(self) -> int:
        """The version of Spark's Java; before Spark has started, of the one that it would use."""
        if not has_started(self.session):
            installed = java.find()
            return _NO_JAVA if installed is None else installed.version
        gateway = self.session.sparkContext._jvm
        assert gateway is not None
        return int(gateway.java.lang.System.getProperty("java.specification.version").rpartition(".")[2])

    def tune_for(self, rows: int | None, joins: bool = True, made: float = 0.0) -> None:
        """Set the number of shuffle partitions so that a task's share of the rows fits into memory, at least one a
        core.

        A few rows are one partition, without adaptive execution and code generation, which would take longer than the
        stages themselves; but a few rows may become many in a join. Groups and sorted rows may be of any size, so
        without joins adaptive execution has nothing to adapt. With an unknown number of rows (None) there is one
        partition a core.
        """
        tuning = self.tuning
        few = rows is not None and rows + made / tuning.made_rows_per_read < tuning.small_job_rows
        parts = 1 if few else self.partitions((rows or 0) if joins else 0)
        sizes = (str(joins and not few).lower(), str(parts), "16" if few else "18", "1" if few else str(self.cores))
        compiled = {name: of_few if few else of_many for name, (of_few, of_many) in _COMPILED.items()}
        self._set({**dict(zip(_SIZES, sizes, strict=True)), **compiled})

    def _set(self, settings: Mapping[str, str]) -> None:
        """Change the settings that differ: each change is a call to Java."""
        present = _SET.setdefault(self.session, {})
        for name, value in settings.items():
            if present.get(name) != value:
                self.session.conf.set(name, value)
                present[name] = value

    def partitions(self, rows: int) -> int:
        """Return the number of partitions for that many rows, at least one a core."""
        return max(self.cores, -(-rows // self.tuning.task_rows))

    @contextmanager
    def isolated(self, rows: int) -> Iterator[None]:
        """Run jobs on that many rows while another plan is compiled, and restore its settings afterwards."""
        settings = {name: self.session.conf.get(name, None) for name in (*_SIZES, *_COMPILED)}
        before = {name: value for name, value in settings.items() if value is not None}
        self.tune_for(rows)
        try:
            yield
        finally:
            self._set(before)

    @property
    def catalog(self) -> Catalog:
        return catalog(self.session)

    def rows(self, query: Query) -> DataFrame:
        """Return the rows of a query."""
        return self.catalog.rows(query)

    def materialise(self, query: Query, name: str) -> int:
        """Compute the rows of a query, make a view of them and return their number.

        Checkpointed rows remember constraints of the plan they came from, on columns that a later UNION of them does
        not find (Spark 4.3); so there are no constraints.
        """
        self.session.conf.set(_CONSTRAINTS, "false")
        try:
            frame = self.rows(query).localCheckpoint(eager=False)
            frame.createOrReplaceTempView(name)
            return frame.count()  # the job that fills the checkpoint
        finally:
            self.session.conf.set(_CONSTRAINTS, "true")

    def fetch(self, query: Query, most: int) -> Rows | None:
        """Return the rows of a query; None if they are more than `most`."""
        table = self.rows(Select([sql.STAR], query, limit=most + 1)).toArrow()
        if table.num_rows > most:
            return None
        return list(zip(*(column.to_pylist() for column in table.columns), strict=True))

    def publish(self, name: str, table: pa.Table) -> None:
        """Add a table under a name."""
        self.catalog.put(name, table, self.tuning.plan_rows)

    def run_tasks(
        self, name: str, pieces: Sequence[Any], work: tasks.Work[Any], columns: str, modules: Sequence[ModuleType]
    ) -> None:
        """Make a view of the rows that tasks return, one task for every piece."""
        self.tasks(pieces, work, columns, modules).createOrReplaceTempView(name)

    def tasks(
        self, pieces: Sequence[Any], work: tasks.Work[Any], columns: str, modules: Sequence[ModuleType]
    ) -> DataFrame:
        """Return the rows that tasks return, one task for every piece."""
        return tasks.run(self.session, pieces, work, columns, modules)

    def collect(
        self,
        shares: Sequence[bytes],
        work: ShareWork[T],
        modules: tuple[ModuleType, ...],
        large: Mapping[int, Broadcast[pa.Table]],
    ) -> list[T]:
        """Run a job with a task for every share of work, and return all that the tasks return."""
        return tasks.collect(self.session.sparkContext, shares, work, modules, large)

    def broadcasts(self, tables: Iterable[pa.Table]) -> dict[int, Broadcast[pa.Table]]:
        """Return the broadcasts of the large ones among these tables, by identity."""
        tuning = self.tuning
        sent = sent_tables(self.session.sparkContext)
        return sent.broadcasts(tables, tuning.broadcast_table_bytes, tuning.broadcast_tables_bytes)

    def drop(self, views: Iterable[str]) -> None:
        """Drop views."""
        self.catalog.drop(*views)
