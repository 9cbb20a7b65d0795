"""Recursion over plans, so that rules need none; the patterns inside EXISTS are plans too."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from penstock.algebra import ops
from penstock.algebra.expressions import Aggregate, Call, Exists, Expr
from penstock.algebra.ops import Op
from penstock.algebra.scope import exists_in, expressions_of

__all__ = ["map_children", "map_exists", "nodes"]

Rewrite = Callable[[Op], Op]


def nodes(op: Op) -> Iterator[Op]:
    """The operators of a plan, root first, without those inside EXISTS."""
    yield op
    for child in op.children:
        yield from nodes(child)


def map_children(op: Op, rewrite: Rewrite) -> Op:
    """The operator with rewritten operands; the very same object if none changed."""
    before = op.children
    after = tuple(map(rewrite, before))
    return op if all(old is new for old, new in zip(before, after, strict=True)) else op.with_children(after)


def map_exists(op: Op, rewrite: Rewrite) -> Op:
    """The operator with the patterns of its own EXISTS rewritten; the very same object if none changed."""
    if not any(exists_in(expr) for expr in expressions_of(op)):
        return op
    changed = _with_expressions(op, lambda expr: _in_expression(expr, rewrite))
    return op if changed == op else changed


def _in_expression(expr: Expr, rewrite: Rewrite) -> Expr:
    match expr:
        case Exists(pattern):
            return Exists(rewrite(pattern))
        case Call(name, args):
            return Call(name, tuple(_in_expression(arg, rewrite) for arg in args))
        case Aggregate(_, Expr() as argument):
            return replace(expr, argument=_in_expression(argument, rewrite))
    return expr


def _with_expressions(op: Op, change: Callable[[Expr], Expr]) -> Op:
    """The same operator with its own expressions changed (the counterpart of `scope.expressions_of`)."""
    match op:
        case ops.Filter(condition, _) | ops.LeftJoin(Expr() as condition, _, _):
            return replace(op, condition=change(condition))
        case ops.OptionalSeq(_, _, Expr() as condition) | ops.EqualsOptional(_, _, Expr() as condition):
            return replace(op, condition=change(condition))
        case ops.Extend(_, expression, _):
            return replace(op, expression=change(expression))
        case ops.OrderBy(conditions, _):
            return replace(op, conditions=tuple(replace(key, expression=change(key.expression)) for key in conditions))
        case ops.Group(_, aggregates, _):
            return replace(op, aggregates=tuple((var, change(made)) for var, made in aggregates))  # type: ignore[misc]
    return op
