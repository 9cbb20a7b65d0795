"""EXISTS: https://www.w3.org/TR/sparql11-query/#func-filter-exists.

Mostly a semi-join, also if a filter around the pattern inside reads an outer variable: then it is tested on pairs.
Substituting the outer solution means more than joining with it if a filter deeper inside reads an outer variable, or an
OPTIONAL inside depends on it. Only then are the outer values key columns of the inner pattern: each distinct
combination once, whatever the number of outer solutions.
"""

from __future__ import annotations

from dataclasses import replace

from penstock.algebra import ops
from penstock.algebra.expressions import Call, Exists, Expr, Var
from penstock.algebra.scope import conjuncts, exists_in, substituted
from penstock.algebra.substitute import rename
from penstock.compile import sql
from penstock.compile.context import Context
from penstock.compile.expressions.expressions import Scope, condition
from penstock.compile.key_domain import Universe
from penstock.compile.operators import interval_operators, joins
from penstock.compile.operators.compile_operator import compile_op, scope, with_outer
from penstock.compile.physical.exists_algorithm import correlated_filter, is_semi_join
from penstock.compile.relation import ENDS, KEY, Relation, is_parameter, select, shared_variables
from penstock.compile.sql import Select

Marks = dict[Exists, sql.Expr]


def found_in(expr: Expr) -> bool:
    return bool(exists_in(expr))


def filtered(relation: Relation, test: Expr, context: Context) -> Relation:
    """Return the rows on which the condition is true."""
    parts = conjuncts(test)
    plain = [p for p in parts if not found_in(p)]
    if plain:
        relation = _where(relation, tuple(plain), {}, context)
    for part in parts:
        match part:
            case Exists(pattern):
                relation = _semi(relation, pattern, context, anti=False)
            case Call("!", (Exists(pattern),)):
                relation = _semi(relation, pattern, context, anti=True)
            case _ if found_in(part):
                relation = _where_marked(relation, part, context)
    return relation


def _where(relation: Relation, parts: tuple[Expr, ...], marks: Marks, context: Context) -> Relation:
    around = scope(relation, context, marks)
    return relation.where(sql.all_of(condition(part, around) for part in parts))


def _where_marked(relation: Relation, part: Expr, context: Context) -> Relation:
    with_marks, marks = marked(relation, part, context)
    return _where(with_marks, (part,), marks, context)


def marked(relation: Relation, expr: Expr, context: Context) -> tuple[Relation, Marks]:
    """Return the relation with a boolean column for each EXISTS of the expression, outside of its variables.

    It may have further keys, and then as many more rows.
    """
    return marked_all(relation, (expr,), context)


def marked_all(relation: Relation, exprs: tuple[Expr, ...], context: Context) -> tuple[Relation, Marks]:
    columns: dict[Exists, str] = {}
    for exists in dict.fromkeys(e for expr in exprs for e in exists_in(expr)):
        mark = context.plan.fresh(".mark")
        relation = _mark(relation, exists.pattern, mark, tuple(columns.values()), context)
        columns[exists] = mark
    return relation, {exists: sql.name(mark) for exists, mark in columns.items()}


def _mark(relation: Relation, pattern: ops.Op, mark: str, before: tuple[str, ...], context: Context) -> Relation:
    """Add the boolean of one EXISTS, decided once for every distinct combination of the values that it depends on.

    `before` has the booleans so far.
    """
    if not before:
        relation = context.expand(relation, frozenset(k for u in context.universes for k in u.keys))
        relation = context.plan.materialise_volatile(relation)
    names = tuple(v for v in relation.vars if v in _read_by(pattern) or v in relation.keys or v == ENDS)
    source = Select(map(sql.name, names), relation.sql, distinct=True)
    domain = Relation(source, names, relation.certain & set(names))
    holds = _semi(domain, pattern, context, anti=False)
    flagged = select([*map(sql.name, names), sql.alias(sql.TRUE, mark)], holds.sql)
    columns = (sql.column("l", c) for c in (*relation.columns, *before))
    items = [*columns, sql.alias(sql.column("r", mark).not_null(), mark)]
    joined = joins.sides(relation, replace(holds, sql=flagged), joins.same(relation, names), "LEFT JOIN")
    return replace(relation, sql=Select(items, joined))


