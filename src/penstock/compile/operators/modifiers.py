"""DISTINCT, LIMIT and OFFSET: https://www.w3.org/TR/sparql11-query/#solutionModifiers."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from penstock.compile import sql
from penstock.compile.relation import Ordering, Relation, is_stamp, select
from penstock.compile.sql import Expr, Select

_MOST = 2**31 - 1  # the largest sum of LIMIT and OFFSET in Spark


def distinct(relation: Relation) -> Relation:
    """Return each solution once, with its latest timestamp; an ordered solution keeps the position of its first
    copy."""
    if any(map(is_stamp, relation.vars)):
        return _stamped(relation)
    names = [sql.name(v) for v in relation.vars]
    if not relation.order or not names:
        source = Select(names, relation.sql, distinct=True, limit=None if names else 1)
        return Relation(source, relation.vars, relation.certain)
    if len(relation.order) > 1:
        return _ranked(relation, relation.vars, _RANK.eq(1))
    firsts = [_first(o) for o in relation.order]
    return replace(relation, sql=select([*names, *firsts], relation.sql, group=names), row=None)


def _stamped(relation: Relation) -> Relation:
    names = [sql.name(v) for v in relation.vars if not is_stamp(v)]
    if len(relation.order) > 1:  # then the timestamp is that of the first copy
        return _ranked(relation, [v for v in relation.vars if not is_stamp(v)], _RANK.eq(1))
    firsts = [_first(o) for o in relation.order]
    not_empty = None if names else sql.call("count", 1) > 0
    items = [sql.name(v) if not is_stamp(v) else sql.alias(sql.call("max", sql.name(v)), v) for v in relation.vars]
    return replace(relation, sql=select([*items, *firsts], relation.sql, group=names, having=not_empty), row=None)


def _first(o: Ordering) -> Expr:
    return sql.alias(sql.call("max" if o.descending else "min", sql.name(o.column)), o.column)


def part(relation: Relation, offset: int, limit: int | None) -> Relation:
    """Return LIMIT and OFFSET of the ordered solutions; of a relation with keys, for every value of the keys."""
    if relation.keys:
        upper = [] if limit is None else [offset + limit >= _RANK]
        return _ranked(relation, sorted(relation.keys), sql.all_of([offset < _RANK, *upper]))
    skipped = min(offset, _MOST)
    most = None if limit is None else min(limit, _MOST - skipped)
    columns = map(sql.name, relation.columns)
    return replace(relation, sql=select(columns, relation.sql, order=relation.reorder(), limit=most, offset=skipped))


def _ranked(relation: Relation, by: Iterable[str], test: Expr) -> Relation:
    """Return the rows whose rank among the rows with equal columns `by` passes the test."""
    names, columns = [sql.name(v) for v in by], [sql.name(c) for c in relation.columns]
    rank = sql.Over(sql.call("row_number"), names, relation.reorder() or names)
    ranked = select([*columns, sql.alias(rank, ".rank")], relation.sql)
    return replace(relation, sql=select(columns, ranked, test))


_RANK = sql.name(".rank")
