"""Query families: queries that differ in constants only have one plan, beside a table of their constants.

The cost of a change does not depend on their number: each parameter has a count of queries by constant.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from penstock.algebra.expressions import Term
from penstock.algebra.ops import Query
from penstock.algebra.template import Constants, Template
from penstock.stream.registry.due_instants import CompiledQuery

if TYPE_CHECKING:
    from penstock.stream.registry.registered_query import RegisteredQuery

__all__ = ["Family", "key_of"]


class Family:
    """The queries of one template. Plans serve as long as queries differ only where they have parameters."""

    def __init__(self, template: Template) -> None:
        self._template = template
        self._counts: list[Counter[Term]] = [Counter() for _ in template.parameters]
        self._constants: dict[int, Constants] = {}
        self._filled: Constants = ()  # what plans have for the parameters that are none in them
        self.query: Query | None = None  # of which plans are
        self.plans: dict[int, CompiledQuery] = {}  # by how far the time between instants is stretched
        self.varying: tuple[int, ...] = ()  # the parameters of plans

    def add(self, number: int, constants: Constants) -> None:
        self._constants[number] = constants
        for counts, constant in zip(self._counts, constants, strict=True):
            counts[constant] += 1

    def remove(self, number: int) -> None:
        for counts, constant in zip(self._counts, self._constants.pop(number), strict=True):
            counts[constant] -= 1
            if not counts[constant]:
                del counts[constant]

    def __len__(self) -> int:
        return len(self._constants)

    def fitted(self) -> list[CompiledQuery]:
        """Remove the plans that do not fit the present queries any more, and return them."""
        if self._fits():
            return []
        self.varying = tuple(place for place, counts in enumerate(self._counts) if len(counts) > 1)
        self._filled = tuple(next(iter(counts)) for counts in self._counts)
        other = tuple(next(reversed(counts)) for counts in self._counts)  # which differs wherever some do
        self.query = self._template.specialised([self._filled, other])[0]
        gone = list(self.plans.values())
        self.plans.clear()
        return gone

    def _fits(self) -> bool:
        if self.query is None:
            return False
        fixed = (place for place in range(len(self._counts)) if place not in self.varying)
        return all(self._counts[place].keys() == {self._filled[place]} for place in fixed)

    def row(self, number: int) -> Constants:
        """A query's constants for the parameters of plans."""
        constants = self._constants[number]
        return tuple(constants[place] for place in self.varying)


def key_of(task: RegisteredQuery, template: Template) -> object:
    """A key that is equal for queries of one family."""
    entry = task.entry
    return template.query, entry.duplicates, entry.emit, entry.overload
