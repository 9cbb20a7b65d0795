"""Complex events: operators that ask when their operands occurred, and the answers that they complete.

A row occurred from the first start to the last end of the elements that made it (`.starts`, `.ends`); what comes from
the background alone has neither, and is in no order with anything. An answer is complete with its last element, and
nothing later takes it back: so it is reported once, at its end.
"""

from __future__ import annotations

from typing import NamedTuple

from pyoxigraph import NamedNode

from penstock.algebra import ops
from penstock.algebra.expressions import Var
from penstock.algebra.occurrence import everywhere
from penstock.algebra.scope import exists_in, expressions_of
from penstock.compile import sql
from penstock.compile.context import Context, EachGraph, NamedGraph
from penstock.compile.expressions.expressions import asks_now
from penstock.compile.operators import joins
from penstock.compile.operators.compile_operator import compile_op, compiles
from penstock.compile.operators.events import sequence_join, sequence_tasks
from penstock.compile.operators.optional import optional
from penstock.compile.operators.physical.semijoin_reduction import Candidates, can_match, matching_windows
from penstock.compile.relation import ENDS, STARTS, Relation
from penstock.compile.sql import Expr
from penstock.model.term_encoding import encode


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


@compiles(ops.Seq)
def sequence(op: ops.Seq, context: Context, known: Candidates) -> Relation:
    """Where the filters around it say how long it may be, that is a key of the join."""
    streaming = context.plan.streaming
    assert streaming is not None
    within = streaming.sequence_bounds.get(op)
    chained = None if within is None else sequence_tasks.chained(op, within, context)
    if chained is not None:
        return chained
    left, right = _sides(op, context)
    if within is None or not _have_times(left, right):
        return joins.join(left, right, order=before(left, right))
    return sequence_join.join(left, right, within, streaming.timeline.span)


@compiles(ops.Equals)
def simultaneous(op: ops.Equals, context: Context, known: Candidates) -> Relation:
    left, right = _sides(op, context)
    return joins.join(left, right, order=at_once(left, right))


def _sides(op: ops.Seq | ops.Equals, context: Context) -> tuple[Relation, Relation]:
    return joins.together(compile_op(op.left, context), compile_op(op.right, context), context)


@compiles(ops.OptionalSeq)
def sequence_optional(op: ops.OptionalSeq, context: Context, known: Candidates) -> Relation:
    """The right side is what has to be; the left one came before it, or not."""
    return optional(op.right, op.left, op.condition, after, context)


@compiles(ops.EqualsOptional)
def simultaneous_optional(op: ops.EqualsOptional, context: Context, known: Candidates) -> Relation:
    return optional(op.left, op.right, op.condition, at_once, context)


def needs_instants(op: ops.Op, context: Context) -> bool:
    """Whether what comes may take away, or complete, a row that has no end of its own: then which rows there are
    differs from instant to instant.

    A row with an end is judged then, whatever comes later; one that may be of the background alone has none.
    """
    if isinstance(op, ops.Graph | ops.InWindow | ops.WindowOverride):
        return any(needs_instants(op.pattern, inside) for inside in _inside(op, context))
    if any(needs_instants(child, context) for child in op.children) or _judges_unended(op, context):
        return True
    ended = any(_ends(child, context).always for child in op.children)
    found = [e.pattern for expr in expressions_of(op) for e in exists_in(expr)]
    return any(needs_instants(pattern, context) or (_ends(pattern, context).some and not ended) for pattern in found)


def _judges_unended(op: ops.Op, context: Context) -> bool:
    match op:
        case ops.LeftJoin(_, left, right) | ops.Minus(left, right) | ops.EqualsOptional(left, right):
            return _ends(right, context).some and not _ends(left, context).always
        case ops.OptionalSeq(left, right):
            return _ends(left, context).some and not _ends(right, context).always
    return False


class _Ends(NamedTuple):
    """Whether some rows of a pattern have an end, because elements of streams are in them, and whether all have."""

    some: bool
    always: bool


def _ends(op: ops.Op, context: Context) -> _Ends:
    """The ends of a pattern's rows, as `patterns` and `joins` make them."""
    match op:
        case ops.Bgp(patterns):
            found = [_ends_of(pattern, context) for pattern in patterns]
        case ops.StaticView() | ops.Table() | ops.Path():
            return _Ends(False, False)
        case ops.Union(left, right):
            one, other = _ends(left, context), _ends(right, context)
            return _Ends(one.some or other.some, one.always and other.always)
        case ops.LeftJoin(_, left, right) | ops.EqualsOptional(left, right):
            return _Ends(any(_ends(side, context).some for side in (left, right)), _ends(left, context).always)
        case ops.OptionalSeq(left, right):
            return _Ends(any(_ends(side, context).some for side in (left, right)), _ends(right, context).always)
        case ops.Minus(left, _):
            return _ends(left, context)
        case ops.Graph() | ops.InWindow() | ops.WindowOverride():
            parts = [_ends(op.pattern, inside) for inside in _inside(op, context)]
            return _Ends(any(part.some for part in parts), bool(parts) and all(part.always for part in parts))
        case _:
            found = [_ends(child, context) for child in op.children]
    return _Ends(any(each.some for each in found), any(each.always for each in found))


def _ends_of(pattern: ops.TriplePattern, context: Context) -> _Ends:
    some = bool(matching_windows(pattern, context))
    return _Ends(some, some and not can_match(pattern.predicate, context.background()))


def _inside(op: ops.Graph | ops.InWindow | ops.WindowOverride, context: Context) -> list[Context]:
    """Where the pattern of the operator is read: with a variable, in each of several windows."""
    match op:
        case ops.WindowOverride(tag):
            return [context.overridden(tag)]
        case ops.Graph(Var(name)):
            return [context.in_graph(EachGraph(name))]
        case ops.InWindow(Var()):
            streaming = context.plan.streaming
            names = [] if streaming is None else [c.name for c in streaming.contents if c.name is not None]
            return [context.in_window(name) for name in names]
        case ops.Graph(NamedNode() as name):
            return [context.in_graph(NamedGraph(encode(name)))]
        case ops.InWindow(NamedNode() as name):
            return [context.in_window(encode(name))]
    raise AssertionError(f"no name: {op}")


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
