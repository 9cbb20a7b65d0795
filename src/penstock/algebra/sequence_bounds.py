"""The longest sequences that can contribute to an answer, from the filters on getDURATION() above them.

What is joined lasts at least as long as each of its parts: a row that is too long for a filter above makes only rows
that are too long. So a bound goes down to the operands, and stops where a row counts by being there: at the optional
side, which is bounded by its own condition alone, at MINUS and EXISTS, and at what looks at all rows.
"""

from __future__ import annotations

from collections.abc import Callable

from penstock.algebra import ops
from penstock.algebra.occurrence import inner_plans
from penstock.algebra.ops import Op
from penstock.algebra.retention_bounds import least, longest

__all__ = ["longest_sequences"]

Bound = int | None
_MOST = 10**17  # microseconds, some 3,000 years: as good as no bound, and sums with more might not fit into 64 bits


def longest_sequences(op: Op) -> dict[Op, int]:
    """The sequences of a plan that have a bound, in microseconds."""
    found: dict[Op, Bound] = {}
    _collect(op, None, found)
    return {op: bound for op, bound in found.items() if bound is not None and bound < _MOST}


def _collect(op: Op, bound: Bound, found: dict[Op, Bound]) -> None:
    if isinstance(op, ops.Seq):
        found[op] = _most(found[op], bound) if op in found else bound
    operands = _OPERANDS.get(type(op), _none)(op, bound)
    for number, inner in enumerate(inner_plans(op)):
        _collect(inner, operands[number] if number < len(operands) else None, found)  # EXISTS comes last


def _most(one: Bound, other: Bound) -> Bound:
    return None if one is None or other is None else max(one, other)


def _none(op: Op, bound: Bound) -> list[Bound]:
    return []


def _same(op: Op, bound: Bound) -> list[Bound]:
    return [bound] * len(op.children)


_OPERANDS: dict[type[Op], Callable[..., list[Bound]]] = {
    ops.Distinct: _same,
    ops.Equals: _same,
    ops.EqualsOptional: lambda op, bound: [bound, least(bound, longest(op.condition))],
    ops.Extend: _same,
    ops.Filter: lambda op, bound: [least(bound, longest(op.condition))],
    ops.Graph: _same,
    ops.InWindow: _same,
    ops.Join: _same,
    ops.LeftJoin: lambda op, bound: [bound, longest(op.condition)],
    ops.Minus: lambda op, bound: [bound, None],
    ops.OptionalSeq: lambda op, bound: [longest(op.condition), bound],
    ops.OrderBy: _same,
    ops.WindowOverride: _same,
    ops.Project: _same,
    ops.Reduced: _same,
    ops.StaticView: _same,
    ops.Seq: _same,
    ops.Union: _same,
}
