"""Compiled queries: one background for all of them, in the one session that holds its tables."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import TYPE_CHECKING

from penstock.algebra.ops import Query
from penstock.answer import Answer
from penstock.knowledge.store import Store, is_plain
from penstock.stream.due import Plan
from penstock.stream.task import Task

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from penstock.spark.continuous import Background, ContinuousQuery

__all__ = ["Plans"]


class Plans:
    """Compiles, and lets go of what was compiled. Spark is not touched before the first query."""

    def __init__(
        self,
        store: Store,
        session: Callable[[], SparkSession],
        rules: Collection[str] | None,
        retention: int | None = None,
    ) -> None:
        self._store = store
        self._session = session
        self._rules, self._retention = rules, retention
        self._background: Background | None = None
        self._made: list[ContinuousQuery] = []

    def plan(self, task: Task) -> Plan:
        from penstock.spark.continuous import ContinuousQuery
        from penstock.stream.ruled import Ruled

        if task.group:
            return Ruled(task.name, task.group, self._known(), self._retention)
        made = ContinuousQuery(
            task.query,
            self._known(),
            duplicates=task.entry.duplicates,
            emit=task.entry.emit,
            rules=self._rules,
            retention=self._retention,
        )
        self._made.append(made)
        return made

    def answer(self, query: Query, text: str, base: str | None) -> Answer:
        """The answer to a query without a stream: the store's, if it understands the words, else Spark's."""
        from penstock.spark.store import SparkStore

        if isinstance(self._store, SparkStore) or is_plain(text, base):
            return self._store.answer(query, text, base)
        from penstock.spark.asked import Asked

        known = self._known()
        return Asked(known.session, known.triples, self._rules).answer(query)

    def _known(self) -> Background:
        from penstock.spark.continuous import Background

        if self._background is None:
            self._background = Background(self._private(), self._store)
        return self._background

    def close(self) -> None:
        from penstock.spark import session

        for made in self._made if self._background and session.is_running(self._background.session) else ():
            made.close()
        self._made.clear()

    def _private(self) -> SparkSession:
        """A Spark store's own session, where its tables are; else a new one beside the user's."""
        from penstock.spark import iris, session
        from penstock.spark.store import SparkStore

        if isinstance(self._store, SparkStore):
            return self._store._ours
        ours = session.private(self._session())
        iris.register(ours)
        return ours
