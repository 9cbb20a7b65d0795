"""OPTIONAL: https://www.w3.org/TR/sparql11-query/#sparqlOptional, also of complex events."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from penstock.algebra import ops
from penstock.algebra.expressions import Expr
from penstock.compile import sql
from penstock.compile.context import Context
from penstock.compile.expressions.expressions import Scope, condition, needs_row
from penstock.compile.operators import exists, interval_operators, joins
from penstock.compile.operators.compile_operator import compile_op, compiles, with_outer, with_row
from penstock.compile.physical.nodes import IntervalLeftJoin
from penstock.compile.relation import Relation, select

Order = Callable[[Relation, Relation], list[sql.Expr]]


@compiles(ops.LeftJoin)
def _left_join(op: ops.LeftJoin, context: Context) -> Relation:
    return optional(op.left, op.right, op.condition, joins.partner_has_ended, context)


@compiles(IntervalLeftJoin)
def _interval_left_join(op: IntervalLeftJoin, context: Context) -> Relation:
    return optional_on_intervals(op.left, op.right, op.condition, joins.partner_has_ended, context)


def optional(left_op: ops.Op, right_op: ops.Op, test: Expr | None, order: Order, context: Context) -> Relation:
    """Return the joined rows where the sides are in order and the condition holds, and the left rows without a
    partner, instant by instant."""
    left, right = interval_operators.at_instants(*_sides(left_op, right_op, context), context)
    if test is not None:
        left = with_outer(left, (test,), context)
        if exists.found_in(test) or needs_row(test) or _on(test, left, right, context).calls_arrow:
            return _optional_by_parts(left, right, test, order, context)  # Spark joins on none of these
    return joins.left_join(*_conditioned(left, right, test, order, context))


def optional_on_intervals(
    left_op: ops.Op, right_op: ops.Op, test: Expr | None, order: Order, context: Context
) -> Relation:
    """Return the same rows on validity intervals."""
    left, right = interval_operators.on_intervals(*_sides(left_op, right_op, context), context)
    left = left if test is None else with_outer(left, (test,), context)
    return interval_operators.optional(*_conditioned(left, right, test, order, context))


def _sides(left: ops.Op, right: ops.Op, context: Context) -> tuple[Relation, Relation]:
    return compile_op(left, context).plain(), compile_op(right, context).plain()


def _on(test: Expr, left: Relation, right: Relation, context: Context) -> sql.Expr:
    return condition(test, Scope(joins.merged(left, right), context.plan.base, context.plan.now))


def _conditioned(
    left: Relation, right: Relation, test: Expr | None, order: Order, context: Context
) -> tuple[Relation, Relation, sql.Expr]:
    on = None if test is None else _on(test, left, right, context)
    return joins.on_condition(left, right, on, order(left, right))


def _optional_by_parts(left: Relation, right: Relation, test: Expr, order: Order, context: Context) -> Relation:
    """Return the left join as a join and an anti-join, where a join condition cannot have EXISTS or an Arrow function.

    A partner may bind a variable that the left side leaves unbound, so the join keeps the values of the left side. An
    EXISTS may hold at some instants of a row only, so there is a row for each instant.
    """
    left = context.plan.materialise_volatile(context.pointwise(left))
    had = {v: context.plan.fresh(".had") for v in left.vars}
    copies = [sql.alias(sql.name(v), copy) for v, copy in had.items()]
    copied = replace(left, sql=select([*map(sql.name, left.vars), *copies], left.sql), vars=(*left.vars, *had.values()))
    joined = joins.join(copied, right, order=order(left, right))
    partners = exists.filtered(with_row(joined, (test,), context), test, context)
    left = context.expand(left, partners.keys)
    alike = ((v, had.get(v, v)) for v in left.vars if v in partners.vars)
    same = sql.all_of(sql.column("l", v).same(sql.column("r", copy)) for v, copy in alike)
    both = joins.union(partners, joins.semi(left, partners, same, anti=True))
    vars = tuple(v for v in both.vars if v not in had.values())
    return replace(both, sql=select(map(sql.name, vars), both.sql), vars=vars)
