"""The physical plan of joins, sequences, OPTIONAL, MINUS, grouping and solution modifiers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TypeVar

from penstock.algebra import ops
from penstock.algebra.expressions import Call, Expr
from penstock.algebra.ops import Op
from penstock.algebra.scope import conjuncts, exists_in, expressions_of, references, visible
from penstock.compile import sql
from penstock.compile.expressions import timestamps
from penstock.compile.expressions.expressions import Scope, asks_now, condition, needs_row
from penstock.compile.physical import sequences
from penstock.compile.physical.facts import Facts, TimeDomain, joined, pointwise, semi_joined, union
from penstock.compile.physical.nodes import (
    IntervalDistinct,
    IntervalEqualsOptional,
    IntervalLeftJoin,
    IntervalMinus,
    IntervalOptionalSeq,
    RunningCounts,
)
from penstock.compile.physical.plan_exists import filtered, read_by
from penstock.compile.physical.plan_operator import Planned, Planner, Surroundings, plans
from penstock.compile.physical.plan_patterns import planned_join
from penstock.compile.physical.semijoin_reduction import from_sibling, narrowed_by, projected
from penstock.compile.relation import is_key

Optional = ops.LeftJoin | ops.OptionalSeq | ops.EqualsOptional
Joined = TypeVar("Joined", ops.Join, ops.Seq, ops.Equals, ops.Union, ops.Minus)
_INTERVALS = "interval_operators"


@plans(ops.Join)
def _join(op: ops.Join, at: Surroundings, planner: Planner) -> Planned:
    """Plan a static view first: the terms of the rows that it looks up reduce the other side."""
    swapped = isinstance(op.right, ops.StaticView)
    first, second = (op.right, op.left) if swapped else (op.left, op.right)
    one = planner.plan(first, at.knowing(from_sibling(second, at.context, at.known)))
    other = planner.plan(second, at.knowing(narrowed_by(one.facts, from_sibling(first, at.context, at.known))))
    left, right = (other, one) if swapped else (one, other)
    join = planned_join(ops.Join(left.op, right.op), left.facts, right.facts, at, planner)
    return Planned(join, joined(left.facts, right.facts, at.context.known_span))


def _sides(op: Joined, at: Surroundings, planner: Planner) -> tuple[Joined, Facts, Facts]:
    """Return the operator with both operands planned, and their facts."""
    left, right = planner.operand(op.left, at), planner.operand(op.right, at)
    return replace(op, left=left.op, right=right.op), left.facts, right.facts


@plans(ops.Seq)
def _sequence(op: ops.Seq, at: Surroundings, planner: Planner) -> Planned:
    within = planner.sequences.get(op)
    if within is not None and "sequence_tasks" in planner.choices:
        tasks = sequences.by_tasks(op, within, at.context)
        if tasks is not None:
            return Planned(tasks, Facts(frozenset(var.name for var in visible(op)), occurs=True))
    sequence, left, right = _sides(op, at, planner)
    span, bounded = at.context.known_span, left.occurs and right.occurs and "sequence_buckets" in planner.choices
    if within is None or span is None or not bounded:
        return Planned(sequence, joined(left, right))
    return Planned(*sequences.by_buckets(sequence, left, right, within, span, at.context.plan.tuning))


@plans(ops.Equals)
def _equals(op: ops.Equals, at: Surroundings, planner: Planner) -> Planned:
    equals, left, right = _sides(op, at, planner)
    return Planned(equals, joined(left, right))


@plans(ops.Union)
def _union(op: ops.Union, at: Surroundings, planner: Planner) -> Planned:
    both, left, right = _sides(op, at, planner)
    return Planned(both, union(left, right))


@plans(ops.Minus)
def _minus(op: ops.Minus, at: Surroundings, planner: Planner) -> Planned:
    minus, left, right = _sides(op, at, planner)
    on_intervals = _both_have_intervals(left, right, planner)
    facts = semi_joined(left, right.domain, on_intervals)
    return Planned(IntervalMinus(minus.left, minus.right) if on_intervals else minus, facts)


def _both_have_intervals(left: Facts, right: Facts, planner: Planner) -> bool:
    return left.has_intervals and right.has_intervals and _INTERVALS in planner.choices


# OPTIONAL


@plans(ops.LeftJoin)
def _left_join(op: ops.LeftJoin, at: Surroundings, planner: Planner) -> Planned:
    return _optional(op, at, planner, lambda o: IntervalLeftJoin(o.condition, o.left, o.right))


@plans(ops.EqualsOptional)
def _equals_optional(op: ops.EqualsOptional, at: Surroundings, planner: Planner) -> Planned:
    return _optional(op, at, planner, lambda o: IntervalEqualsOptional(o.left, o.right, o.condition))


@plans(ops.OptionalSeq)
def _optional_seq(op: ops.OptionalSeq, at: Surroundings, planner: Planner) -> Planned:
    return _optional(op, at, planner, lambda o: IntervalOptionalSeq(o.left, o.right, o.condition))


def _optional(
    op: Optional, at: Surroundings, planner: Planner, on_intervals: Callable[[Optional], Optional]
) -> Planned:
    """Plan an operator with an optional side: of OPTIONALSEQ the left one, of the others the right one."""
    sides = planner.operand(op.left, at), planner.operand(op.right, at)
    needed, other = (side.facts for side in (sides[::-1] if isinstance(op, ops.OptionalSeq) else sides))
    changed, exists = planner.exists(replace(op, left=sides[0].op, right=sides[1].op), at)
    assert isinstance(changed, Optional)
    by_parts = op.condition is not None and _splits(op, op.condition, at)
    if _both_have_intervals(needed, other, planner) and not by_parts and not _asks_now(op):
        return Planned(on_intervals(changed), joined(needed, other).sized(None))
    facts = joined(needed, other).sized(None)
    if other.domain is not TimeDomain.ALWAYS or by_parts:
        facts = pointwise(facts)
    if op.condition is not None:
        facts = filtered(facts, op.condition, exists, visible(op) | at.outer, at.context)
    return Planned(changed, facts)


def _asks_now(op: Op) -> bool:
    return any(map(asks_now, expressions_of(op)))


def _splits(op: Op, test: Expr, at: Surroundings) -> bool:
    """Whether the left join is a union of a join and an anti-join: EXISTS, a new blank node for each row, and Arrow
    functions cannot be in a join condition."""
    if exists_in(test) or needs_row(test):
        return True
    columns: dict[str, sql.Expr] = {var.name: sql.name(var.name) for var in visible(op)}
    return condition(test, Scope(columns, at.context.plan.base, at.context.plan.now)).calls_arrow


# One operand


@plans(ops.Filter)
def _filter(op: ops.Filter, at: Surroundings, planner: Planner) -> Planned:
    equates = at.joined_by_filter or any(map(_is_equality, conjuncts(op.condition)))
    inside = planner.operand(op.pattern, replace(at, joined_by_filter=equates))
    changed, exists = planner.exists(replace(op, pattern=inside.op), at)
    around = visible(op.pattern) | at.outer
    return Planned(changed, filtered(inside.facts, op.condition, exists, around, at.context))


def _is_equality(part: Expr) -> bool:
    return isinstance(part, Call) and part.name in ("=", "SAMETERM") and all(map(references, part.args))


def _with_values(op: Op, at: Surroundings, planner: Planner) -> Planned:
    """Plan an operator whose expressions are computed for each row of its operand."""
    (operand,) = op.children
    inside = planner.operand(operand, at)
    changed, exists = planner.exists(op.with_children((inside.op,)), at)
    return Planned(changed, read_by(inside.facts, expressions_of(op), exists, at.context))


@plans(ops.Extend)
def _extend(op: ops.Extend, at: Surroundings, planner: Planner) -> Planned:
    planned = _with_values(op, at, planner)
    return Planned(planned.op, planned.facts.binding(op.var))


@plans(ops.OrderBy)
def _order_by(op: ops.OrderBy, at: Surroundings, planner: Planner) -> Planned:
    planned = _with_values(op, at, planner)
    return Planned(planned.op, replace(planned.facts, ordered=True))


@plans(ops.Annotate)
def _annotate(op: ops.Annotate, at: Surroundings, planner: Planner) -> Planned:
    planned = _with_values(op, at, planner)
    return Planned(planned.op, replace(pointwise(planned.facts), ordered=False).binding(op.var))


@plans(ops.Group)
def _group(op: ops.Group, at: Surroundings, planner: Planner) -> Planned:
    planned = _with_values(op, at, planner)
    changed, rows = planned.op, planned.facts
    assert isinstance(changed, ops.Group)
    names = {var.name for var in (*op.keys, *(var for var, _ in op.aggregates))} | set(filter(is_key, rows.vars))
    facts = Facts(frozenset(names), rows.domain, occurs=rows.occurs)
    if rows.has_intervals and not rows.occurs and _only_counts(op) and "running_counts" in planner.choices:
        running = RunningCounts(changed.keys, changed.aggregates, changed.pattern)
        return Planned(running, facts if op.keys else pointwise(facts))
    return Planned(changed, pointwise(facts))


def _only_counts(op: ops.Group) -> bool:
    return all(aggregate.name == "COUNT" and not aggregate.distinct for _, aggregate in op.aggregates)


@plans(ops.Project)
def _project(op: ops.Project, at: Surroundings, planner: Planner) -> Planned:
    inside = planner.plan(op.pattern, at.knowing(projected(op.vars, at.known)))
    facts, names = inside.facts, {var.name for var in op.vars if not var.parameter}
    stamps = facts.stamps & names if _stamps_are_read(op, planner) else frozenset()
    changed = replace(
        facts,
        vars=frozenset(names | set(filter(is_key, facts.vars))),
        stamps=stamps,
        occurs=facts.occurs and op != planner.outer_projection,
        looked_up_terms={name: terms for name, terms in facts.looked_up_terms.items() if name in names},
    )
    return Planned(replace(op, pattern=inside.op), changed)


def _stamps_are_read(op: ops.Project, planner: Planner) -> bool:
    """Whether an operator above the projection calls TIMESTAMP()."""
    return timestamps.calls(op.pattern) < planner.timestamp_calls


@plans(ops.Distinct)
def _distinct(op: ops.Distinct, at: Surroundings, planner: Planner) -> Planned:
    inside = planner.operand(op.pattern, at)
    facts = inside.facts
    if facts.has_intervals and not facts.ordered and not facts.stamps and _INTERVALS in planner.choices:
        return Planned(IntervalDistinct(inside.op), facts)
    return Planned(ops.Distinct(inside.op), pointwise(facts))


@plans(ops.Reduced)
def _reduced(op: ops.Reduced, at: Surroundings, planner: Planner) -> Planned:
    inside = planner.operand(op.pattern, at)
    return Planned(ops.Reduced(inside.op), inside.facts)


@plans(ops.Slice)
def _slice(op: ops.Slice, at: Surroundings, planner: Planner) -> Planned:
    inside = planner.operand(op.pattern, at)
    return Planned(replace(op, pattern=inside.op), pointwise(inside.facts))
