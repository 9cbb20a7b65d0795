"""Joins are ordered so that intermediate results are small.

`join_order` is imported when a join is ordered: it imports numpy, which a query of one pattern does without.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from typing import TYPE_CHECKING

from penstock.algebra import smart_constructors as make
from penstock.algebra.ops import Bgp, Join, Op, StaticView
from penstock.algebra.scope import visible
from penstock.optimise.cost import weigh
from penstock.optimise.statics import connected
from penstock.optimise.statistics import Statistics
from penstock.optimise.walk import map_children
from penstock.tuning import DEFAULT, Tuning

if TYPE_CHECKING:  # NumPy takes a while to load, and most commands join nothing
    from penstock.optimise.join_order import Operand, Shape

__all__ = ["order_joins"]


def order_joins(op: Op, statistics: Statistics, tuning: Tuning = DEFAULT) -> Op:
    """Joins are associative and commutative, so a tree of them is a set of operands, joined in the cheapest order.

    Triple patterns that are joined one by one from the left are one basic graph pattern. Parts that share no variable
    are joined last. The rule goes down by itself, since a join inside a tree of joins is not to be ordered on its own.
    """

    def inside(child: Op) -> Op:
        return order_joins(child, statistics.inside(op), tuning)

    if not isinstance(op, Join | Bgp):
        return map_children(op, inside)
    parts: list[Op] = []
    shape = _flattened(op, parts, inside)
    if len(parts) < 2:
        return op if shape is None or parts[0] == op else parts[0]
    ordered = _ordered(parts, shape, statistics, tuning)
    return op if ordered == op else ordered


def _flattened(op: Op, parts: list[Op], inside: Callable[[Op], Op]) -> Shape | None:
    """The operands of a tree of joins, triple patterns one by one, and how they are joined; None: there is none."""
    if isinstance(op, Join):
        return _joined([_flattened(side, parts, inside) for side in (op.left, op.right)])
    operands = [Bgp((pattern,)) for pattern in op.patterns] if isinstance(op, Bgp) else [inside(op)]
    parts += operands
    return _joined(list(range(len(parts) - len(operands), len(parts))))


def _joined(shapes: list[Shape | None]) -> Shape | None:
    """The operands, joined from the left."""
    known = [shape for shape in shapes if shape is not None]
    return reduce(lambda left, right: (left, right), known) if known else None


def _ordered(parts: list[Op], shape: Shape | None, statistics: Statistics, tuning: Tuning) -> Op:
    operands = [_operand(part, statistics, tuning) for part in parts]
    groups = connected((operand.vars, [place]) for place, operand in enumerate(operands))
    trees = [_of_group(sorted(group), operands, shape, tuning) for group in groups]
    joined = [_tree(tree, parts) for tree in trees]
    return reduce(make.join, sorted(joined, key=lambda part: weigh(part, statistics, tuning)[0].rows))


def _operand(part: Op, statistics: Statistics, tuning: Tuning) -> Operand:
    from penstock.optimise.join_order import Operand

    return Operand(visible(part), *weigh(part, statistics, tuning), isinstance(part, StaticView))


def _of_group(group: list[int], operands: list[Operand], shape: Shape | None, tuning: Tuning) -> Shape:
    """The best tree of some operands, with their places among all."""
    from penstock.optimise.join_order import best

    given = _only(shape, {place: i for i, place in enumerate(group)})
    assert given is not None
    return _renamed(best([operands[place] for place in group], given, tuning), group)


def _only(shape: Shape | None, places: dict[int, int]) -> Shape | None:
    """The part of a tree that consists of these operands, renumbered."""
    if shape is None or isinstance(shape, int):
        return None if shape is None else places.get(shape)
    return _joined([_only(side, places) for side in shape])


def _renamed(shape: Shape, names: list[int]) -> Shape:
    return names[shape] if isinstance(shape, int) else (_renamed(shape[0], names), _renamed(shape[1], names))


def _tree(shape: Shape, parts: list[Op]) -> Op:
    if isinstance(shape, int):
        return parts[shape]
    left, right = (_tree(side, parts) for side in shape)
    if isinstance(left, Bgp) and isinstance(right, Bgp) and isinstance(shape[1], int):
        return Bgp(left.patterns + right.patterns)
    return make.join(left, right)
