"""Conditions are pushed down to where their variables are bound."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any, TypeAlias

from penstock.algebra import ops
from penstock.algebra import smart_constructors as make
from penstock.algebra.expressions import Call, Expr, Var
from penstock.algebra.occurrence import asks_interval
from penstock.algebra.ops import Filter, Op
from penstock.algebra.scope import certain, conjuncts, exists_in, expressions_of, references, visible
from penstock.optimise.statics import VOLATILE, is_steady
from penstock.optimise.statistics import Uniform
from penstock.optimise.walk import nodes

__all__ = ["push_filter", "push_filter_of_events"]

# Each call has a value of its own, so how often and where it is made can be told from the answer. TIMESTAMP has not,
# but it looks at all triples that bound its variable, also those on the other side of a join.
PLACED = VOLATILE | {"TIMESTAMP"}


Asks: TypeAlias = Callable[[Expr], bool]
Optional: TypeAlias = ops.LeftJoin | ops.OptionalSeq | ops.EqualsOptional


def push_filter(op: Op) -> Op:
    """Filter(e, P) → P with each conjunct of e as deep as it means the same there.

    A LeftJoin's condition that only reads the right side becomes a filter of that side, and so with EP-SPARQL's forms.
    What asks for the interval of a row stays above what gives it another one.
    """
    return _pushed(op, asks_interval)


def push_filter_of_events(op: Op) -> Op:
    """Push a filter where rows have intervals: an EXISTS then reads the events that have ended when its row ends."""
    return _pushed(op, lambda part: asks_interval(part) or bool(exists_in(part)))


def _pushed(op: Op, asks: Asks) -> Op:
    match op:
        case Filter(condition, Filter(inner, pattern)):
            return _pushed(Filter(make.conjunction((*conjuncts(inner), *conjuncts(condition))), pattern), asks)
        case Filter(condition, pattern):
            stuck, below = _push_all(conjuncts(condition), pattern, asks)
            return op if below is pattern else make.filter(make.conjunction(stuck), below)
        case ops.LeftJoin() | ops.EqualsOptional() | ops.OptionalSeq() if op.condition is not None:
            return _into_optional(op, op.condition, asks)
    return op


def _push_all(parts: Iterable[Expr], pattern: Op, asks: Asks) -> tuple[list[Expr], Op]:
    stuck = []
    for part in parts:
        pushed = _push(part, pattern, asks(part)) if _repeatable(part) else None
        if pushed is None:
            stuck.append(part)
        else:
            pattern = pushed
    return stuck, pattern


def _into_optional(op: Optional, condition: Expr, asks: Asks) -> Op:
    """Conditions that read only the optional side go there."""
    name = "left" if isinstance(op, ops.OptionalSeq) else "right"
    optional, needed = (op.left, op.right) if name == "left" else (op.right, op.left)
    stays: list[Expr] = []
    goes: list[Expr] = []
    for part in conjuncts(condition):
        movable = _repeatable(part) and not asks(part) and _same_in(optional, needed, part)
        (goes if movable else stays).append(part)
    if not goes:
        return op
    changes: dict[str, Any] = {name: make.filter(make.conjunction(goes), optional)}
    return make.rebuild(replace(op, condition=make.conjunction(stays) if stays else None, **changes))


def _push(part: Expr, op: Op, asks: bool) -> Op | None:
    """The operator with the conjunct on an operand, or None where it would mean something else there.

    A variable that is visible has to be visible there too, even if it is never bound: inside EXISTS, one that is not
    would be taken from the outer solution.
    """
    if asks and isinstance(op, _RETIMING):
        return None
    match op:
        case ops.Join(left, right) | ops.Seq(left, right) | ops.Equals(left, right):
            return _push_to_side(part, op, left, right)
        case ops.LeftJoin(_, left, right) | ops.EqualsOptional(left, right) if _same_in(left, right, part):
            return op.with_children((make.filter(part, left), right))
        case ops.OptionalSeq(left, right) if _same_in(right, left, part):
            return op.with_children((left, make.filter(part, right)))
        case ops.Union(left, right) if references(part) & visible(op) <= visible(left) & visible(right):
            return ops.Union(make.filter(part, left), make.filter(part, right))
        case ops.Minus(left, right):
            return ops.Minus(make.filter(part, left), right)
        case ops.Distinct(pattern) | ops.Reduced(pattern) | ops.OrderBy(_, pattern):
            return op.with_children((make.filter(part, pattern),))
        case ops.Extend(var, _, pattern) if var not in references(part):
            return op.with_children((make.filter(part, pattern),))
        case ops.Graph(name, pattern) | ops.InWindow(name, pattern) if _same_in_graph(name, pattern, part):
            return op.with_children((make.filter(part, pattern),))
        case ops.StaticView(_, pattern) if _is_settled(part, pattern):
            return op.with_children((make.filter(part, pattern),))
        case ops.WindowOverride(_, pattern) if not exists_in(part):  # an EXISTS would be asked of other windows
            return op.with_children((make.filter(part, pattern),))
        case ops.Project(vars, pattern) if references(part) <= set(vars) & visible(pattern):
            return op.with_children((make.filter(part, pattern),))
        case ops.Group(keys, _, pattern) if keys and references(part) <= set(keys) & visible(pattern):
            return op.with_children((make.filter(part, pattern),))
        case ops.Annotate(_, _, keys, pattern) if references(part) <= set(keys) & visible(pattern):
            return op.with_children((make.filter(part, pattern),))  # groups vanish whole; others are as they were
    return None  # a leaf; or a Slice, which counts the solutions that the filter would take away


_RETIMING = (  # what gives a row another interval, or compares rows that have different ones
    ops.Join, ops.Seq, ops.Equals, ops.LeftJoin, ops.OptionalSeq, ops.EqualsOptional, ops.Group, ops.Annotate,
)  # fmt: skip


def _push_to_side(part: Expr, op: Op, left: Op, right: Op) -> Op | None:
    if _same_in(left, right, part):
        return op.with_children((make.filter(part, left), right))
    return op.with_children((left, make.filter(part, right))) if _same_in(right, left, part) else None


def _same_in(side: Op, other: Op, part: Expr) -> bool:
    """Whether each variable has the same value in a solution of `side` as in one joined with `other`: it is bound
    already, or `other` cannot bind it."""
    return all(var in certain(side) or var not in visible(other) for var in references(part))


def _same_in_graph(name: object, pattern: Op, part: Expr) -> bool:
    """An EXISTS would be asked of another graph; the graph's own variable is bound by GRAPH, above the pattern."""
    if exists_in(part):
        return False
    return not (isinstance(name, Var) and name in references(part)) or name in certain(pattern)


def _is_settled(part: Expr, pattern: Op) -> bool:
    """Whether the condition depends on the background only, and not on the solution around an EXISTS."""
    return references(part) <= visible(pattern) and not exists_in(part) and is_steady(part, Uniform())


def _repeatable(expr: Expr) -> bool:
    """Whether the expression is not volatile, the patterns of its EXISTS included."""
    if isinstance(expr, Call) and (expr.name in PLACED or not all(map(_repeatable, expr.args))):
        return False
    patterns = (exists.pattern for exists in exists_in(expr))
    return all(_repeatable(inner) for pattern in patterns for node in nodes(pattern) for inner in expressions_of(node))
