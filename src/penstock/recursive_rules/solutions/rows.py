"""Rows: (starts, ends, term, term, …). Terms are as in the log, None if unbound; no interval is None, None.

The *layout* of a row names the variables from its third place on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from operator import itemgetter
from typing import Any

from penstock.algebra.expressions import Var
from penstock.algebra.ops import Op
from penstock.algebra.scope import certain, visible

__all__ = ["STATIC", "Layout", "Row", "RowJoin", "binds_all", "ends", "key_of", "picked", "replaced", "slots"]

Row = tuple[Any, ...]
Layout = tuple[Var, ...]
STATIC: Row = (None, None)
ends = itemgetter(1)


def slots(layout: Layout) -> dict[Var, int]:
    return {var: place for place, var in enumerate(layout, 2)}


def key_of(places: Sequence[int]) -> Callable[[Row], Any]:
    """A function from a row to its lookup key: the terms of these columns."""
    return itemgetter(*places) if places else lambda row: ()


def replaced(places: Sequence[int | None]) -> Callable[[Row], Row]:
    """A function from a row to one of the same interval with these columns; None is an unbound term."""
    return picked((0, 1, *places))


def picked(places: Sequence[int | None]) -> Callable[[Row], Row]:
    """A function from a row to the terms of these columns; None is an unbound term."""
    if any(place is None for place in places):
        return lambda row: tuple([None if place is None else row[place] for place in places])
    if len(places) == 1:
        only = places[0]
        return lambda row: (row[only],)  # type: ignore[index]
    return key_of(places)  # type: ignore[arg-type]


class RowJoin:
    """The join of the rows of two operands: the variables that they must agree in, and the layout of the result.

    The result has the places of the first operand, then those of the second one alone. Variables that both surely bind
    are the key to look up by (`key`, `other_key`); those that one may leave open are compared when they meet.
    """

    def __init__(self, op: Op, layout: Layout, other: Op, other_layout: Layout) -> None:
        mine, theirs = slots(layout), slots(other_layout)
        shared = [var for var in layout if var in theirs]
        sure = [var for var in shared if var in certain(op) and var in certain(other)]
        added = [var for var in other_layout if var not in mine]
        self.layout: Layout = (*layout, *added)
        self.key = key_of([mine[var] for var in sure])
        self.other_key = key_of([theirs[var] for var in sure])
        self.surely_share = bool(sure)
        self._shared = [(mine[var], theirs[var]) for var in shared]
        self._loose = [(mine[var], theirs[var]) for var in shared if var not in sure]
        self._rest = picked([theirs[var] for var in added])
        self._open = (None,) * len(added)

    def padded(self, row: Row) -> Row:
        """The first operand's row, padded, without a partner."""
        return row + self._open

    def fits(self, row: Row, other: Row) -> bool:
        """Whether both rows agree in the variables that both bind; the key agrees already."""
        return not any(row[i] is not None and other[j] is not None and row[i] != other[j] for i, j in self._loose)

    def share(self, row: Row, other: Row) -> bool:
        """Whether there is a variable that both rows bind."""
        return self.surely_share or any(row[i] is not None and other[j] is not None for i, j in self._shared)

    def joined(self, row: Row, partners: Iterable[Row]) -> list[Row]:
        """The row joined with each of the others that are compatible."""
        if self._loose:
            return [self._filled(row, partner) for partner in partners if self.fits(row, partner)]
        rest, terms = self._rest, row[2:]
        return [(*span(row, partner), *terms, *rest(partner)) for partner in partners]

    def _filled(self, row: Row, other: Row) -> Row:
        cells = [*span(row, other), *row[2:], *self._rest(other)]
        for i, j in self._loose:
            if cells[i] is None:
                cells[i] = other[j]
        return tuple(cells)


def span(row: Row, other: Row) -> tuple[int | None, int | None]:
    """The interval from the first start to the last end."""
    if other[0] is None:
        return row[0], row[1]
    if row[0] is None:
        return other[0], other[1]
    return (row[0] if row[0] < other[0] else other[0]), (row[1] if row[1] > other[1] else other[1])


def binds_all(op: Op) -> bool:
    """Whether every row binds all of its variables."""
    return visible(op) == certain(op)
