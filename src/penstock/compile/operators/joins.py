"""Joins of relations on compatible solutions: https://www.w3.org/TR/sparql11-query/#defn_algCompatibleMapping.

Variables that both sides always bind are plain equi-join keys; only one that may be unbound costs an OR. Rows with
validity intervals join where these overlap, and the result holds in the overlap; the latest timestamp wins. The
occurrence time of a joined row runs from the first start to the last end.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Protocol

from penstock.compile import sql
from penstock.compile.operators.time_buckets import Buckets
from penstock.compile.relation import ENDS, FROM, INSTANT, STARTS, TO, Relation, is_time, nothing, shared_variables
from penstock.compile.sql import Column, Derived, Expr, Hint, Join, Query, Select, lets_in, rewritten

if TYPE_CHECKING:
    from penstock.compile.context import Context


HASH_RIGHT: Hint = ("SHUFFLE_HASH", ("r",))


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


def join(left: Relation, right: Relation, hint: Hint | None = None, order: Sequence[Expr] = ()) -> Relation:
    """Return the inner join of two relations.

    `hint` names the join algorithm to Spark. `order` has conditions on the occurrence times of the sides.
    """
    on = sql.all_of([*order, compatible(left, right)])
    return _joined(sides(left, right, on), merged(left, right), left.certain | right.certain, hint)


def join_in_buckets(left: Relation, right: Relation, buckets: Buckets) -> Relation:
    """Return the inner join of two relations with validity intervals, in buckets of time."""
    assert left.timed
    assert right.timed
    on = buckets.meeting() & compatible(left, right)
    joined = sides(buckets.spread(left), buckets.spread(right), on)
    return _joined(joined, merged(left, right), left.certain | right.certain, HASH_RIGHT)


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


def conditioned(relation: Relation, condition: Expr, prefix: str, implied: Sequence[Expr] = ()) -> Relation | None:
    """Return the rows of a join that meet a condition, with the condition as part of the join; None if the relation is
    no inner join.

    Expressions on one side alone are computed once for each row of that side, not for each pair: they are columns
    whose names begin with `prefix`. A join compares columns before it makes a pair of rows, so comparisons of both
    sides that the condition has `implied` are part of the join as well.
    """
    query = relation.sql
    if not isinstance(query, Select) or query.where is not None or query.is_cut or query.distinct or query.group:
        return None
    joined = query.source
    if not isinstance(joined, Join) or joined.kind != "JOIN" or joined.on is None:
        return None
    if not isinstance(joined.left, Derived) or not isinstance(joined.right, Derived) or condition.volatile:
        return None
    columns = {item.name: item.args[0] if isinstance(item, sql.Alias) else item for item in query.items}  # type: ignore[attr-defined]

    def of_sides(expr: Expr) -> Expr:
        return rewritten(expr, lambda e: columns.get(e.name) if isinstance(e, Column) else None)

    on = sql.all_of([*filter(_compares_sides, map(of_sides, implied)), of_sides(condition)])
    sources = []
    for source in (joined.left, joined.right):
        on, names = _of_side(source.alias, on, prefix)
        sources.append(Derived(_extended(source.query, names), source.alias))
    left, right = sources
    with_condition = Join(left, right, joined.on & on)
    return replace(relation, sql=Select(query.items, with_condition, hints=query.hints))


def _compares_sides(test: Expr) -> bool:
    """Whether the test compares an expression of one side with one of the other."""
    return {arg.sides for arg in test.args} == {frozenset("l"), frozenset("r")}


def _of_side(side: str, condition: Expr, prefix: str = ".on") -> tuple[Expr, dict[str, Expr]]:
    """Replace expressions on one side alone by columns of that side; return the condition and these columns."""
    own = list(dict.fromkeys(_lets_of(condition, side)))
    names = {let: f"{prefix}{side}{number}" for number, let in enumerate(own)}
    changed = rewritten(
        condition, lambda e: sql.column(side, names[e]) if isinstance(e, sql.Let) and e in names else None
    )
    return changed, {name: let for let, name in names.items()}


def _lets_of(expr: Expr, side: str) -> Iterator[sql.Let]:
    """Return the largest shareable expressions that read one side alone, with repetitions.

    A conversion of others is computed for each pair that needs it: a number is compared as a double only where its
    partner is one.
    """
    if isinstance(expr, sql.Let) and expr.sides == {side} and not _converts(expr.expr):
        yield expr
    elif isinstance(expr, sql.Let) or any(lets_in(expr)):
        for arg in expr.args:
            yield from _lets_of(arg, side)


def _converts(expr: Expr) -> bool:
    """Whether the expression only casts other shareable ones, or takes the first of them."""
    is_conversion = isinstance(expr, sql.Cast) or (isinstance(expr, sql.Call) and expr.function == "coalesce")
    return is_conversion and all(isinstance(arg, sql.Let) or _converts(arg) for arg in expr.args)


def _with_columns(relation: Relation, names: dict[str, Expr]) -> Relation:
    """Return the relation with further columns, which only the join condition reads."""
    return replace(relation, sql=_extended(relation.sql, names))


def _extended(query: Query, names: dict[str, Expr]) -> Query:
    """Return the query with further columns, each an expression on one side of a join.

    An expression that several of them share is computed once, and so is one of rows that are copied.
    """
    if not names:
        return query
    if isinstance(query, Select) and _copies_rows(query) and isinstance(query.source, Derived):
        return Select(query.items, _extended(query.source.query, names), query.where)
    own = [sql.alias(rewritten(expr, _without_side), name) for name, expr in names.items()]
    if query.columns is None:  # a star would pass shared columns on, to another condition's columns of the same names
        return Select([sql.STAR, *own], query)
    source, items = sql.lower(query, own)
    return Select([*map(sql.name, query.columns), *items], source)


def _copies_rows(query: Select) -> bool:
    """Whether the query only repeats each row for the elements of an array, such as buckets of time."""
    match query.items:
        case (sql.Star(), sql.Alias(args=(sql.Call(function="explode"),))):
            return not (query.is_cut or query.distinct or query.group or query.hints)
    return False


def _without_side(expr: Expr) -> Expr | None:
    return sql.name(expr.name) if isinstance(expr, Column) else None


def semi(left: Relation, right: Relation, on: Expr, anti: bool = False) -> Relation:
    """Return the semi-join: the rows of `left` that have a partner. With `anti`, the anti-join."""
    items = [sql.column("l", c) for c in left.columns]
    query = Select(items, sides(left, right, on, "LEFT ANTI JOIN" if anti else "LEFT SEMI JOIN"))
    return Relation(query, left.vars, left.certain, left.order, left.row)


class Semi(Protocol):
    """A semi-join, or with `anti` an anti-join."""

    def __call__(self, left: Relation, right: Relation, on: Expr, anti: bool) -> Relation: ...


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
    return Relation(both, vars, left.certain & right.certain | bounds)


def _padded(relation: Relation, vars: tuple[str, ...]) -> list[Expr]:
    return [sql.name(v) if v in relation.vars else sql.alias(nothing(v), v) for v in vars]
