"""Operators that take rows away, on intervals: OPTIONAL, MINUS, EXISTS and DISTINCT without a row for each instant.

A row meets its partners in the order in which they begin. How far the earlier ones reach tells during which part of its
interval the row has a partner, and during which it has none.
"""

from __future__ import annotations

from dataclasses import replace

from penstock.compile import sql
from penstock.compile.operators import joins
from penstock.compile.relation import FROM, TO, Relation, nothing

_ROW, _BEGIN, _END, _REACH, _LAST = ".sweep", ".begin", ".end", ".reach", ".last"
_UNMET = f"coalesce(`{_REACH}`, `{FROM}`)"  # until when, at least, a row's time has been dealt with


def can(left: Relation, right: Relation) -> bool:
    return left.timed and right.timed


def without(left: Relation, right: Relation, on: str) -> Relation:
    """The rows of `left` for as long as they have no partner."""
    met = _met("LEFT JOIN", left, right, on, {})
    return _pieces(left, f"SELECT *, inline(array({', '.join(_gaps())})) FROM ({_reaching(met, left, right)})")


def with_partner(left: Relation, right: Relation, on: str) -> Relation:
    """The rows of `left` for as long as they have a partner; pieces of one row do not overlap."""
    met = _met("JOIN", left, right, on, {})
    piece = f"greatest(`{_BEGIN}`, {_UNMET}) AS `.f`, `{_END}` AS `.t`"
    return _pieces(left, f"SELECT *, {piece} FROM ({_reaching(met, left, right)})")


def optional(left: Relation, right: Relation, on: str) -> Relation:
    """Both sides for as long as they hold together, and the left one alone for as long as it has no partner."""
    columns = {v: read for v, read in joins.merged(left, right).items() if v not in (FROM, TO)}
    together = {v: f".with:{v}" for v in columns if columns[v] != sql.column("l", v)}
    met = _met("LEFT JOIN", left, right, on, {together[v]: columns[v] for v in together})
    both = [sql.alias(sql.name(together.get(v, v)), v) for v in columns]
    alone = [sql.alias(sql.name(v) if v in left.vars else nothing(v), v) for v in columns]
    rows = [_struct(both, f"`{_BEGIN}`", f"`{_END}`"), *(_struct(alone, *gap) for gap in _GAPS)]
    text = f"SELECT inline(array({', '.join(rows)})) FROM ({_reaching(met, left, right)})"
    return _pieces(Relation("", (*columns, FROM, TO), left.certain | {FROM, TO}), text)


def distinct(relation: Relation) -> Relation:
    """Each solution once at a time: a copy counts from where the earlier ones end."""
    by = [sql.name(v) for v in relation.vars if v not in (FROM, TO)]
    over = f"({_partition(by)}ORDER BY `{FROM}` ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING)"
    swept = f"SELECT *, max(`{TO}`) OVER {over} AS `{_REACH}` FROM ({relation.sql})"
    return _pieces(relation, f"SELECT *, greatest(`{FROM}`, {_UNMET}) AS `.f`, `{TO}` AS `.t` FROM ({swept})")


_GAPS = (
    (_UNMET, f"`{_BEGIN}`"),
    (f"CASE WHEN `{_LAST}` THEN coalesce(greatest(`{_REACH}`, `{_END}`), `{FROM}`) END", f"`{TO}`"),
)


def _gaps() -> list[str]:
    """Before the partner, if the earlier ones do not reach so far, and after the last."""
    return [_struct([], *gap) for gap in _GAPS]


def _struct(items: list[str], begin: str, end: str) -> str:
    return f"struct({', '.join([*items, f'{begin} AS `.f`', f'{end} AS `.t`'])})"


def _met(kind: str, left: Relation, right: Relation, on: str, further: dict[str, str]) -> str:
    """Each row with each of its partners, and when they hold together."""
    numbered = f"SELECT *, monotonically_increasing_id() AS `{_ROW}` FROM ({left.sql})"
    both = {_BEGIN: sql.call("greatest", f"l.`{FROM}`", f"r.`{FROM}`"), _END: f"least(l.`{TO}`, r.`{TO}`)"}
    times = [sql.alias(sql.when(f"r.`{FROM}` IS NOT NULL", when), name) for name, when in both.items()]
    own = [sql.column("l", c) for c in (*left.columns, _ROW)]
    items = [*own, *times, *(sql.alias(read, name) for name, read in further.items())]
    return f"SELECT {', '.join(items)} FROM ({numbered}) l {kind} ({right.sql}) r ON {on}"


def _reaching(met: str, left: Relation, right: Relation) -> str:
    """How far the earlier partners reach. With what the join was hashed by nothing is shuffled again; the number of the
    row comes first, since it is sorted faster than terms."""
    keys = [v for v in joins.shared(left, right) if v in left.certain and v in right.certain]
    over = f"{_partition([f'`{_ROW}`', *map(sql.name, keys)])}ORDER BY `{_BEGIN}`"
    reach = f"max(`{_END}`) OVER ({over} ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS `{_REACH}`"
    return f"SELECT *, {reach}, lead(`{_ROW}`) OVER ({over}) IS NULL AS `{_LAST}` FROM ({met})"


def _partition(by: list[str]) -> str:
    return f"PARTITION BY {', '.join(by)} " if by else ""


def _pieces(relation: Relation, text: str) -> Relation:
    """The relation, with new bounds from the columns `.f` and `.t`; a piece that is empty is none."""
    bounds = {FROM: "`.f`", TO: "`.t`"}
    items = [sql.alias(bounds[c], c) if c in bounds else sql.name(c) for c in relation.columns]
    return replace(relation, sql=f"SELECT {', '.join(items)} FROM ({text}) t WHERE `.f` < `.t`")
