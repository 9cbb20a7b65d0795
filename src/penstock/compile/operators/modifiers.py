"""DISTINCT, LIMIT and OFFSET: https://www.w3.org/TR/sparql11-query/#solutionModifiers."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from penstock.compile import sql
from penstock.compile.relation import Ordering, Relation, is_stamp, items_or_one, select

_MOST = 2**31 - 1  # as many rows as Spark can count in LIMIT and OFFSET together


def distinct(relation: Relation) -> Relation:
    """Where the solutions are ordered, each stands where its first copy stood. The latest stamp stands for all."""
    if any(map(is_stamp, relation.vars)):
        return _stamped(relation)
    names = [sql.name(v) for v in relation.vars]
    if not relation.order or not names:
        source = f"SELECT DISTINCT {items_or_one(names)} FROM ({relation.sql})"
        return Relation(source if names else f"{source} LIMIT 1", relation.vars, relation.certain)
    if len(relation.order) > 1:
        return _ranked(relation, relation.vars, "`.rank` = 1")
    firsts = [_first(o) for o in relation.order]
    source = select([*names, *firsts], relation.sql, f"GROUP BY {', '.join(names)}")
    return replace(relation, sql=source, row=None)


def _stamped(relation: Relation) -> Relation:
    names = [sql.name(v) for v in relation.vars if not is_stamp(v)]
    if len(relation.order) > 1:  # then the stamp is that of the copy which stands first
        return _ranked(relation, [v for v in relation.vars if not is_stamp(v)], "`.rank` = 1")
    firsts = [_first(o) for o in relation.order]
    by = f"GROUP BY {', '.join(names)}" if names else "HAVING count(1) > 0"
    items = [sql.name(v) if not is_stamp(v) else sql.alias(sql.call("max", sql.name(v)), v) for v in relation.vars]
    return replace(relation, sql=select([*items, *firsts], relation.sql, by), row=None)


def _first(o: Ordering) -> str:
    return sql.alias(sql.call("max" if o.descending else "min", sql.name(o.column)), o.column)


def part(relation: Relation, offset: int, limit: int | None) -> Relation:
    """So many of the solutions, in their order; of a relation with keys, so many for every value of the keys."""
    if relation.keys:
        upper = "" if limit is None else f" AND `.rank` <= {offset + limit}"
        return _ranked(relation, sorted(relation.keys), f"`.rank` > {offset}{upper}")
    skipped = min(offset, _MOST)
    at_most = "" if limit is None else f" LIMIT {min(limit, _MOST - skipped)}"
    skip = f" OFFSET {skipped}" if skipped else ""
    return replace(
        relation, sql=select(map(sql.name, relation.columns), relation.sql, f"{relation.reorder()}{at_most}{skip}")
    )


def _ranked(relation: Relation, by: Iterable[str], test: str) -> Relation:
    """The rows whose place among those that agree in some columns, `.rank`, passes the test."""
    names = ", ".join(map(sql.name, by))
    rank = f"row_number() OVER (PARTITION BY {names} {relation.reorder() or f'ORDER BY {names}'})"
    ranked = select([*map(sql.name, relation.columns), sql.alias(rank, ".rank")], relation.sql)
    return replace(relation, sql=select(map(sql.name, relation.columns), ranked, f"WHERE {test}"))
