"""Parts of the plan that read only the background become materialised views, as large as possible."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial, reduce
from typing import TypeAlias

from penstock.algebra import ops
from penstock.algebra import smart_constructors as make
from penstock.algebra.expressions import Var
from penstock.algebra.ops import Bgp, InWindow, Join, Op, StaticView
from penstock.algebra.scope import visible
from penstock.optimise.cost import estimate
from penstock.optimise.statics import chained, connected, is_join, is_static, operands
from penstock.optimise.statistics import Statistics
from penstock.optimise.walk import map_children, map_exists, nodes
from penstock.tuning import DEFAULT, Tuning

__all__ = ["materialise_static"]

Static: TypeAlias = Callable[[Op, Statistics], bool]


def materialise_static(op: Op, statistics: Statistics, tuning: Tuning = DEFAULT) -> Op:
    """P → StaticView(P) where all triples of P come from the background; of a join, these operands together.

    A query without windows is evaluated only once, so nothing is materialised. Operands that share no variable become
    one view each, as do operands whose join would be far larger than they are. Inside EXISTS, where an outer solution
    is substituted, only joins become views: other operators may depend on that solution.
    """
    return _materialised(op, statistics, is_static, tuning) if statistics.live else op


def _materialised(op: Op, statistics: Statistics, static: Static, tuning: Tuning) -> Op:
    if isinstance(op, StaticView | InWindow):  # a window has no background
        return op
    if isinstance(op, Join | Bgp):
        return _of_join(op, statistics, static, tuning)
    if _is_worth_a_view(op) and static(op, statistics):
        return StaticView((), op)
    inner = map_exists(op, lambda pattern: _materialised(pattern, statistics, _is_static_join, tuning))
    inside = statistics.inside(op)
    return map_children(inner, lambda child: _materialised(child, inside, static, tuning))


def _is_static_join(op: Op, statistics: Statistics) -> bool:
    return is_join(op) and is_static(op, statistics)


def _is_worth_a_view(op: Op) -> bool:
    return any(isinstance(node, ops.Path) or (isinstance(node, Bgp) and node.patterns) for node in nodes(op))


def _of_join(op: Join | Bgp, statistics: Statistics, static: Static, tuning: Tuning) -> Op:
    sides = operands(op)
    still = [each for each in sides if not isinstance(each, StaticView) and static(each, statistics)]
    if not any(map(_is_worth_a_view, still)):
        return map_children(op, lambda child: _materialised(child, statistics, static, tuning))
    moving = [each for each in sides if each not in still]
    around = frozenset[Var]().union(*map(visible, moving))
    groups = connected((visible(each), [each]) for each in still)
    parts = [(group, _views(group, around, statistics, tuning)) for group in groups]
    parts += [([each], [_materialised(each, statistics, static, tuning)]) for each in _merged(moving)]
    parts.sort(key=lambda part: min(map(partial(_place, sides), part[0])))  # as they stand in the text
    return reduce(make.join, [each for _, some in parts for each in some])


def _place(sides: list[Op], op: Op) -> int:
    """The position of an operand, or of the first of its triple patterns."""
    first = Bgp(op.patterns[:1]) if isinstance(op, Bgp) else op
    return sides.index(first)


def _views(group: list[Op], around: frozenset[Var], statistics: Statistics, tuning: Tuning) -> list[Op]:
    largest = max(estimate(each, statistics, tuning).rows for each in group)
    together = reduce(make.join, chained(_merged(group)))
    most = max(tuning.static_join_rows, tuning.static_join_growth * largest)
    if len(group) > 1 and estimate(together, statistics, tuning).rows > most:
        return [_one(each, around | visible(together)) for each in group]
    return [_one(together, around)]


def _one(op: Op, around: frozenset[Var]) -> Op:
    """The view of an operand; its keys are the variables by which the rest is joined with it."""
    return StaticView(tuple(sorted(visible(op) & around)), op) if _is_worth_a_view(op) else op


def _merged(operands: list[Op]) -> list[Op]:
    """The operands; triple patterns that share variables are one basic graph pattern."""
    single = [(visible(each), list(each.patterns)) for each in operands if isinstance(each, Bgp)]
    patterns_joined = (Bgp(tuple(patterns)) for patterns in connected(single))
    return [*patterns_joined, *(each for each in operands if not isinstance(each, Bgp))]
