"""Recursion over plans, so that rules need none; the patterns inside EXISTS are plans too."""

from __future__ import annotations

from collections.abc import Callable

from penstock.algebra.expressions import Exists, Expr
from penstock.algebra.ops import Op, nodes
from penstock.algebra.scope import exists_in, expressions_of, map_expressions

__all__ = ["map_children", "map_exists", "nodes"]

Rewrite = Callable[[Op], Op]


def map_children(op: Op, rewrite: Rewrite) -> Op:
    """The operator with rewritten operands; the very same object if none changed."""
    before = op.children
    after = tuple(map(rewrite, before))
    return op if all(old is new for old, new in zip(before, after, strict=True)) else op.with_children(after)


def map_exists(op: Op, rewrite: Rewrite) -> Op:
    """The operator with the patterns of its own EXISTS rewritten; the very same object if none changed."""
    if not any(exists_in(expr) for expr in expressions_of(op)):
        return op
    changed = map_expressions(op, lambda expr: _in_expression(expr, rewrite))
    return op if changed == op else changed


def _in_expression(expr: Expr, rewrite: Rewrite) -> Expr:
    if isinstance(expr, Exists):
        return Exists(rewrite(expr.pattern))
    return expr.map_children(lambda child: _in_expression(child, rewrite))
