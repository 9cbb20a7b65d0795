"""The plan cache: compiled queries, which share one background in one Spark session.

Modules that import PySpark are imported when the first query is compiled, after Java was found.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from typing import TYPE_CHECKING

from penstock.algebra.ops import Query
from penstock.algebra.schedule import stretched
from penstock.algebra.template import Constants
from penstock.answer import Answer
from penstock.knowledge.store import Store, is_plain
from penstock.stream.registry.due_instants import CompiledQuery
from penstock.stream.registry.metadata_store import QueryRecord
from penstock.stream.registry.registered_query import RegisteredQuery
from penstock.tuning import DEFAULT, Tuning

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from penstock.compile.parameter_table import ParameterTable
    from penstock.options import Rounds
    from penstock.spark.query.continuous_query import ContinuousQuery
    from penstock.spark.query.sliced_rows import SliceJob
    from penstock.spark.views.background_tables import BackgroundTables

__all__ = ["PlanCache"]


class PlanCache:
    """Compiles queries, and releases compiled ones. Spark is started with the first query, or where rounds may be
    evaluated in the driver, with the first job."""

    def __init__(
        self,
        store: Store,
        session: Callable[[], SparkSession],
        rules: Collection[str] | None,
        retention: int | None = None,
        tuning: Tuning = DEFAULT,
        rounds: Rounds = "spark",
    ) -> None:
        self._store, self._local = store, rounds == "auto"
        self._session = session
        self.rules, self._retention, self._tuning = rules, retention, tuning
        self._background: BackgroundTables | None = None
        self._plans: list[ContinuousQuery] = []

    def plan(self, task: RegisteredQuery, factor: int = 1) -> CompiledQuery:
        """See `Planner`: for a query that is answered alone, at one of so many instants."""
        from penstock.stream.evaluation.recursive_rule_plan import RecursiveRulePlan

        if task.rules:
            return RecursiveRulePlan(task.name, task.rules, self.background, self._retention)
        return self.compiled(stretched(task.query, factor), task.entry)

    def compiled(self, query: Query, entry: QueryRecord, *, as_written: bool = False) -> CompiledQuery:
        """See `Planner`: the query with the options of an entry; `as_written`, it is not optimised."""
        from penstock.spark.query.continuous_query import ContinuousQuery

        plan = ContinuousQuery(
            query,
            self.background,
            duplicates=entry.duplicates,
            emit=entry.emit,
            rules=() if as_written else self.rules,
            retention=self._retention,
            local=self._local,
        )
        self._plans.append(plan)
        return plan

    def members(self, numbers: Sequence[int], rows: Sequence[Constants]) -> ParameterTable:
        """See `Planner`: the table of a family's queries."""
        from penstock.compile.parameter_table import ParameterTable

        return ParameterTable(numbers, rows)

    def slice_job(self) -> SliceJob:
        """See `Planner`: an empty job for queries that are due together."""
        from penstock.spark.query.sliced_rows import SliceJob

        return SliceJob()

    def release(self, plan: CompiledQuery) -> None:
        """See `Planner`: close a plan that no group uses any more."""
        released = [compiled for compiled in self._plans if compiled is plan]
        self._plans = [compiled for compiled in self._plans if compiled is not plan]
        self._close(released)

    def answer(self, query: Query, text: str, base: str | None) -> Answer:
        """The answer to a query without a stream: the store's, if it understands the words, else Spark's."""
        from penstock.spark.store.store import SparkStore

        if isinstance(self._store, SparkStore) or is_plain(text, base):
            return self._store.answer(query, text, base)
        return self.computed(query)

    def computed(self, query: Query) -> Answer:
        """The answer to a query without a stream by Spark, whatever the store."""
        from penstock.spark.store.one_shot import OneShotQuery

        background = self.background
        return OneShotQuery(background.session, background.triples, self.rules, self._tuning).answer(query)

    @property
    def background(self) -> BackgroundTables:
        """The tables of the background, which all queries share; Spark is started for them (see `_private`)."""
        from penstock.spark.views.background_tables import BackgroundTables

        if self._background is None:
            self._background = BackgroundTables(self._private(), self._store, self._tuning)
        return self._background

    @property
    def entails(self) -> bool:
        """Whether queries match entailed triples."""
        return getattr(self._store, "ontology", None) is not None

    def close(self) -> None:
        self._close(self._plans)
        self._plans.clear()

    def _close(self, plans: Iterable[ContinuousQuery]) -> None:
        from penstock.spark.session import session

        for plan in plans if self._background and session.is_running(self._background.session) else ():
            plan.close()

    def _private(self) -> SparkSession:
        """A Spark store's own session, where its tables are; else a new one beside the user's, which the first job
        starts if rounds may be evaluated in the driver."""
        from penstock.spark.session.lazy_session import lazy_session
        from penstock.spark.store.store import SparkStore

        if isinstance(self._store, SparkStore):
            return self._store.private_session
        return lazy_session(self._started) if self._local else self._started()

    def _started(self) -> SparkSession:
        from penstock.spark.session import arrow_functions, session

        ours = session.private(self._session())
        arrow_functions.register(ours)
        return ours
