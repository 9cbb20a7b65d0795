"""The longest sequences that can contribute to an answer, from the filters on getDURATION() above them.

A joined row lasts at least as long as each of its parts: a row that is too long for a filter above makes only rows
that are too long. So a bound goes down to the operands, and stops where a row counts by being there: at the optional
side, which is bounded by its own condition alone, at MINUS and EXISTS, and at what looks at all rows.
"""

from __future__ import annotations

from collections.abc import Callable

from penstock.algebra import ops
from penstock.algebra.occurrence import inner_plans
from penstock.algebra.ops import Op
from penstock.algebra.retention_bounds import greatest, least, longest

__all__ = ["longest_sequences"]

Bound = int | None
_MOST = 10**17  # microseconds, some 3,000 years: as good as no bound, and sums with more might not fit into 64 bits


def longest_sequences(op: Op) -> dict[Op, int]:
    """The sequences of a plan that have a bound, in microseconds."""
    bounds: dict[Op, Bound] = {}
    _collect(op, None, bounds)
    return {op: bound for op, bound in bounds.items() if bound is not None and bound < _MOST}


def _collect(op: Op, bound: Bound, bounds: dict[Op, Bound]) -> None:
    if isinstance(op, ops.Seq):
        bounds[op] = greatest(bounds[op], bound) if op in bounds else bound
    operands = _OPERANDS.get(type(op), _none)(op, bound)
    for number, inner in enumerate(inner_plans(op)):
        _collect(inner, operands[number] if number < len(operands) else None, bounds)  # EXISTS comes last


def _none(op: Op, bound: Bound) -> list[Bound]:
    return []


def _unchanged(op: Op, bound: Bound) -> list[Bound]:
    return [bound] * len(op.children)


_OPERANDS: dict[type[Op], Callable[..., list[Bound]]] = {
    ops.Distinct: _unchanged,
    ops.Equals: _unchanged,
    ops.EqualsOptional: lambda op, bound: [bound, least(bound, longest(op.condition))],
    ops.Extend: _unchanged,
    ops.Filter: lambda op, bound: [least(bound, longest(op.condition))],
    ops.Graph: _unchanged,
    ops.InWindow: _unchanged,
    ops.Join: _unchanged,
    ops.LeftJoin: lambda op, bound: [bound, longest(op.condition)],
    ops.Minus: lambda op, bound: [bound, None],
    ops.OptionalSeq: lambda op, bound: [longest(op.condition), bound],
    ops.OrderBy: _unchanged,
    ops.WindowOverride: _unchanged,
    ops.Project: _unchanged,
    ops.Reduced: _unchanged,
    ops.StaticView: _unchanged,
    ops.Seq: _unchanged,
    ops.Union: _unchanged,
}
