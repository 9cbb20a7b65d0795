"""Cache of static views: patterns that read the background alone, materialised once for all queries and evaluations.

A view of few rows is a table that is sent along with each plan, so that Spark knows its size and broadcasts it. A large
one stays in Spark, partitioned by a variable of the join above. Unless it is too large the driver has its rows too,
dictionary-encoded, so that the rows for a few elements are looked up.
"""

from __future__ import annotations

from collections.abc import Hashable
from functools import cache, partial
from itertools import count
from typing import TYPE_CHECKING

import pyarrow as pa

from penstock.algebra.build import translate
from penstock.compile import sql
from penstock.compile.relation import Relation
from penstock.compile.sql import Query, Select, Table
from penstock.compile.views import packed_view
from penstock.compile.views.view_types import MaterialisedView, ViewRequest
from penstock.model.term_encoding import encode
from penstock.spark.session.jobs import Jobs
from penstock.spark.views.family_views import FamilyViewCache

if TYPE_CHECKING:
    from penstock.spark.views.background_tables import BackgroundTables

__all__ = ["StaticViewCache"]

_numbers = count()


class StaticViewCache:
    """All static views of an engine. A view is dropped with its last query, or when a predicate that it reads
    changes."""

    def __init__(self, background: BackgroundTables) -> None:
        self._background, self._tuning = background, background.tuning
        self._jobs = Jobs(background.session, background.tuning)
        self._version = background.version
        self._views: dict[Hashable, MaterialisedView] = {}
        self._requested: dict[Hashable, object] = {}  # requests so far, with the first query of each
        self._bytes: dict[str, int] = {}  # of the collected views
        self.families = FamilyViewCache(background)

    def view(self, user: object, request: ViewRequest) -> MaterialisedView | None:
        """Return the view, computed now if it is new; None if that does not pay at the first request."""
        if request.identity not in self._views:
            if not self._pays(user, request):
                return None
            self._views[request.identity] = self._made(request)
        view = self._views[request.identity]
        view.users.add(user)
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
        for identity, view in list(self._views.items()):
            view.users.discard(user)
            if not view.users:
                self._drop(identity)
        self._requested = {identity: first for identity, first in self._requested.items() if first is not user}
        self.families.release(user)

    def __len__(self) -> int:
        return len(self._views)

    def refresh(self) -> None:
        """Drop the views that read a predicate which has changed in the background."""
        if self._version == self._background.version:
            return
        touched = self._background.touched(self._version)
        self._version = self._background.version
        self.families.touched(touched)
        for identity, view in list(self._views.items()):
            if touched is None or view.reads is None or touched & view.reads:
                self._drop(identity)

    def _drop(self, identity: Hashable) -> None:
        view = self._views.pop(identity)
        self._bytes.pop(view.name, None)
        self._jobs.drop([view.name])

    def _made(self, request: ViewRequest) -> MaterialisedView:
        """Compute the view of a request."""
        name, relation = f"penstock_static_view_{next(_numbers)}", request.compile()
        with self._jobs.isolated(int(self._background.statistics.triples())):
            rows, few = self._materialise(name, request, relation)
        query = Select(map(sql.name, relation.vars), Table(name))
        packed = partial(self._collected, name, rows) if few is None else partial(packed_view.dictionary_encoded, few)
        return MaterialisedView(
            Relation(query, relation.vars, relation.certain), name, rows, request.reads, cache(packed)
        )

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
            return None
        with self._jobs.isolated(rows):
            packed = packed_view.collect_packed(self._jobs.session.table(name), rows)
        if packed is None or sum(self._bytes.values()) + packed.table.nbytes > self._tuning.packed_views_bytes:
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
        return self._jobs.rows(Select([sql.STAR], relation.sql, limit=few + 1)).toArrow()

    def _by_store(self, names: tuple[str, ...], sparql: str) -> pa.Table:
        """Return the rows by a query to the store."""
        answer = self._background.answer(translate(sparql), sparql)
        cells = [[encode(row[v]) for row in answer.rows] for v in answer.variables]
        if not cells:
            return pa.table({".unit": pa.array([1] * len(answer.rows), pa.int32())})
        return pa.table([pa.array(column, pa.string()) for column in cells], names=list(names))
