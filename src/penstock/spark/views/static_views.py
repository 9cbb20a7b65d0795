"""Parts of plans that read the background alone: answered once, for all evaluations of all queries that have them.

A part of few rows is a table that is sent along with each plan, so that Spark knows its size and broadcasts it. One of
many stays with Spark, in partitions by the variables that the rest is joined by; unless they are too many they are here
too, packed, so that those which a few elements ask for are looked up.
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

_FEW = 100_000  # rows that are sent along with a plan
_MANY, _BYTES = 10_000_000, 256 << 20  # rows of a part that is here too, and what all of these may take
_numbers = count()


class StaticViewCache:
    """All parts of an engine. A part goes with the last query that uses it, or when what it reads has changed."""

    def __init__(self, background: BackgroundTables) -> None:
        self._background = background
        self._jobs = Jobs(background.session)
        self._version = background.version
        self._parts: dict[Hashable, MaterialisedView] = {}
        self._once: dict[Hashable, object] = {}  # what was asked for, and who did first
        self._bytes: dict[str, int] = {}  # of those that are here, by their views
        self.families = FamilyViewCache(background)

    def view(self, user: object, wanted: ViewRequest) -> MaterialisedView | None:
        """The part, made now if there is none yet; None: it is not worth it, since so far nobody has asked before."""
        if wanted.asked not in self._parts:
            if not self._has_asked(user, wanted):
                return None
            self._parts[wanted.asked] = self._made(wanted)
        part = self._parts[wanted.asked]
        part.users.add(user)
        return part

    def _has_asked(self, user: object, wanted: ViewRequest) -> bool:
        """Whether it pays: what a store answers at once does. On a few triples a job of its own does from the second
        time on, since many a query is evaluated once; on many always."""
        if wanted.sparql is not None and not self._background.is_spark:
            return True
        if wanted.asked in self._once or self._background.statistics.triples() > _FEW:
            return True
        self._once[wanted.asked] = user
        return False

    def release(self, user: object) -> None:
        """The query is gone."""
        for asked, part in list(self._parts.items()):
            part.users.discard(user)
            if not part.users:
                self._drop(asked)
        self._once = {asked: who for asked, who in self._once.items() if who is not user}
        self.families.release(user)

    def __len__(self) -> int:
        return len(self._parts)

    def refresh(self) -> None:
        """Let go of what the background has changed in."""
        if self._version == self._background.version:
            return
        touched = self._background.touched(self._version)
        self._version = self._background.version
        self.families.touched(touched)
        for asked, part in list(self._parts.items()):
            if touched is None or part.reads is None or touched & part.reads:
                self._drop(asked)

    def _drop(self, asked: Hashable) -> None:
        part = self._parts.pop(asked)
        self._bytes.pop(part.view, None)
        self._jobs.drop([part.view])

    def _made(self, wanted: ViewRequest) -> MaterialisedView:
        name, relation = f"penstock_static_view_{next(_numbers)}", wanted.compile()
        with self._jobs.isolated(int(self._background.statistics.triples())):
            rows, few = self._computed(name, wanted, relation)
        query = Select(map(sql.name, relation.vars), Table(name))
        packed = partial(self._brought, name, rows) if few is None else partial(packed_view.dictionary_encoded, few)
        return MaterialisedView(
            Relation(query, relation.vars, relation.certain), name, rows, wanted.reads, cache(packed)
        )

    def _computed(self, name: str, wanted: ViewRequest, relation: Relation) -> tuple[int, pa.Table | None]:
        """A view of the rows, how many there are, and the rows themselves if they are few."""
        table, made = self._fetched(wanted, relation), f"{name}_made"
        rows = self._jobs.materialise(relation.sql, made) if table is None or table.num_rows > _FEW else table.num_rows
        if rows > _FEW:
            self._jobs.materialise(self._partitioned(made, rows, relation, wanted.keys), name)
            table = None
        else:
            table = self._jobs.session.table(made).toArrow() if table is None else table
            self._jobs.publish(name, table)
        self._jobs.drop([made])
        return rows, table

    def _brought(self, name: str, rows: int) -> packed_view.DictionaryEncodedRows | None:
        """The rows of a view, to be here as well; None: they would be too many."""
        if rows > _MANY:
            return None
        with self._jobs.isolated(rows):
            packed = packed_view.collect_packed(self._jobs.session.table(name), rows)
        if packed is None or sum(self._bytes.values()) + packed.table.nbytes > _BYTES:
            return None
        self._bytes[name] = packed.table.nbytes
        return packed

    def _partitioned(self, made: str, rows: int, relation: Relation, keys: tuple[str, ...]) -> Query:
        """By the first key that all rows have: one is enough, also where others are joined by more. Into how many parts
        is known only now: what the rows were made of may have been far more, or less."""
        by = [sql.name(key) for key in keys if key in relation.certain][:1]
        return Select([sql.STAR], Table(made), hints=[("REPARTITION", (self._jobs.partitions(rows), *by))])

    def _fetched(self, wanted: ViewRequest, relation: Relation) -> pa.Table | None:
        """The rows, if it is likely that they are few; then a store answers at once what would take Spark a job."""
        if wanted.sparql is not None and not self._background.is_spark:
            return self._by_store(relation.vars, wanted.sparql)
        if wanted.rows > _FEW:
            return None
        return self._jobs.rows(Select([sql.STAR], relation.sql, limit=_FEW + 1)).toArrow()

    def _by_store(self, names: tuple[str, ...], sparql: str) -> pa.Table:
        answer = self._background.answer(translate(sparql), sparql)
        cells = [[encode(row[v]) for row in answer.rows] for v in answer.variables]
        if not cells:
            return pa.table({".unit": pa.array([1] * len(answer.rows), pa.int32())})
        return pa.table([pa.array(column, pa.string()) for column in cells], names=list(names))
