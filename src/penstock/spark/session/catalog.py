"""The catalogue of a session: tables by name, many of which the driver has as Arrow tables.

A table becomes a view of Spark when a query of Spark's first names it. A query that another engine evaluates reads the
Arrow table, and then Spark never sees it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession

from penstock.compile import sql
from penstock.compile.sql import Query
from penstock.spark.session.lazy_session import has_started
from penstock.tuning import DEFAULT

__all__ = ["Catalog", "catalog", "frame"]


@dataclass
class _Entry:
    """A table: its rows as a DataFrame, and as an Arrow table if the driver has it."""

    frame: Callable[[], DataFrame]
    arrow: Callable[[], pa.Table] | None
    published: bool = False

    @cached_property
    def table(self) -> pa.Table | None:
        return None if self.arrow is None else self.arrow()


class Catalog:
    """The tables of one session by name."""

    def __init__(self, session: SparkSession) -> None:
        self._session = session
        self._entries: dict[str, _Entry] = {}

    def put(self, name: str, table: pa.Table, plan_rows: int = DEFAULT.plan_rows) -> None:
        """Add an Arrow table, or replace the table of that name."""
        self.define(name, lambda: frame(self._session, table, plan_rows), lambda: table)

    def define(self, name: str, frame: Callable[[], DataFrame], arrow: Callable[[], pa.Table] | None = None) -> None:
        """Add a table, or replace the one of that name. Both functions are called when their rows are needed."""
        self._entries[name] = _Entry(frame, arrow)

    def table(self, name: str) -> pa.Table | None:
        """Return the Arrow table of that name; None if the driver has none."""
        return self._entries[name].table if name in self._entries else None

    def rows(self, query: Query) -> DataFrame:
        """Return the rows of a query, whose tables become views: here the tree is written as text."""
        for name in sql.table_names(query):
            self.publish(name)
        return self._session.sql(sql.write(query))

    def publish(self, name: str) -> None:
        """Make a view of Spark of the table of that name."""
        entry = self._entries.get(name)
        if entry is not None and not entry.published:
            entry.frame().createOrReplaceTempView(name)
            entry.published = True

    def drop(self, *names: str) -> None:
        """Remove tables, and views of these names."""
        for name in names:
            entry = self._entries.pop(name, None)
            if (entry is None or entry.published) and has_started(self._session):
                self._session.catalog.dropTempView(name)


def frame(session: SparkSession, table: pa.Table, plan_rows: int = DEFAULT.plan_rows) -> DataFrame:
    """Return the rows of a table as a DataFrame.

    A few rows are part of the plan; more would be hashed again and again while it is optimised, so the plan has only
    their size.
    """
    rows = session.createDataFrame(table.combine_chunks())  # Spark 4.3 stops at an empty chunk
    return rows if table.num_rows < plan_rows else rows.localCheckpoint(eager=False)


def catalog(session: SparkSession) -> Catalog:
    """Return the catalogue of a session, which lives as long as the session."""
    own: Catalog = vars(session).setdefault("_penstock_catalog", Catalog(session))
    return own
