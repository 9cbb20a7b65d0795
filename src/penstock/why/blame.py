"""The first operators of a plan without rows: below them, all that they need has some."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

from penstock.algebra import ops
from penstock.algebra.ops import Op

__all__ = ["Blamed", "Counts", "blamed"]


class Counts(Protocol):
    """The rows of operators: see `penstock.spark.query.operator_rows.OperatorRows`."""

    def count(self, op: Op) -> int | None: ...


@dataclass(frozen=True, slots=True)
class Blamed:
    """An operator without rows, and the GRAPH and window blocks around it, the outermost first."""

    op: Op
    around: tuple[Op, ...] = ()


_AROUND = (ops.Graph, ops.InWindow, ops.WindowOverride)
_NEEDS_LEFT = (ops.LeftJoin, ops.Minus, ops.EqualsOptional)


def blamed(op: Op, counts: Counts, around: tuple[Op, ...] = ()) -> Iterator[Blamed]:
    """The first operators without rows in a plan that has none; several if the branches of a UNION are empty."""
    inside = (*around, op) if isinstance(op, _AROUND) else around
    empty = [child for child in _needed(op) if not _has_rows(child, counts)]
    if isinstance(op, ops.Union):
        for child in empty:
            yield from blamed(child, counts, inside)
    elif empty:
        yield from blamed(empty[0], counts, inside)
    else:
        yield Blamed(op, around)


def _needed(op: Op) -> tuple[Op, ...]:
    """The operands without which the operator has no rows."""
    if isinstance(op, _NEEDS_LEFT):
        return op.children[:1]
    return op.children[1:] if isinstance(op, ops.OptionalSeq) else op.children


def _has_rows(op: Op, counts: Counts) -> bool:
    """Whether there are rows. An aggregate without keys has one even of nothing, which is no reason by itself."""
    if isinstance(op, ops.Group) and not op.keys:
        return _has_rows(op.pattern, counts)
    number = counts.count(op)
    if number is None:
        needed = [_has_rows(child, counts) for child in _needed(op)]
        return any(needed) if isinstance(op, ops.Union) else all(needed)
    return number > 0
