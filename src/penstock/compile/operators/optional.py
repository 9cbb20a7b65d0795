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
from penstock.compile.operators.physical.semijoin_reduction import Candidates
from penstock.compile.relation import Relation, select

Order = Callable[[Relation, Relation], list[sql.Expr]]


@compiles(ops.LeftJoin)
def _left_join(op: ops.LeftJoin, context: Context, known: Candidates) -> Relation:
    return optional(op.left, op.right, op.condition, joins.partner_has_ended, context)


def optional(left_op: ops.Op, right_op: ops.Op, test: Expr | None, order: Order, context: Context) -> Relation:
    """Return the joined rows where the sides are in order and the condition holds, and the left rows without a
    partner."""
    left, right = interval_operators.align_sides(
        compile_op(left_op, context).plain(), compile_op(right_op, context).plain(), context
    )
    if test is None:
        return _optional(left, right, None, order)
    left = with_outer(left, (test,), context)
    if exists.found_in(test) or needs_row(test):
        return _optional_by_parts(left, right, test, order, context)
    on = condition(test, Scope(joins.merged(left, right), context.plan.base, context.plan.now))
    if on.calls_arrow:  # Spark does not run Arrow functions in a join condition
        return _optional_by_parts(left, right, test, order, context)
    return _optional(left, right, on, order)


def _optional(left: Relation, right: Relation, condition: sql.Expr | None, order: Order) -> Relation:
    left, right, on = joins.on_condition(left, right, condition, order(left, right))
    return (
        interval_operators.optional(left, right, on)
        if interval_operators.both_timed(left, right)
        else joins.left_join(left, right, on)
    )


def _optional_by_parts(left: Relation, right: Relation, test: Expr, order: Order, context: Context) -> Relation:
    """Return the left join as a join and an anti-join, where a join condition cannot have EXISTS or an Arrow function.

    A partner may bind a variable that the left side leaves unbound, so the join keeps the values of the left side.
    """
    right = context.pointwise(right)
    left = context.plan.materialise_volatile(context.expand(left, right.keys))
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
