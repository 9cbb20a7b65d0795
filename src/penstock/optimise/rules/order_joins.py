"""Joins in the order that keeps the results in between small."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import reduce

from penstock.algebra import make
from penstock.algebra.ops import Bgp, Join, Op, TriplePattern, variables_of
from penstock.algebra.scope import Vars, visible
from penstock.optimise.cost import Estimate, estimate, joined, of_pattern, rows_joined
from penstock.optimise.statistics import Statistics
from penstock.optimise.walk import map_children

__all__ = ["order_joins"]

STARTS = 3  # greedy orders are tried from this many of the smallest operands


@dataclass(frozen=True, slots=True)
class Operand:
    """Something to be joined: a triple pattern, or a plan that is none."""

    what: TriplePattern | Op
    vars: Vars
    estimate: Estimate


def order_joins(op: Op, statistics: Statistics) -> Op:
    """Joins are associative and commutative, so a tree of them is a set of operands, in any order.

    A basic graph pattern is joined pattern by pattern, from the left; where another operand comes first, the patterns
    after it are joined one by one, so that each meets the result so far. Parts that share no variable are joined last.
    The rule goes down by itself, since a join inside a tree of joins is not to be ordered on its own.
    """

    def inside(child: Op) -> Op:
        return order_joins(child, statistics)

    if not isinstance(op, Join | Bgp):
        return map_children(op, inside)
    operands = [_operand(what, statistics) for what in _flattened(op, inside)]
    if not operands:
        return op
    parts = [_ordered(part) for part in _connected(operands)]
    parts.sort(key=lambda part: reduce(joined, (each.estimate for each in part)).rows)
    ordered = reduce(make.join, map(_tree, parts))
    return op if ordered == op else ordered


def _flattened(op: Op, inside: Callable[[Op], Op]) -> list[TriplePattern | Op]:
    if isinstance(op, Join):
        return _flattened(op.left, inside) + _flattened(op.right, inside)
    return list(op.patterns) if isinstance(op, Bgp) else [inside(op)]


def _operand(what: TriplePattern | Op, statistics: Statistics) -> Operand:
    if isinstance(what, Op):
        return Operand(what, visible(what), estimate(what, statistics))
    vars = variables_of(what.subject, what.predicate, what.object)
    return Operand(what, frozenset(vars), of_pattern(what, statistics))


def _connected(operands: list[Operand]) -> list[list[Operand]]:
    """The operands in groups that share no variable with each other, each in the given order."""
    groups: list[tuple[Vars, list[int]]] = []
    for i, operand in enumerate(operands):
        touching = [group for group in groups if group[0] & operand.vars]
        groups = [group for group in groups if not group[0] & operand.vars]
        vars = operand.vars.union(*(group[0] for group in touching))
        groups.append((vars, [*(index for group in touching for index in group[1]), i]))
    return [[operands[i] for i in sorted(indices)] for _, indices in groups]


def _ordered(operands: list[Operand]) -> list[Operand]:
    """The cheapest of the given order and the greedy ones; the given one where it is as good."""
    smallest = sorted(operands, key=lambda operand: operand.estimate.rows)[:STARTS]
    return min([operands, *(_greedy(start, operands) for start in smallest)], key=_cost)


def _greedy(start: Operand, operands: list[Operand]) -> list[Operand]:
    """Always the next operand that leaves the fewest rows, of those that join with what is there."""
    order, so_far = [start], start.estimate
    rest = [operand for operand in operands if operand is not start]
    while rest:
        near = [operand for operand in rest if not so_far.distinct.keys().isdisjoint(operand.estimate.distinct)]
        sizes = [(rows_joined(so_far, operand.estimate), operand.estimate.rows) for operand in near or rest]
        chosen = (near or rest)[sizes.index(min(sizes))]
        so_far = joined(so_far, chosen.estimate)
        order.append(chosen)
        rest.remove(chosen)
    return order


def _cost(operands: Iterable[Operand]) -> float:
    """The rows of all results on the way."""
    total, so_far = 0.0, Estimate(1.0, {})
    for operand in operands:
        so_far = joined(so_far, operand.estimate)
        total += so_far.rows
    return total


def _tree(operands: list[Operand]) -> Op:
    """Left-deep, with the triple patterns at the start as one basic graph pattern."""
    first = next((i for i, operand in enumerate(operands) if isinstance(operand.what, Op)), len(operands))
    leading = Bgp(tuple(operand.what for operand in operands[:first] if isinstance(operand.what, TriplePattern)))
    return reduce(make.join, [leading, *(_alone(operand.what) for operand in operands[first:])])


def _alone(what: TriplePattern | Op) -> Op:
    return what if isinstance(what, Op) else Bgp((what,))
