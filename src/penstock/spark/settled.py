"""Parts of plans that read the background alone: answered once, for all evaluations of all queries that have them.

A part of few rows is a table that is sent along with each plan, so that Spark knows its size and broadcasts it. One of
many stays with Spark, in partitions by the variables that the rest is joined by.
"""

from __future__ import annotations

from collections.abc import Hashable
from itertools import count
from typing import TYPE_CHECKING

import pyarrow as pa

from penstock.algebra.build import translate
from penstock.spark import sql
from penstock.spark.encoding import encode
from penstock.spark.family_parts import FamilyParts
from penstock.spark.jobs import Jobs
from penstock.spark.parts import Part, Wanted
from penstock.spark.relation import Relation, items_or_one

if TYPE_CHECKING:
    from penstock.spark.background import Background

__all__ = ["Settled"]

_FEW = 100_000  # rows that are sent along with a plan
_numbers = count()


class Settled:
    """All parts of an engine. A part goes with the last query that uses it, or when what it reads has changed."""

    def __init__(self, background: Background) -> None:
        self._background = background
        self._jobs = Jobs(background.session)
        self._version = background.version
        self._parts: dict[Hashable, Part] = {}
        self._once: dict[Hashable, object] = {}  # what was asked for, and who did first
        self.families = FamilyParts(background)

    def part(self, user: object, wanted: Wanted) -> Part | None:
        """The part, made now if there is none yet; None: it is not worth it, since so far nobody has asked before."""
        if wanted.asked not in self._parts:
            if not self._has_asked(user, wanted):
                return None
            self._parts[wanted.asked] = self._made(wanted)
        part = self._parts[wanted.asked]
        part.users.add(user)
        return part

    def _has_asked(self, user: object, wanted: Wanted) -> bool:
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
        self._jobs.drop([self._parts.pop(asked).view])

    def _made(self, wanted: Wanted) -> Part:
        name, relation = f"penstock_settled_{next(_numbers)}", wanted.compile()
        with self._jobs.apart(int(self._background.statistics.triples())):
            rows = self._computed(name, wanted, relation)
        text = f"SELECT {items_or_one(map(sql.name, relation.vars))} FROM {name}"
        return Part(Relation(text, relation.vars, relation.certain), name, rows, wanted.reads)

    def _computed(self, name: str, wanted: Wanted, relation: Relation) -> int:
        table = self._fetched(wanted, relation)
        if table is None or table.num_rows > _FEW:
            rows = self._jobs.compute(_partitioned(relation, wanted.keys), name)
            table = self._jobs.session.table(name).toArrow() if rows <= _FEW else None
        if table is None:
            return rows
        self._jobs.session.createDataFrame(table).createOrReplaceTempView(name)
        return int(table.num_rows)

    def _fetched(self, wanted: Wanted, relation: Relation) -> pa.Table | None:
        """The rows, if it is likely that they are few; then a store answers at once what would take Spark a job."""
        if wanted.sparql is not None and not self._background.is_spark:
            return self._by_store(relation.vars, wanted.sparql)
        if wanted.rows > _FEW:
            return None
        return self._jobs.session.sql(f"SELECT * FROM ({relation.sql}) LIMIT {_FEW + 1}").toArrow()

    def _by_store(self, names: tuple[str, ...], sparql: str) -> pa.Table:
        answer = self._background.answer(translate(sparql), sparql)
        cells = [[encode(row[v]) for row in answer.rows] for v in answer.variables]
        if not cells:
            return pa.table({".unit": pa.array([1] * len(answer.rows), pa.int32())})
        return pa.table([pa.array(column, pa.string()) for column in cells], names=list(names))


def _partitioned(relation: Relation, keys: tuple[str, ...]) -> str:
    """One key is enough, also where others are joined by more."""
    by = [key for key in keys if key in relation.certain][:1]
    return f"SELECT * FROM ({relation.sql}) DISTRIBUTE BY {sql.name(by[0])}" if by else relation.sql
