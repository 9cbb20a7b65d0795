"""A compiled pattern: one SELECT, and what is known of its columns."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, TypeAlias

from penstock.algebra.expressions import PARAMETER
from penstock.compile import sql
from penstock.compile.sql.common_subexpressions import lower

if TYPE_CHECKING:
    from penstock.compile.operators.physical.time_buckets import Size

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
    def sql(self) -> str:
        return sql.name(self.column) + (" DESC" if self.descending else "")


@dataclass(frozen=True, slots=True)
class Relation:
    """`sql` selects `vars` (a variable each, NULL where unbound) and hidden columns that are no part of a solution.

    A key column is a variable that every operator keeps, and never NULL. A relation without a key of its context holds
    for all values of that key, so that a pattern costs nothing per graph until it reads one. A *timed* relation has
    the columns `.from` and `.to` in place of the key INSTANT: its rows hold during an interval, and stand for all
    instants in it. These, stamps, and when a row occurred are numbers (microseconds), and no solution's variables.
    """

    sql: str
    vars: tuple[str, ...]
    certain: frozenset[str]
    order: tuple[Ordering, ...] = ()
    row: str | None = None  # a column that is unique to the row, for BNODE(…)
    size: Size | None = field(default=None, compare=False)  # at most about so many rows, where that is known
    most: int | None = field(default=None, compare=False)  # there are not more, where somebody has counted
    kept: int | None = field(default=None, compare=False)  # how many, where they are those of a part that was answered
    counts: frozenset[str] = field(default=frozenset(), compare=False)  # the variables that COUNT has written
    found: Mapping[str, Terms] = field(default_factory=dict, compare=False)  # all terms, where rows were looked up

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

    def where(self, condition: str) -> Relation:
        return replace(self, sql=select(map(sql.name, self.columns), self.sql, f"WHERE {condition}"))

    def reorder(self) -> str:
        """ORDER BY as the relation asks for it."""
        return f"ORDER BY {', '.join(o.sql for o in self.order)}" if self.order else ""


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


def nothing(name: str) -> str:
    """NULL, in the type of that column; bounds of a row that holds always."""
    bounds = {FROM: f"CAST({-ALWAYS} AS BIGINT)", TO: f"CAST({ALWAYS} AS BIGINT)"}
    is_number = is_time(name) or name in (INSTANT, MEMBER)
    return bounds.get(name) or ("CAST(NULL AS BIGINT)" if is_number else sql.NULL)


def select(items: Iterable[str], source: str, rest: str = "") -> str:
    """SELECT items FROM (source), with columns in the source for what the items and the rest name; or the source, where
    that selects just these columns.

    The source has an alias, lest Spark take `WHERE (false)` for one: a table called WHERE with a column called false.
    """
    source, (*items, rest) = lower(source, [*items, rest])
    chosen = f"SELECT {items_or_one(items)} FROM ("
    same = not rest and source.startswith(chosen) and all(map(_COLUMN.fullmatch, items))
    return source if same else f"{chosen}{source}) t {rest}".rstrip()


_COLUMN = re.compile("`[^`]*`")


def items_or_one(items: Iterable[str]) -> str:
    """A relation of no columns still has rows, hence the constant."""
    return ", ".join(items) or "1 AS `.unit`"


def unit() -> Relation:
    """One solution that binds nothing."""
    return Relation(f"SELECT {items_or_one(())}", (), frozenset())


def empty(vars: tuple[str, ...]) -> Relation:
    nulls = items_or_one(sql.alias(nothing(v), v) for v in vars)
    return Relation(f"SELECT {nulls} WHERE false", vars, frozenset(vars))


def table(vars: tuple[str, ...], rows: list[tuple[str | None, ...]]) -> Relation:
    """Inline rows of encoded terms."""
    if not rows:
        return empty(vars)
    if not vars:
        return Relation(f"SELECT 1 AS `.unit` FROM range({len(rows)})", (), frozenset())
    values = ", ".join(f"({', '.join(_cell(cell) for cell in row)})" for row in rows)
    source = f"SELECT * FROM VALUES {values} AS t({', '.join(map(sql.name, vars))})"
    certain = frozenset(v for i, v in enumerate(vars) if all(row[i] is not None for row in rows))
    return Relation(source, vars, certain)


def _cell(value: str | None) -> str:
    return sql.NULL if value is None else sql.text(value)
