"""What families of queries read of the background alone: for each member the rows that have its constants.

The rows of a member are asked for once, when it is first seen, together with those of all others that came with it; so
one more among thousands costs no more than itself. Rows of members that are gone stay until they are the most.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass, field
from itertools import count
from typing import TYPE_CHECKING

import pyarrow as pa

from penstock.algebra.template import Constants
from penstock.compile import sql
from penstock.compile.operators.query_family import ParameterTable
from penstock.compile.relation import MEMBER, Relation
from penstock.compile.sql import Select, Table
from penstock.spark.session.jobs import Jobs

if TYPE_CHECKING:
    from penstock.compile.context import Universe
    from penstock.spark.views.background_tables import BackgroundTables

__all__ = ["FamilyViewCache"]

_MOST = 1_000_000  # rows of all members: more are asked for without the constants, once for all
_numbers = count()

Compile = Callable[["Universe"], Relation]


@dataclass
class _Part:
    """The rows of some members."""

    reads: frozenset[str] | None
    vars: tuple[str, ...] = ()
    certain: frozenset[str] = frozenset()
    view: str = ""
    rows: list[pa.Table] = field(default_factory=list)
    covered: dict[int, Constants] = field(default_factory=dict)
    users: set[object] = field(default_factory=set)

    @property
    def size(self) -> int:
        return sum(table.num_rows for table in self.rows)


class FamilyViewCache:
    """Parts by what they ask, but for the constants."""

    def __init__(self, background: BackgroundTables) -> None:
        self._background = background
        self._jobs = Jobs(background.session)
        self._parts: dict[Hashable, _Part] = {}

    def relation(
        self, user: object, asked: Hashable, reads: frozenset[str] | None, members: ParameterTable, compile: Compile
    ) -> tuple[Relation, int] | None:
        """The rows of these members, and how many are kept; None: too many to be."""
        part = self._parts.setdefault(asked, _Part(reads))
        part.users.add(user)
        present = dict(zip(members.numbers, members.rows, strict=True))
        gone = part.covered.keys() - present.keys()
        if len(gone) > len(present) or any(present.get(n, row) != row for n, row in part.covered.items()):
            part.rows, part.covered, gone = [], {}, set()
        if missing := present.keys() - part.covered.keys():
            self._add(part, members.only(missing), compile)
        if part.size > _MOST:
            part.rows, part.covered = [], {}
            return None
        return _read(part, gone), part.size

    def release(self, user: object) -> None:
        """The family is gone."""
        for part in self._parts.values():
            part.users.discard(user)
        self._forget(lambda part: not part.users)

    def touched(self, predicates: frozenset[str] | None) -> None:
        """The background has changed there; None: anywhere."""
        self._forget(lambda part: predicates is None or part.reads is None or bool(part.reads & predicates))

    def _forget(self, which: Callable[[_Part], bool]) -> None:
        gone = {asked: part for asked, part in self._parts.items() if which(part)}
        self._jobs.drop([part.view for part in gone.values() if part.view])
        self._parts = {asked: part for asked, part in self._parts.items() if asked not in gone}

    def _add(self, part: _Part, missing: ParameterTable, compile: Compile) -> None:
        session = self._jobs.session
        relation = compile(missing.universe(session))
        with self._jobs.isolated(int(self._background.statistics.triples())):
            found = self._jobs.rows(Select([sql.STAR], relation.sql, limit=_MOST + 1)).toArrow()
        missing.drop(session)
        part.vars, part.certain = relation.vars, relation.certain
        part.rows = [pa.concat_tables([*part.rows, found])]
        part.covered |= dict(zip(missing.numbers, missing.rows, strict=True))
        self._jobs.drop([part.view] if part.view else [])
        part.view = f"penstock_family_part_{next(_numbers)}"
        session.createDataFrame(part.rows[0]).createOrReplaceTempView(part.view)


def _read(part: _Part, gone: Iterable[int]) -> Relation:
    others = [sql.long(number) for number in sorted(gone)]
    present = sql.name(MEMBER).not_among(others) if others else None
    return Relation(Select(map(sql.name, part.vars), Table(part.view), present), part.vars, part.certain)
