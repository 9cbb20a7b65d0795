"""The depth of a query: the operators, conditions and paths that lie in one another."""

from __future__ import annotations

from dataclasses import fields

from penstock.algebra import ops
from penstock.algebra.expressions import Call, Exists, Expr
from penstock.algebra.scope import expressions_of

__all__ = ["depth_of"]


def depth_of(pattern: ops.Op) -> int:
    """Return the number of nodes from the pattern down to its deepest part, or a quarter of all `||` and `&&` if they
    are so many: here a row of these is a balanced tree, but other engines nest it. Without recursion."""
    deepest = connectives = 0
    level: list[object] = [pattern]
    while level:
        deepest += 1
        connectives += sum(isinstance(node, Call) and node.name in ("||", "&&") for node in level)
        level = [below for node in level for below in _below(node)]
    return max(deepest, connectives // 4)


def _below(node: object) -> list[object]:
    match node:
        case ops.Op():
            paths = [getattr(node, each.name) for each in fields(node) if each.name == "path"]  # type: ignore[arg-type]
            return [*node.children, *expressions_of(node), *paths]
        case Exists(pattern):
            return [pattern]
        case Expr():
            return list(node.children)
        case ops.Inverse() | ops.ZeroOrOne() | ops.ZeroOrMore() | ops.OneOrMore():
            return [node.path]
        case ops.Sequence(left, right) | ops.Alternative(left, right):
            return [left, right]
    return []
