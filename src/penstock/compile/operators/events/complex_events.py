"""Complex events: SEQ, EQUALS and their optional forms, which compare the occurrence times of their operands.

The occurrence time of a row runs from the first start to the last end of its elements (`.starts`, `.ends`). A row of
the background has none, and no order relative to other rows. An answer is complete with its last element, and no later
element removes it: so it is reported once, at its end.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

from penstock.algebra import ops
from penstock.algebra.expressions import Var
from penstock.algebra.occurrence import everywhere
from penstock.algebra.scope import exists_in, expressions_of
from penstock.compile import sql
from penstock.compile.context import Context, can_match
from penstock.compile.expressions.expressions import asks_now
from penstock.compile.operators import joins
from penstock.compile.operators.compile_operator import compile_op, compiles
from penstock.compile.operators.events import sequence_join
from penstock.compile.operators.optional import optional, optional_on_intervals
from penstock.compile.physical.nodes import IntervalEqualsOptional, IntervalOptionalSeq, SequenceBucketJoin
from penstock.compile.relation import ENDS, STARTS, Relation
from penstock.compile.sql import Expr


def before(left: Relation, right: Relation) -> list[Expr]:
    """Return the conditions that the left side ends before the right one starts."""
    return _ordered(left, right, sql.column("l", ENDS) < sql.column("r", STARTS))


def after(left: Relation, right: Relation) -> list[Expr]:
    """Return the conditions that the left side starts after the right one has ended."""
    return _ordered(left, right, sql.column("r", ENDS) < sql.column("l", STARTS))


def equal_times(left: Relation, right: Relation) -> list[Expr]:
    """Return the conditions that both sides have the same occurrence time."""
    return _ordered(left, right, *(sql.column("l", c).eq(sql.column("r", c)) for c in (STARTS, ENDS)))


def _ordered(left: Relation, right: Relation, *conditions: Expr) -> list[Expr]:
    return list(conditions) if _have_times(left, right) else [sql.FALSE]


def _have_times(left: Relation, right: Relation) -> bool:
    """Whether both sides have an occurrence time, which rows of the background have not."""
    return ENDS in left.vars and ENDS in right.vars


@compiles(ops.Seq)
def sequence(op: ops.Seq, context: Context) -> Relation:
    """Return the rows of SEQ."""
    left, right = _sides(op, context)
    return joins.join(left, right, order=before(left, right))


@compiles(SequenceBucketJoin)
def sequence_in_buckets(op: SequenceBucketJoin, context: Context) -> Relation:
    """Return the rows of a SEQ with a bounded duration."""
    return sequence_join.join(*_sides(op, context), op.within, op.width, op.hashed)


@compiles(ops.Equals)
def simultaneous(op: ops.Equals, context: Context) -> Relation:
    """Return the rows of EQUALS."""
    left, right = _sides(op, context)
    return joins.join(left, right, order=equal_times(left, right))


def _sides(op: ops.Seq | ops.Equals, context: Context) -> tuple[Relation, Relation]:
    return joins.align_for_join(compile_op(op.left, context), compile_op(op.right, context), context)


@compiles(ops.OptionalSeq)
def sequence_optional(op: ops.OptionalSeq, context: Context) -> Relation:
    """Return the rows of OPTIONALSEQ: the right side is required, the left one may precede it."""
    return optional(op.right, op.left, op.condition, after, context)


@compiles(IntervalOptionalSeq)
def interval_sequence_optional(op: IntervalOptionalSeq, context: Context) -> Relation:
    """Return the rows of OPTIONALSEQ on validity intervals."""
    return optional_on_intervals(op.right, op.left, op.condition, after, context)


@compiles(ops.EqualsOptional)
def simultaneous_optional(op: ops.EqualsOptional, context: Context) -> Relation:
    """Return the rows of EQUALSOPTIONAL."""
    return optional(op.left, op.right, op.condition, equal_times, context)


@compiles(IntervalEqualsOptional)
def interval_simultaneous_optional(op: IntervalEqualsOptional, context: Context) -> Relation:
    """Return the rows of EQUALSOPTIONAL on validity intervals."""
    return optional_on_intervals(op.left, op.right, op.condition, equal_times, context)


def needs_instants(op: ops.Op, context: Context) -> bool:
    """Whether a later element may remove or complete a row without an end: then the rows differ between instants.

    A row with an end is compared with others at its end. A row that may be of the background alone has no end.
    """
    if isinstance(op, ops.Graph | ops.InWindow | ops.WindowOverride):
        return any(needs_instants(op.pattern, inside) for inside in _inside(op, context))
    if any(needs_instants(child, context) for child in op.children) or _compares_unended(op, context):
        return True
    ended = any(_ends(child, context).always for child in op.children)
    inner_patterns = [e.pattern for expr in expressions_of(op) for e in exists_in(expr)]
    return any(
        needs_instants(pattern, context) or (_ends(pattern, context).some and not ended) for pattern in inner_patterns
    )


def _compares_unended(op: ops.Op, context: Context) -> bool:
    match op:
        case ops.LeftJoin(_, left, right) | ops.Minus(left, right) | ops.EqualsOptional(left, right):
            return _ends(right, context).some and not _ends(left, context).always
        case ops.OptionalSeq(left, right):
            return _ends(left, context).some and not _ends(right, context).always
    return False


class _Ends(NamedTuple):
    """Whether some rows of a pattern have an end, because they contain elements of streams, and whether all have."""

    some: bool
    always: bool


def _ends(op: ops.Op, context: Context) -> _Ends:
    """Return the ends of a pattern's rows, as `bgp` and `joins` make them."""
    match op:
        case ops.Bgp(patterns):
            ends = [_ends_of(pattern, context) for pattern in patterns]
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
            ends = [_ends(child, context) for child in op.children]
    return _Ends(any(each.some for each in ends), any(each.always for each in ends))


def _ends_of(pattern: ops.TriplePattern, context: Context) -> _Ends:
    has_window = bool(context.matching_windows(pattern))
    return _Ends(has_window, has_window and not can_match(pattern.predicate, context.background()))


def _inside(op: ops.Graph | ops.InWindow | ops.WindowOverride, context: Context) -> list[Context]:
    """Return the contexts in which the operator's pattern is compiled: with a variable, one for each window."""
    if isinstance(op, ops.InWindow) and isinstance(op.name, Var):
        return [context.inside(replace(op, name=name)) for name in context.window_names()]
    return [context.inside(op)]


def complete(query: ops.Query) -> bool:
    """Whether an answer is complete with its last element, so that no later element changes it."""
    operators = list(everywhere(query.pattern))
    changing = any(isinstance(op, _CHANGING) or any(map(asks_now, expressions_of(op))) for op in operators)
    return not changing and not isinstance(query.form, ops.Describe)


def outer_projection(query: ops.Query) -> ops.Op | None:
    """Return the projection that makes the answer: above it no operator reads occurrence times."""
    op = query.pattern
    while isinstance(op, ops.Distinct | ops.Reduced | ops.Slice | ops.OrderBy):
        op = op.pattern
    return op if isinstance(op, ops.Project) else None


_CHANGING = (ops.Group, ops.Annotate, ops.Slice)
