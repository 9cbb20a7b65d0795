"""Static views of query families: for each member the rows of the background that have its constants.

The rows of a member are computed once, when it is first seen, together with those of all other new members; so one more
among thousands costs no more than itself. Rows of former members stay until they are the majority.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass, field
from itertools import count
from typing import TYPE_CHECKING

import pyarrow as pa

from penstock.algebra.template import Constants
from penstock.compile import sql
from penstock.compile.parameter_table import ParameterTable
from penstock.compile.relation import MEMBER, Relation
from penstock.compile.sql import Select, Table
from penstock.spark.session.jobs import Jobs

if TYPE_CHECKING:
    from penstock.compile.key_domain import Universe
    from penstock.spark.views.background_tables import BackgroundTables

__all__ = ["FamilyViewCache"]

_numbers = count()

Compile = Callable[["Universe"], Relation]


@dataclass
class _FamilyView:
    """The materialised rows of some members."""

    reads: frozenset[str] | None
    vars: tuple[str, ...] = ()
    certain: frozenset[str] = frozenset()
    name: str = ""
    rows: list[pa.Table] = field(default_factory=list)
    covered: dict[int, Constants] = field(default_factory=dict)
    users: set[object] = field(default_factory=set)

    @property
    def size(self) -> int:
        return sum(table.num_rows for table in self.rows)


class FamilyViewCache:
    """The views of families, by their pattern without constants."""

    def __init__(self, background: BackgroundTables) -> None:
        self._background = background
        self._jobs = Jobs(background.session, background.tuning)
        self._most = background.tuning.family_view_rows
        self._views: dict[Hashable, _FamilyView] = {}

    def relation(
        self, user: object, identity: Hashable, reads: frozenset[str] | None, members: ParameterTable, compile: Compile
    ) -> tuple[Relation, int] | None:
        """Return the rows of these members, and how many are stored; None if they are too many."""
        view = self._views.setdefault(identity, _FamilyView(reads))
        view.users.add(user)
        present = dict(zip(members.numbers, members.rows, strict=True))
        former = view.covered.keys() - present.keys()
        if len(former) > len(present) or any(present.get(n, row) != row for n, row in view.covered.items()):
            view.rows, view.covered, former = [], {}, set()
        if missing := present.keys() - view.covered.keys():
            self._add(view, members.only(missing), compile)
        if view.size > self._most:
            view.rows, view.covered = [], {}
            return None
        return _read(view, former), view.size

    def release(self, user: object) -> None:
        """Forget a family."""
        for view in self._views.values():
            view.users.discard(user)
        self._drop(lambda view: not view.users)

    def touched(self, predicates: frozenset[str] | None) -> None:
        """Drop the views that read one of the changed predicates; None: all views."""
        self._drop(lambda view: predicates is None or view.reads is None or bool(view.reads & predicates))

    def _drop(self, condition: Callable[[_FamilyView], bool]) -> None:
        dropped = {identity: view for identity, view in self._views.items() if condition(view)}
        self._jobs.drop([view.name for view in dropped.values() if view.name])
        self._views = {identity: view for identity, view in self._views.items() if identity not in dropped}

    def _add(self, view: _FamilyView, missing: ParameterTable, compile: Compile) -> None:
        session = self._jobs.session
        relation = compile(missing.universe(session))
        with self._jobs.isolated(int(self._background.statistics.triples())):
            rows = self._jobs.rows(Select([sql.STAR], relation.sql, limit=self._most + 1)).toArrow()
        missing.drop(session)
        view.vars, view.certain = relation.vars, relation.certain
        view.rows = [pa.concat_tables([*view.rows, rows])]
        view.covered |= dict(zip(missing.numbers, missing.rows, strict=True))
        self._jobs.drop([view.name] if view.name else [])
        view.name = f"penstock_family_view_{next(_numbers)}"
        session.createDataFrame(view.rows[0]).createOrReplaceTempView(view.name)


def _read(view: _FamilyView, former: Iterable[int]) -> Relation:
    excluded = [sql.long(number) for number in sorted(former)]
    present = sql.name(MEMBER).not_among(excluded) if excluded else None
    return Relation(Select(map(sql.name, view.vars), Table(view.name), present), view.vars, view.certain)
