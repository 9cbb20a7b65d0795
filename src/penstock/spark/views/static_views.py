"""Cache of static views: patterns that read the background alone, materialised once for all queries and evaluations.

A view of few rows is a table that is sent along with each plan, so that Spark knows its size and broadcasts it. A large
one stays in Spark, partitioned by a variable of the join above. Unless it is too large the driver has its rows too,
dictionary-encoded, so that the rows for a few elements are looked up.
"""

from __future__ import annotations

from collections.abc import Hashable
from functools import cache, partial
from typing import TYPE_CHECKING

import pyarrow as pa

from penstock import log
from penstock.algebra.build import translate
from penstock.compile import sql
from penstock.compile.relation import Relation
from penstock.compile.sql import Query, Select, Table
from penstock.compile.views import packed_view
from penstock.compile.views.view_types import MaterialisedView, ViewRequest
from penstock.model.term_encoding import encode
from penstock.spark.session.driver_kernel import rows_here
from penstock.spark.session.jobs import Jobs
from penstock.spark.views.family_views import FamilyViewCache
from penstock.spark.views.view_cache import ViewCache

if TYPE_CHECKING:
    from penstock.spark.views.background_tables import BackgroundTables

__all__ = ["StaticViewCache"]


class StaticViewCache:
    """The static views of an engine, and those of its query families. Their users are the queries."""

    def __init__(self, background: BackgroundTables) -> None:
        self._background, self._tuning = background, background.tuning
        self._jobs = Jobs(background.session, background.tuning)
        self._version = background.version
        self._views = ViewCache[MaterialisedView]("static_view", self._drop)
        self._requested: dict[Hashable, object] = {}  # requests so far, with the first query of each
        self._bytes: dict[str, int] = {}  # of the collected views
        self.families = FamilyViewCache(background)

    def view(self, user: object, request: ViewRequest, at_once: bool = False) -> MaterialisedView | None:
        """Return the view, computed now if it is new; None if that does not pay at the first request.

        A plan that is used again and again without another request needs its views `at_once`."""
        view = self._views.get(request.identity, user)
        if view is None and (at_once or self._pays(user, request)):
            view = self._views.put(request.identity, partial(self._made, request), user, reads=request.reads)
        return view

    def _pays(self, user: object, request: ViewRequest) -> bool:
        """Whether materialising pays: always if a store evaluates the pattern, or the background is large.

        On few triples a Spark job pays from the second request on, since many queries are evaluated once.
        """
        if request.sparql is not None and not self._background.is_spark:
            return True
        if request.identity in self._requested or self._background.statistics.triples() > self._tuning.sent_view_rows:
            return True
        self._requested[request.identity] = user
        return False

    def release(self, user: object) -> None:
        """Forget a query, and drop the views that only it used."""
        self._views.release(user)
        self.families.views.release(user)
        self._requested = {identity: first for identity, first in self._requested.items() if first is not user}

    def __len__(self) -> int:
        return len(self._views)

    def refresh(self) -> None:
        """Drop the views that read a predicate which has changed in the background."""
        if self._version == self._background.version:
            return
        touched = self._background.touched(self._version)
        self._version = self._background.version
        self._views.invalidate(touched)
        self.families.views.invalidate(touched)

    def _drop(self, name: str) -> None:
        self._bytes.pop(name, None)
        self._jobs.drop([name])

    def _made(self, request: ViewRequest, name: str) -> MaterialisedView:
        """Compute the view of a request."""
        relation = request.compile()
        with self._jobs.isolated(int(self._background.statistics.triples())):
            rows, few = self._materialise(name, request, relation)
        query = Select(map(sql.name, relation.vars), Table(name))
        packed = partial(self._collected, name, rows) if few is None else partial(packed_view.dictionary_encoded, few)
        return MaterialisedView(Relation(query, relation.vars, relation.certain), rows, cache(packed))

    def _materialise(self, name: str, request: ViewRequest, relation: Relation) -> tuple[int, pa.Table | None]:
        """Make the Spark view; return the number of rows, and the rows themselves if they are few."""
        few, table, unpartitioned = self._tuning.sent_view_rows, self._few_rows(request, relation), f"{name}_made"
        rows = (
            self._jobs.materialise(relation.sql, unpartitioned)
            if table is None or table.num_rows > few
            else table.num_rows
        )
        if rows > few:
            self._jobs.materialise(self._partitioned(unpartitioned, rows, relation, request.keys), name)
            table = None
        else:
            table = self._jobs.session.table(unpartitioned).toArrow() if table is None else table
            self._jobs.publish(name, table)
        self._jobs.drop([unpartitioned])
        return rows, table

    def _collected(self, name: str, rows: int) -> packed_view.DictionaryEncodedRows | None:
        """Collect the rows of a view into the driver, dictionary-encoded; None if they are too many."""
        if rows > self._tuning.packed_view_rows:
            log.fallback(None, "view_lookup", f"the view has {rows:,} rows, more than packed_view_rows")
            return None
        with self._jobs.isolated(rows):
            packed = packed_view.collect_packed(self._jobs.session.table(name), rows)
        if packed is None or sum(self._bytes.values()) + packed.table.nbytes > self._tuning.packed_views_bytes:
            log.fallback(None, "view_lookup", "the copies of views would take more than packed_views_bytes")
            return None
        self._bytes[name] = packed.table.nbytes
        return packed

    def _partitioned(self, unpartitioned: str, rows: int, relation: Relation, keys: tuple[str, ...]) -> Query:
        """Return the rows partitioned by the first key that all rows bind.

        One key is enough, also for joins by more. The number of partitions is known only now: the rows that the view
        was computed from may have been far more, or fewer.
        """
        by = [sql.name(key) for key in keys if key in relation.certain][:1]
        return Select([sql.STAR], Table(unpartitioned), hints=[("REPARTITION", (self._jobs.partitions(rows), *by))])

    def _few_rows(self, request: ViewRequest, relation: Relation) -> pa.Table | None:
        """Return the rows if they are probably few; a store answers at once where Spark needs a job."""
        if request.sparql is not None and not self._background.is_spark:
            return self._by_store(relation.vars, request.sparql)
        few = self._tuning.sent_view_rows
        if request.rows > few:
            return None
        first_rows = Select([sql.STAR], relation.sql, limit=few + 1)
        table = rows_here(first_rows, relation.vars, self._jobs, self._tuning) if relation.vars else None
        return self._jobs.rows(first_rows).toArrow() if table is None else table

    def _by_store(self, names: tuple[str, ...], sparql: str) -> pa.Table:
        """Return the rows by a query to the store."""
        answer = self._background.answer(translate(sparql), sparql)
        cells = [[encode(row[v]) for row in answer.rows] for v in answer.variables]
        if not cells:
            return pa.table({".unit": pa.array([1] * len(answer.rows), pa.int32())})
        return pa.table([pa.array(column, pa.string()) for column in cells], names=list(names))
