"""Joins of relations on compatible solutions: https://www.w3.org/TR/sparql11-query/#defn_algCompatibleMapping.

Variables that both sides always bind are plain equi-join keys; only one that may be unbound costs an OR. Rows with
validity intervals join where these overlap, and the result holds in the overlap; the latest timestamp wins. The
occurrence time of a joined row runs from the first start to the last end.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from penstock.compile import notes, sql
from penstock.compile.cardinality import join_cardinality, union_cardinality
from penstock.compile.operators.physical import time_buckets
from penstock.compile.operators.physical.join_algorithm import SHUFFLED_HASH_JOIN
from penstock.compile.relation import ENDS, FROM, INSTANT, STARTS, TO, Relation, is_time, nothing, shared_variables
from penstock.compile.sql import Column, Derived, Expr, Hint, Join, Select, lets_in, rewritten
from penstock.model.span import Span
from penstock.tuning import DEFAULT, Tuning

if TYPE_CHECKING:
    from penstock.compile.context import Context


def align_for_join(left: Relation, right: Relation, context: Context) -> tuple[Relation, Relation]:
    """Return both sides in the form that a join takes.

    An instant is compared with an interval only where shared variables reduce the pairs.
    """
    left, right = left.plain(), right.plain()
    if INSTANT in left.keys ^ right.keys and not shared_variables(left, right):
        return context.pointwise(left), context.pointwise(right)
    return left, right


def compatible(left: Relation, right: Relation) -> Expr:
    """Return the join condition, with the sides named l and r."""
    return sql.all_of([*(_agree(v, left, right) for v in shared_variables(left, right)), *_overlap(left, right)])


def _overlap(left: Relation, right: Relation) -> list[Expr]:
    """Return the conditions on time: intervals overlap, or the instant of one side lies in the interval of the
    other."""
    column = sql.column
    if left.timed and right.timed:
        return [column("l", FROM) < column("r", TO), column("r", FROM) < column("l", TO)]
    for one, other, a, b in ((left, right, "l", "r"), (right, left, "r", "l")):
        if one.timed and INSTANT in other.keys:
            return [column(a, FROM) <= column(b, INSTANT), column(b, INSTANT) < column(a, TO)]
    return []


def _agree(var: str, left: Relation, right: Relation) -> Expr:
    here, there = sql.column("l", var), sql.column("r", var)
    unbound = [side.is_null() for side, relation in ((here, left), (there, right)) if var not in relation.certain]
    return sql.any_of([here.eq(there), *unbound])


def merged(left: Relation, right: Relation) -> dict[str, Expr]:
    """Return the expression of each variable of the joined solution."""
    columns: dict[str, Expr] = {v: sql.column("l", v) for v in left.vars}
    for var in right.vars:
        r = sql.column("r", var)
        if var not in columns:
            columns[var] = r
        elif is_time(var):
            columns[var] = sql.call("least" if var in (TO, STARTS) else "greatest", columns[var], r)
        elif var not in left.certain:
            columns[var] = sql.coalesce(columns[var], r)
    if INSTANT in columns:
        columns = {v: c for v, c in columns.items() if v not in (FROM, TO)}
    return columns


def sides(left: Relation, right: Relation, on: Expr, kind: str = "JOIN") -> Join:
    """Return the join of two relations, with the aliases l and r."""
    return Join(Derived(left.sql, "l"), Derived(right.sql, "r"), on, kind)


def _joined(joined: Join, columns: dict[str, Expr], certain: frozenset[str], hint: Hint | None = None) -> Relation:
    items = [sql.alias(expression, var) for var, expression in columns.items()]
    query = Select(items, joined, hints=() if hint is None else (hint,))
    return Relation(query, tuple(columns), certain & set(columns))


def join(
    left: Relation,
    right: Relation,
    hint: Hint | None = None,
    span: Span | None = None,
    order: Sequence[Expr] = (),
    tuning: Tuning = DEFAULT,
) -> Relation:
    """Return the inner join of two relations.

    `hint` is the join algorithm, from `choose_join_algorithm`. With the span of instants, rows with validity intervals
    may be joined in time buckets. `order` has conditions on the occurrence times of the sides.
    """
    on, certain = sql.all_of([*order, compatible(left, right)]), left.certain | right.certain
    cardinality = join_cardinality(left.cardinality, right.cardinality, span)
    chosen = time_buckets.choose(left, right, span, tuning)
    if chosen is not None:
        notes.note(f"{_on_variables(left, right)}in buckets of {notes.about(chosen.width)}")
        left, right, hint = chosen.spread(left), chosen.spread(right), SHUFFLED_HASH_JOIN
        on = chosen.meeting() & on
    return replace(_joined(sides(left, right, on), merged(left, right), certain, hint), cardinality=cardinality)


def _on_variables(left: Relation, right: Relation) -> str:
    """Return the join variables as text for `explain`."""
    names = [f"?{v}" for v in shared_variables(left, right) if not v.startswith(".")]
    return f"on {' '.join(names)}: " if names else ""


def left_join(left: Relation, right: Relation, on: Expr) -> Relation:
    return _joined(sides(left, right, on, "LEFT JOIN"), merged(left, right), left.certain)


def partner_has_ended(left: Relation, right: Relation) -> list[Expr]:
    """Return the condition that a partner has ended when the row of the left side ends.

    A later element neither completes a row nor removes it.
    """
    if ENDS not in left.vars or ENDS not in right.vars:
        return []
    return [sql.coalesce(sql.column("r", ENDS) <= sql.column("l", ENDS), sql.TRUE)]


def on_condition(
    left: Relation, right: Relation, condition: Expr | None, order: Sequence[Expr]
) -> tuple[Relation, Relation, Expr]:
    """Return the sides and the condition of a join: compatible, in order, and with a condition on both sides true."""
    on = sql.all_of([*order, compatible(left, right)]) if order else compatible(left, right)
    if condition is None:
        return left, right, on
    for side in "lr":
        condition, names = _of_side(side, condition)
        left, right = (_with_columns(left, names), right) if side == "l" else (left, _with_columns(right, names))
    return left, right, on & condition


def _of_side(side: str, condition: Expr) -> tuple[Expr, dict[str, Expr]]:
    """Replace expressions on one side alone by columns of that side; return the condition and these columns."""
    own = [let for let in dict.fromkeys(lets_in(condition)) if let.sides == {side}]
    names = {let: f".on{side}{number}" for number, let in enumerate(own)}
    changed = rewritten(
        condition, lambda e: sql.column(side, names[e]) if isinstance(e, sql.Let) and e in names else None
    )
    return changed, {name: let.expr for let, name in names.items()}


def _with_columns(relation: Relation, names: dict[str, Expr]) -> Relation:
    """Return the relation with further columns, which only the join condition reads."""
    if not names:
        return relation
    own = [sql.alias(rewritten(expr, _without_side), name) for name, expr in names.items()]
    return replace(relation, sql=Select([sql.STAR, *own], relation.sql))


def _without_side(expr: Expr) -> Expr | None:
    return sql.name(expr.name) if isinstance(expr, Column) else None


def semi(left: Relation, right: Relation, on: Expr, anti: bool = False) -> Relation:
    """Return the semi-join: the rows of `left` that have a partner. With `anti`, the anti-join."""
    items = [sql.column("l", c) for c in left.columns]
    query = Select(items, sides(left, right, on, "LEFT ANTI JOIN" if anti else "LEFT SEMI JOIN"))
    return Relation(query, left.vars, left.certain, left.order, left.row)


def partners(left: Relation, right: Relation) -> Expr:
    """Return the condition of a semi-join: compatible, and the partner has ended."""
    return sql.all_of([*partner_has_ended(left, right), compatible(left, right)])


def excluding(left: Relation, right: Relation, common: list[str]) -> Expr:
    """Return the condition of MINUS: compatible, and equal in at least one variable that both sides bind.

    `common` has the variables that both patterns name; key columns are none of them.
    """
    on = partners(left, right)
    if any(v in left.certain and v in right.certain for v in common):
        return on
    return on & sql.any_of(sql.column("l", v).not_null() & sql.column("r", v).not_null() for v in common)


def same(left: Relation, vars: tuple[str, ...]) -> Expr:
    """Return the equality of l and r in these variables, where unbound equals unbound."""
    pairs = ((sql.column("l", v), sql.column("r", v), v in left.certain) for v in vars)
    return sql.all_of(one.eq(other) if certain else one.same(other) for one, other, certain in pairs)


def union(left: Relation, right: Relation) -> Relation:
    """Return the union of two relations as bags. A side without validity intervals gets unbounded ones."""
    vars = left.vars + tuple(v for v in right.vars if v not in left.vars)
    bounds = {FROM, TO} & set(vars)
    both = sql.union_all(Select(_padded(side, vars), side.sql) for side in (left, right))
    cardinality = union_cardinality(left.cardinality, right.cardinality)
    return Relation(both, vars, left.certain & right.certain | bounds, cardinality=cardinality)


def _padded(relation: Relation, vars: tuple[str, ...]) -> list[Expr]:
    return [sql.name(v) if v in relation.vars else sql.alias(nothing(v), v) for v in vars]
