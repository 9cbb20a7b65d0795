"""Relations: a compiled pattern as one SELECT, with the facts about its columns."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from penstock.algebra.expressions import PARAMETER
from penstock.compile import sql
from penstock.compile.sql import Expr, Query, Select, lower, merged

KEY = ".k"  # prefix of key columns: the graph, outer solution or instant for which a row holds
INSTANT = f"{KEY}@"  # the key that is the evaluation instant
MEMBER = f"{KEY}m"  # the key that is the number of a query, where a family of them is one plan
FROM, TO = ".from", ".to"  # when a row holds: at the instants t with from <= t < to
STARTS, ENDS = ".starts", ".ends"  # occurrence time: from the first start to the last end of a row's elements
STAMP = ".ts:"  # with a variable's name: the latest timestamp among the triples that bound it
ALWAYS = 2**62  # bound of a validity interval without end: no instant is beyond

Terms: TypeAlias = frozenset[str]


@dataclass(frozen=True, slots=True)
class Ordering:
    """A hidden column to sort by."""

    column: str
    descending: bool

    @property
    def sql(self) -> Expr:
        return sql.Order(sql.name(self.column), self.descending)


@dataclass(frozen=True, slots=True)
class Relation:
    """A SELECT of `vars` (one column per variable, NULL where unbound) and of hidden columns.

    A key column is a variable that every operator keeps, and never NULL. A relation without a key of its context holds
    for all values of that key, so that a pattern costs nothing per graph until it reads one. A *timed* relation has the
    columns `.from` and `.to` in place of the key INSTANT: a row has a validity interval, and stands for all instants in
    it. Validity intervals, timestamps and occurrence times are numbers (microseconds), and no variables of a solution.
    """

    sql: Query
    vars: tuple[str, ...]
    certain: frozenset[str]
    order: tuple[Ordering, ...] = ()
    row: str | None = None  # a column that is unique to the row, for BNODE(…)
    counts: frozenset[str] = field(default=frozenset(), compare=False)  # variables that hold results of COUNT
    length: int | None = field(default=None, compare=False)  # of all validity intervals; None: they differ, or may

    @property
    def keys(self) -> frozenset[str]:
        """The key columns."""
        return frozenset(v for v in self.vars if is_key(v))

    @property
    def timed(self) -> bool:
        """Whether rows have a validity interval."""
        return FROM in self.vars

    @property
    def solution(self) -> tuple[str, ...]:
        """The variables without key columns and times."""
        return tuple(v for v in self.vars if not is_key(v) and not is_time(v))

    @property
    def hidden(self) -> tuple[str, ...]:
        """The columns that are no variables: sort keys and the row's identifier."""
        return tuple(o.column for o in self.order) + (() if self.row is None else (self.row,))

    @property
    def columns(self) -> tuple[str, ...]:
        return self.vars + self.hidden

    def plain(self) -> Relation:
        """Return the relation without hidden columns."""
        return replace(self, order=(), row=None)

    def where(self, condition: Expr) -> Relation:
        return replace(self, sql=select(map(sql.name, self.columns), self.sql, where=condition))

    def reorder(self) -> list[Expr]:
        """Return the items of ORDER BY."""
        return [o.sql for o in self.order]


def is_key(name: str) -> bool:
    return name.startswith(KEY)


def is_parameter(name: str) -> bool:
    """Whether the key is a constant of a family's member, which the number of that member determines."""
    return name.startswith(PARAMETER)


def is_time(name: str) -> bool:
    """Whether the column is a bound of a validity interval, an occurrence time or a timestamp."""
    return name in (FROM, TO, STARTS, ENDS) or is_stamp(name)


def is_stamp(name: str) -> bool:
    return name.startswith(STAMP)


def shared_variables(left: Relation, right: Relation) -> tuple[str, ...]:
    """The variables and keys that both sides have, by which they are joined."""
    return tuple(v for v in left.vars if v in right.vars and not is_time(v))


def nothing(name: str) -> Expr:
    """Return NULL in the type of that column; for bounds of a validity interval, those of a row that always holds."""
    is_number = is_time(name) or name in (INSTANT, MEMBER)
    return _BOUNDS.get(name) or (sql.null("BIGINT") if is_number else sql.NULL)


_BOUNDS: dict[str, Expr] = {  # the fact `ALWAYS` belongs to the lower bound
    FROM: sql.Literal(-ALWAYS, "BIGINT", facts=sql.ALWAYS).cast("BIGINT"),
    TO: sql.long(ALWAYS).cast("BIGINT"),
}


def select(
    items: Iterable[Expr],
    source: Query,
    where: Expr | None = None,
    *,
    group: Sequence[Expr] = (),
    having: Expr | None = None,
    order: Sequence[Expr] = (),
    limit: int | None = None,
    offset: int = 0,
) -> Query:
    """Return SELECT items FROM source, with shared sub-expressions as columns of the source.

    The source itself is returned where it selects just these columns. A source that only names columns is merged.
    """
    items, tests = list(items), [test for test in (where, having) if test is not None]
    whole = not (tests or group or order or offset) and limit is None
    if whole and _is_all(items, source):
        return source
    parts = [*items, *tests, *group, *order]
    below, lowered = lower(source, parts)
    rest = iter(lowered[len(items) :])
    where, having = (None if test is None else next(rest) for test in (where, having))
    by = [next(rest) for _ in group]
    own, sorting = lowered[: len(items)], list(rest)
    return merged(Select(own, below, where, group=by, having=having, order=sorting, limit=limit, offset=offset))


def _is_all(items: Sequence[Expr], source: Query) -> bool:
    """Whether the items are exactly the columns of the source."""
    return source.columns == tuple(item.name if isinstance(item, sql.Column) else None for item in items)


def unit() -> Relation:
    """Return the relation of one solution that binds nothing."""
    return Relation(Select(()), (), frozenset())


def empty(vars: tuple[str, ...]) -> Relation:
    return Relation(Select([sql.alias(nothing(v), v) for v in vars], None, sql.FALSE), vars, frozenset(vars))


def table(vars: tuple[str, ...], rows: list[tuple[str | None, ...]]) -> Relation:
    """Return inline rows of encoded terms."""
    if not rows:
        return empty(vars)
    if not vars:
        return Relation(Select((), sql.Numbers(len(rows))), (), frozenset())
    values = sql.Values([tuple(map(_cell, row)) for row in rows], vars)
    certain = frozenset(v for i, v in enumerate(vars) if all(row[i] is not None for row in rows))
    return Relation(Select(map(sql.name, vars), values), vars, certain)


def _cell(value: str | None) -> Expr:
    return sql.NULL if value is None else sql.text(value)
