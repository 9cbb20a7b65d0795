"""Complex events: operators that ask when their operands occurred, and the answers that they complete.

A row occurred from the first start to the last end of the elements that made it (`.starts`, `.ends`); what comes from
the background alone has neither, and is in no order with anything. An answer is complete with its last element, and
nothing later takes it back: so it is reported once, at its end.
"""

from __future__ import annotations

from penstock.algebra import ops
from penstock.algebra.occurrence import everywhere
from penstock.algebra.scope import expressions_of
from penstock.compile import sql
from penstock.compile.context import Context
from penstock.compile.expressions.expressions import asks_now
from penstock.compile.operators import joins
from penstock.compile.operators.events import sequence_join, sequence_tasks
from penstock.compile.relation import ENDS, INSTANT, STARTS, Relation
from penstock.compile.sql import Expr


def before(left: Relation, right: Relation) -> list[Expr]:
    return _ordered(left, right, sql.column("l", ENDS) < sql.column("r", STARTS))


def after(left: Relation, right: Relation) -> list[Expr]:
    return _ordered(left, right, sql.column("r", ENDS) < sql.column("l", STARTS))


def at_once(left: Relation, right: Relation) -> list[Expr]:
    return _ordered(left, right, *(sql.column("l", c).eq(sql.column("r", c)) for c in (STARTS, ENDS)))


def _ordered(left: Relation, right: Relation, *conditions: Expr) -> list[Expr]:
    return list(conditions) if _have_times(left, right) else [sql.FALSE]


def _have_times(left: Relation, right: Relation) -> bool:
    """Whether both sides occurred at some time: rows of the background are in no order with anything."""
    return ENDS in left.vars and ENDS in right.vars


def sequence(op: ops.Seq, context: Context) -> Relation:
    """Where the filters around it say how long it may be, that is a key of the join."""
    streaming = context.plan.streaming
    assert streaming is not None
    within = streaming.longest.get(op)
    chained = None if within is None else sequence_tasks.chained(op, within, context)
    if chained is not None:
        return chained
    left, right = _sides(op, context)
    if within is None or not _have_times(left, right):
        return joins.join(left, right, order=before(left, right))
    return sequence_join.join(left, right, within, streaming.timeline.span)


def simultaneous(op: ops.Equals, context: Context) -> Relation:
    left, right = _sides(op, context)
    return joins.join(left, right, order=at_once(left, right))


def _sides(op: ops.Seq | ops.Equals, context: Context) -> tuple[Relation, Relation]:
    from penstock.compile.operators.operators import compile_op, together

    return together(compile_op(op.left, context), compile_op(op.right, context), context)


def sequence_optional(op: ops.OptionalSeq, context: Context) -> Relation:
    """The right side is what has to be; the left one came before it, or not."""
    from penstock.compile.operators.operators import optional

    return optional(op.right, op.left, op.condition, after, context)


def simultaneous_optional(op: ops.EqualsOptional, context: Context) -> Relation:
    from penstock.compile.operators.operators import optional

    return optional(op.left, op.right, op.condition, at_once, context)


class Unsettled(Exception):
    """What came so far changes a row that has no end of its own: which rows there are differs from instant to
    instant."""


def settled(left: Relation, right: Relation, context: Context) -> None:
    """Raises Unsettled where rows of `right` may take away one of `left` that never ended, and time is not looked at.

    A row with an end is judged then, whatever comes later. One of the background is judged when that ends which it is
    joined with further up.
    """
    instants = any(INSTANT in universe.keys for universe in context.universes)
    if context.plan.streaming is not None and not instants and ENDS in right.vars and ENDS not in left.certain:
        raise Unsettled


def complete(query: ops.Query) -> bool:
    """Whether an answer is complete with its last element, so that nothing that comes later changes it."""
    found = list(everywhere(query.pattern))
    changing = any(isinstance(op, _CHANGING) or any(map(asks_now, expressions_of(op))) for op in found)
    return not changing and not isinstance(query.form, ops.Describe)


def outermost(query: ops.Query) -> ops.Op | None:
    """The projection that makes the answer: above it nobody asks when rows occurred."""
    op = query.pattern
    while isinstance(op, ops.Distinct | ops.Reduced | ops.Slice | ops.OrderBy):
        op = op.pattern
    return op if isinstance(op, ops.Project) else None


_CHANGING = (ops.Group, ops.Annotate, ops.Slice)
