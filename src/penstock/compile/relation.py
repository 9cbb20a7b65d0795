"""A compiled pattern: one SELECT, and what is known of its columns."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, TypeAlias

from penstock.algebra.expressions import PARAMETER
from penstock.compile import sql
from penstock.compile.sql import Expr, Query, Select, lower, merged

if TYPE_CHECKING:
    from penstock.compile.operators.physical.time_buckets import Cardinality

KEY = ".k"  # columns with this prefix say for which graph, outer solution or instant a row holds
INSTANT = f"{KEY}@"  # the key that is the evaluation instant
MEMBER = f"{KEY}m"  # the key that is the number of a query, where a family of them is one plan
FROM, TO = ".from", ".to"  # when a row holds: at the instants t with from <= t < to
STARTS, ENDS = ".starts", ".ends"  # when what a row is made of occurred: from the first start to the last end
STAMP = ".ts:"  # with a variable's name: the latest timestamp among the triples that bound it
ALWAYS = 2**62  # bounds of what holds always: no instant is beyond

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
    """`sql` selects `vars` (a variable each, NULL where unbound) and hidden columns that are no part of a solution.

    A key column is a variable that every operator keeps, and never NULL. A relation without a key of its context holds
    for all values of that key, so that a pattern costs nothing per graph until it reads one. A *timed* relation has
    the columns `.from` and `.to` in place of the key INSTANT: its rows hold during an interval, and stand for all
    instants in it. These, stamps, and when a row occurred are numbers (microseconds), and no solution's variables.
    """

    sql: Query
    vars: tuple[str, ...]
    certain: frozenset[str]
    order: tuple[Ordering, ...] = ()
    row: str | None = None  # a column that is unique to the row, for BNODE(…)
    cardinality: Cardinality | None = field(
        default=None, compare=False
    )  # at most about so many rows, where that is known
    upper_bound: int | None = field(default=None, compare=False)  # there are not more, where somebody has counted
    view_rows: int | None = field(
        default=None, compare=False
    )  # how many, where they are those of a part that was answered
    counts: frozenset[str] = field(default=frozenset(), compare=False)  # the variables that COUNT has written
    looked_up_terms: Mapping[str, Terms] = field(
        default_factory=dict, compare=False
    )  # all terms, where rows were looked up

    @property
    def keys(self) -> frozenset[str]:
        return frozenset(v for v in self.vars if is_key(v))

    @property
    def timed(self) -> bool:
        return FROM in self.vars

    @property
    def solution(self) -> tuple[str, ...]:
        """The variables of the solutions alone."""
        return tuple(v for v in self.vars if not is_key(v) and not is_time(v))

    @property
    def hidden(self) -> tuple[str, ...]:
        return tuple(o.column for o in self.order) + (() if self.row is None else (self.row,))

    @property
    def columns(self) -> tuple[str, ...]:
        return self.vars + self.hidden

    def plain(self) -> Relation:
        """The same without hidden columns."""
        return replace(self, order=(), row=None)

    def where(self, condition: Expr) -> Relation:
        return replace(self, sql=select(map(sql.name, self.columns), self.sql, where=condition))

    def reorder(self) -> list[Expr]:
        """ORDER BY as the relation asks for it."""
        return [o.sql for o in self.order]


def is_key(name: str) -> bool:
    return name.startswith(KEY)


def is_parameter(name: str) -> bool:
    """Whether the key is a constant of the row's query, which the number of that query tells."""
    return name.startswith(PARAMETER)


def is_time(name: str) -> bool:
    """Whether the column is a bound of when the row holds or occurred, or a stamp."""
    return name in (FROM, TO, STARTS, ENDS) or is_stamp(name)


def is_stamp(name: str) -> bool:
    return name.startswith(STAMP)


def shared_variables(left: Relation, right: Relation) -> tuple[str, ...]:
    """The variables and keys that both sides have, by which they are joined."""
    return tuple(v for v in left.vars if v in right.vars and not is_time(v))


def nothing(name: str) -> Expr:
    """NULL, in the type of that column; bounds of a row that holds always."""
    is_number = is_time(name) or name in (INSTANT, MEMBER)
    return _BOUNDS.get(name) or (sql.null("BIGINT") if is_number else sql.NULL)


_BOUNDS: dict[str, Expr] = {  # the fact that something holds always goes with its beginning
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
    """SELECT items FROM source, with columns in the source for the expressions that all parts of it share; or the
    source, where that selects just these columns. A source that only names columns becomes part of it."""
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
    """Whether the items are just the columns that the source has."""
    return source.columns == tuple(item.name if isinstance(item, sql.Column) else None for item in items)


def unit() -> Relation:
    """One solution that binds nothing."""
    return Relation(Select(()), (), frozenset())


def empty(vars: tuple[str, ...]) -> Relation:
    return Relation(Select([sql.alias(nothing(v), v) for v in vars], None, sql.FALSE), vars, frozenset(vars))


def table(vars: tuple[str, ...], rows: list[tuple[str | None, ...]]) -> Relation:
    """Inline rows of encoded terms."""
    if not rows:
        return empty(vars)
    if not vars:
        return Relation(Select((), sql.Numbers(len(rows))), (), frozenset())
    values = sql.Values([tuple(map(_cell, row)) for row in rows], vars)
    certain = frozenset(v for i, v in enumerate(vars) if all(row[i] is not None for row in rows))
    return Relation(Select(map(sql.name, vars), values), vars, certain)


def _cell(value: str | None) -> Expr:
    return sql.NULL if value is None else sql.text(value)
