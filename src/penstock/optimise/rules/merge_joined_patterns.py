"""Triple patterns that are joined become one basic graph pattern."""

from __future__ import annotations

from functools import reduce

from penstock.algebra import smart_constructors as make
from penstock.algebra.ops import Bgp, Graph, InWindow, Join, Op, TriplePattern, WindowOverride
from penstock.algebra.scope import visible
from penstock.optimise.statics import connected

__all__ = ["merge_joined_patterns"]

Patterns = tuple[TriplePattern, ...]


def merge_joined_patterns(op: Op) -> Op:
    """Join(Bgp(a), Bgp(b)) → Bgp(a b), also where other operands stand between them, if a and b share variables.

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
    return op if merged == operands else reduce(make.join, merged)


def _operands(op: Op) -> list[Op]:
    return [*_operands(op.left), *_operands(op.right)] if isinstance(op, Join) else [op]


def _add(merged: list[Op], operand: Op) -> None:
    """Merge an operand into the first one that it can be merged with, else append it. Triple patterns that share no
    variable with those of an earlier one stay behind what stands between, which may connect them: together they would
    be a product."""
    for i, earlier in enumerate(merged):
        match earlier, operand:
            case (Bgp(first), Bgp(second)):
                near = second if i == len(merged) - 1 else _near(first, second)
                merged[i] = Bgp(first + near)
                operand = Bgp(tuple(pattern for pattern in second if pattern not in near))
                if not operand.patterns:
                    return
            case (Graph() | InWindow() | WindowOverride(), Op()) if _reads(earlier) == _reads(operand):
                inside = make.join(*earlier.children, *operand.children)
                merged[i] = earlier.with_children((merge_joined_patterns(inside),))
                return
    merged.append(operand)


def _near(first: Patterns, second: Patterns) -> Patterns:
    """The patterns of the second that share variables with the first, directly or through others."""
    groups = connected((visible(Bgp((pattern,))), [pattern]) for pattern in (*first, *second))
    own = {pattern for group in groups if not set(group).isdisjoint(first) for pattern in group}
    return tuple(pattern for pattern in second if pattern in own)


def _reads(op: Op) -> tuple[type[Op], object]:
    """The name of the graph or window that the pattern reads."""
    return type(op), op.tag if isinstance(op, WindowOverride) else getattr(op, "name", None)