def _semi(relation: Relation, pattern: ops.Op, context: Context, anti: bool) -> Relation:
    outer = frozenset(Var(v) for v in relation.vars if not is_parameter(v))
    if is_semi_join(pattern, outer):
        return _semi_join(relation, compile_op(pattern, context).plain(), context, anti)
    if (correlated := correlated_filter(pattern, outer)) is not None:
        joined = _semi_join_on(relation, *correlated, context, anti)
        if joined is not None:
            return joined
    relation = context.plan.materialise_volatile(relation)
    unsure = [v for v in relation.vars if v in _read_by(pattern) and v not in relation.certain]
    if unsure:
        return _split(relation, unsure[0], pattern, context, anti)
    return _substituted(relation, pattern, context, anti)


def _semi_join(left: Relation, right: Relation, context: Context, anti: bool) -> Relation:
    """Return the semi-join: on validity intervals if both sides have them, else instant by instant."""
    intervals = left.timed and right.timed
    align, semi = (
        (interval_operators.on_intervals, interval_operators.semi)
        if intervals
        else (interval_operators.at_instants, joins.semi)
    )
    left, right = align(left, right, context)
    return semi(left, right, joins.partners(left, right), anti)


def _semi_join_on(relation: Relation, test: Expr, pattern: ops.Op, context: Context, anti: bool) -> Relation | None:
    """Return the semi-join whose pairs meet a condition, instant by instant; None if Spark has no join with it."""
    right = compile_op(pattern, context).plain()
    left, right = interval_operators.at_instants(with_outer(relation, (test,), context), right, context)
    on = condition(test, Scope(joins.merged(left, right), context.plan.base, context.plan.now))
    if on.calls_arrow:
        return None
    return joins.semi(*joins.on_condition(left, right, on, joins.partner_has_ended(left, right)), anti)


def _split(relation: Relation, var: str, pattern: ops.Op, context: Context, anti: bool) -> Relation:
    """Return the union of both cases: a variable that is bound is substituted, one that is unbound is not."""
    name = sql.name(var)
    relation = relation.plain()
    bound = replace(relation.where(name.not_null()), certain=relation.certain | {var})
    others = tuple(v for v in relation.vars if v != var)
    unbound = Relation(select(map(sql.name, others), relation.sql, name.is_null()), others, relation.certain)
    parts = [_semi(part, pattern, context, anti) for part in (bound, unbound)]
    keys = frozenset().union(*(part.keys for part in parts))
    return joins.union(*(context.expand(part, keys) for part in parts))


def _substituted(relation: Relation, pattern: ops.Op, context: Context, anti: bool) -> Relation:
    outer = [v for v in relation.vars if v in _read_by(pattern)]
    keys = {v: context.plan.fresh(KEY) for v in outer}
    values = Select([sql.alias(sql.name(v), key) for v, key in keys.items()], relation.sql, distinct=True)
    inner = context.with_universe(Universe(tuple(keys.values()), values))
    right = _compile(rename(pattern, {Var(v): Var(key) for v, key in keys.items()}), inner)
    interval_operators.check_ends(relation, right, context)
    relation = context.expand(relation, right.keys - set(keys.values()))
    agree = [sql.column("l", v).eq(sql.column("r", key)) for v, key in keys.items() if key in right.vars]
    around = [joins.compatible(relation, right)] if shared_variables(relation, right) else []
    return joins.semi(relation, right, sql.all_of([*agree, *around, *joins.partner_has_ended(relation, right)]), anti)


def _compile(pattern: ops.Op, context: Context) -> Relation:
    return context.pointwise(compile_op(pattern, context).plain())


def _read_by(pattern: ops.Op) -> frozenset[str]:
    """Return the variables of the outer solution that the pattern reads.

    A parameter is none of them: it has the same value inside, for the same member.
    """
    return frozenset(v.name for v in substituted(pattern) if not v.parameter)
