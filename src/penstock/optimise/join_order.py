"""The cheapest order of a join: by dynamic programming over all bushy trees that make no product (CQELS, section 5).

Ψ(S), the least that a set S of operands costs, is what its join makes plus the least Ψ(A) + Ψ(S∖A), each with what it
costs to bring its rows to that join, over all ways to cut S into two connected sets. The estimate of a set's rows does
not depend on the order in which it was joined; so all of that is a sum of one number for A and one for S∖A, and a set
is a bit mask that finds them in tables.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from penstock.algebra.expressions import Var
from penstock.algebra.scope import Vars
from penstock.optimise.cost import FEWEST, Estimate, Model, joined, rows_joined
from penstock.tuning import DEFAULT, Tuning

__all__ = ["Operand", "Shape", "best"]

AS_GOOD = 1.000001  # sums of the same numbers in another order differ

Shape: TypeAlias = "int | tuple[Shape, Shape]"
"""A tree of joins, whose leaves are the places of operands in a list."""
Table: TypeAlias = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Operand:
    """An operand of a join: its variables, its rows, its own cost, and whether its rows are materialised."""

    vars: Vars
    estimate: Estimate
    cost: float = 0.0
    kept: bool = False


def best(operands: Sequence[Operand], given: Shape, tuning: Tuning = DEFAULT) -> Shape:
    """The cheapest join tree of operands that are connected by variables; the given tree where none is cheaper."""
    if len(operands) > tuning.join_order_operands:
        return _greedy(operands, tuning.join_order_starts)
    return _Search(operands, Model.of(tuning)).best(given)


class _Search:
    """Tables by bit mask: cardinality, cost and best split of each set of operands."""

    def __init__(self, operands: Sequence[Operand], model: Model) -> None:
        self._model = model
        self._kept = sum(1 << i for i, operand in enumerate(operands) if operand.kept)
        self._rows = _rows([operand.estimate for operand in operands])  # of all instants
        self._near = _near([operand.vars for operand in operands])
        self._cost: Table = np.full(len(self._rows), np.inf)
        self._brought: Table = np.full(len(self._rows), np.inf)  # the cost, and that of bringing the rows to a join
        self._cut = [0] * len(self._rows)
        for i, operand in enumerate(operands):
            self._set(1 << i, operand.cost)
        self._fill()

    def best(self, given: Shape) -> Shape:
        everything = len(self._rows) - 1
        _, cost = self._weighed(given)
        return self._oriented(given if cost <= self._cost[everything] * AS_GOOD else self._shape(everything))

    def _set(self, mask: int, cost: float) -> None:
        self._cost[mask] = cost
        self._brought[mask] = cost + self._bringing(mask)

    def _bringing(self, mask: int) -> float:
        kept = bool(mask & self._kept) and mask & (mask - 1) == 0
        return self._model.brought(float(self._rows[mask]), kept)

    def _fill(self) -> None:
        """A set comes after its subsets, since its mask is a greater number. One side of a cut has the highest operand,
        so the other is any subset of the rest."""
        subsets = [np.zeros(1, np.int64)]
        for mask in range(1, len(self._rows)):
            high = 1 << (mask.bit_length() - 1)
            below = subsets[mask ^ high]
            if mask < len(self._rows) // 2:
                subsets.append(np.concatenate((below, below | high)))
            if len(below) > 1 and self._is_connected(mask):
                self._choose(mask, below[1:])

    def _choose(self, mask: int, sides: npt.NDArray[np.int64]) -> None:
        costs = self._brought[sides] + self._brought[mask ^ sides]
        at = int(costs.argmin())
        self._cut[mask] = int(sides[at])
        self._set(mask, float(costs[at]) + self._model.made(float(self._rows[mask])))

    def _is_connected(self, mask: int) -> bool:
        connected = mask & -mask
        while (grown := self._near[connected] & mask) != connected:
            connected = grown
        return connected == mask

    def _shape(self, mask: int) -> Shape:
        if mask & (mask - 1) == 0:
            return mask.bit_length() - 1
        return self._shape(mask ^ self._cut[mask]), self._shape(self._cut[mask])

    def _weighed(self, shape: Shape) -> tuple[int, float]:
        """The mask of a tree, and its cost; a Cartesian product costs infinity."""
        if isinstance(shape, int):
            return 1 << shape, float(self._cost[1 << shape])
        (left, one), (right, other) = map(self._weighed, shape)
        both = left | right
        if not self._is_connected(both):
            return both, np.inf
        costs = one + other + self._bringing(left) + self._bringing(right)
        return both, costs + self._model.made(float(self._rows[both]))

    def _oriented(self, shape: Shape) -> Shape:
        """The order of two sides: of two operands the smaller first; of two trees the larger first, since rows of the
        right one are hashed; a tree before an operand."""
        if isinstance(shape, int):
            return shape
        left, right = map(self._oriented, shape)
        sizes = [self._rows[self._weighed(side)[0]] for side in (left, right)]
        if isinstance(left, int) and isinstance(right, int):
            swap = sizes[1] < sizes[0]
        else:
            swap = isinstance(left, int) or (not isinstance(right, int) and sizes[0] < sizes[1])
        return (right, left) if swap else (left, right)


def _rows(estimates: Sequence[Estimate]) -> Table:
    """The rows of each set: the product of the rows of its operands, divided for each variable by all but the smallest
    of its numbers of different terms. In logarithms that is a sum; each operand doubles the table."""
    total = _doubled([np.log(each.rows) for each in estimates], np.add, 0.0)
    for var in set[Var]().union(*(each.distinct for each in estimates)):
        terms = [float(np.log(max(1.0, each.distinct[var]))) if var in each.distinct else None for each in estimates]
        least = _doubled([np.inf if term is None else term for term in terms], np.minimum, np.inf)
        total -= _doubled([term or 0.0 for term in terms], np.add, 0.0) - np.where(np.isinf(least), 0.0, least)
    changes = _doubled([each.changes for each in estimates], np.add, 0.0)
    return np.maximum(np.exp(np.minimum(total, 600.0)), FEWEST) * (1.0 + changes)


def _doubled(values: Sequence[float], combine: np.ufunc, start: float) -> Table:
    """The combined value of each subset of the values."""
    table: Table = np.full(1, start)
    for value in values:
        table = np.concatenate((table, combine(table, value)))
    return table


def _near(vars: Sequence[Vars]) -> list[int]:
    """The table of neighbours: of each set, its operands and those that share a variable with it."""
    table = [0]
    for i, own in enumerate(vars):
        near = 1 << i | sum(1 << j for j, other in enumerate(vars) if own & other and i != j)
        table += [others | near for others in table]
    return table


def _greedy(operands: Sequence[Operand], starts: int) -> Shape:
    """The cheapest of the given order and those that always take what leaves the fewest rows, from small ones on."""
    smallest = sorted(range(len(operands)), key=lambda i: operands[i].estimate.rows)[:starts]
    orders = [list(range(len(operands))), *(_growing(start, operands) for start in smallest)]
    first, *others = min(orders, key=lambda order: _sum([operands[i].estimate for i in order]))
    return reduce(lambda left, right: (left, right), others, first)  # type: ignore[arg-type,return-value]


def _growing(start: int, operands: Sequence[Operand]) -> list[int]:
    order, so_far = [start], operands[start].estimate
    rest = [i for i in range(len(operands)) if i != start]
    while rest:
        near = [i for i in rest if not so_far.distinct.keys().isdisjoint(operands[i].estimate.distinct)] or rest
        sizes = [(rows_joined(so_far, operands[i].estimate), operands[i].estimate.rows) for i in near]
        chosen = near[sizes.index(min(sizes))]
        so_far = joined(so_far, operands[chosen].estimate)
        order.append(chosen)
        rest.remove(chosen)
    return order


def _sum(estimates: Sequence[Estimate]) -> float:
    """The sum of the rows of all intermediate results."""
    total, so_far = 0.0, Estimate(1.0, {})
    for each in estimates:
        so_far = joined(so_far, each)
        total += so_far.in_all
    return total
