"""Triple patterns that are joined belong to one basic graph pattern."""

from __future__ import annotations

from functools import reduce

from penstock.algebra import make
from penstock.algebra.ops import Bgp, Graph, InWindow, Join, Op, Overridden

__all__ = ["merge_joined_patterns"]


def merge_joined_patterns(op: Op) -> Op:
    """Join(Bgp(a), Bgp(b)) → Bgp(a b), also where other operands stand between them.

    Join(Graph(g, P), Graph(g, Q)) → Graph(g, Join(P, Q)): both read the same graph, the one that ?g names if it is a
    variable. So do both that read the same window. A pattern inside GRAPH or a window never meets one outside, as they
    read different graphs.
    """
    if not isinstance(op, Join):
        return op
    operands = _operands(op)
    merged: list[Op] = []
    for operand in operands:
        _add(merged, operand)
    return op if len(merged) == len(operands) else reduce(make.join, merged)


def _operands(op: Op) -> list[Op]:
    return [*_operands(op.left), *_operands(op.right)] if isinstance(op, Join) else [op]


def _add(merged: list[Op], operand: Op) -> None:
    """Into the first that it can become one with, else at the end."""
    for i, earlier in enumerate(merged):
        match earlier, operand:
            case (Bgp(first), Bgp(second)):
                merged[i] = Bgp(first + second)
                return
            case (Graph() | InWindow() | Overridden(), Op()) if _reads(earlier) == _reads(operand):
                inside = make.join(*earlier.children, *operand.children)
                merged[i] = earlier.with_children((merge_joined_patterns(inside),))
                return
    merged.append(operand)


def _reads(op: Op) -> tuple[type[Op], object]:
    """What the pattern of a GRAPH or a window is read from."""
    return type(op), op.tag if isinstance(op, Overridden) else getattr(op, "name", None)
