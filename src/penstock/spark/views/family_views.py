"""Static views of query families: for each member the rows of the background that have its constants.

The rows of a member are computed once, when it is first seen, together with those of all other new members; so one more
among thousands costs no more than itself. Rows of former members stay until they are the majority.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING

import pyarrow as pa

from penstock import log
from penstock.algebra.template import Constants
from penstock.compile import sql
from penstock.compile.parameter_table import ParameterTable
from penstock.compile.relation import MEMBER, Relation
from penstock.compile.sql import Select, Table
from penstock.spark.session.jobs import Jobs
from penstock.spark.views.view_cache import ViewCache

if TYPE_CHECKING:
    from penstock.compile.key_domain import Universe
    from penstock.spark.views.background_tables import BackgroundTables

__all__ = ["FamilyViewCache"]

Compile = Callable[["Universe"], Relation]


@dataclass(frozen=True, slots=True)
class _FamilyView:
    """The materialised rows of some members, which are `covered`."""

    name: str = ""
    vars: tuple[str, ...] = ()
    certain: frozenset[str] = frozenset()
    rows: tuple[pa.Table, ...] = ()
    covered: dict[int, Constants] = field(default_factory=dict)

    @property
    def size(self) -> int:
        return sum(table.num_rows for table in self.rows)


class FamilyViewCache:
    """The views of families, by their pattern without constants. Their users are the families."""

    def __init__(self, background: BackgroundTables) -> None:
        self._background = background
        self._jobs = Jobs(background.session, background.tuning)
        self._most = background.tuning.family_view_rows
        self.views = ViewCache[_FamilyView]("family_view", self._jobs.catalog.drop)

    def relation(
        self, user: object, identity: Hashable, reads: frozenset[str] | None, members: ParameterTable, compile: Compile
    ) -> tuple[Relation, int] | None:
        """Return the rows of these members, and how many are stored; None if they are too many."""
        present = dict(zip(members.numbers, members.rows, strict=True))
        view = self.views.get(identity, user) or _FamilyView()
        former = view.covered.keys() - present.keys()
        if len(former) > len(present) or any(present.get(n, row) != row for n, row in view.covered.items()):
            view, former = _FamilyView(), set()
        if missing := present.keys() - view.covered.keys():
            extended = partial(self._extended, view, members.only(missing), compile)
            view = self.views.put(identity, extended, user, reads=reads)
        if view.size > self._most:
            self.views.discard(identity)
            log.fallback(None, "the view of a query family", f"it has more than {self._most:,} rows")
            return None
        return _read(view, former), view.size

    def _extended(self, view: _FamilyView, missing: ParameterTable, compile: Compile, name: str) -> _FamilyView:
        """Return a view with the rows of missing members too."""
        catalog = self._jobs.catalog
        relation = compile(missing.universe(catalog))
        with self._jobs.isolated(int(self._background.statistics.triples())):
            rows = self._jobs.rows(Select([sql.STAR], relation.sql, limit=self._most + 1)).toArrow()
        missing.drop(catalog)
        rows = pa.concat_tables([*view.rows, rows])
        self._jobs.publish(name, rows)
        covered = view.covered | dict(zip(missing.numbers, missing.rows, strict=True))
        return _FamilyView(name, relation.vars, relation.certain, (rows,), covered)


def _read(view: _FamilyView, former: Iterable[int]) -> Relation:
    excluded = [sql.long(number) for number in sorted(former)]
    present = sql.name(MEMBER).not_among(excluded) if excluded else None
    return Relation(Select(map(sql.name, view.vars), Table(view.name), present), view.vars, view.certain)
