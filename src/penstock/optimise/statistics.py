"""Statistics of the data for the optimiser. Estimates only: a wrong one costs time, never an answer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, Protocol, Self

from penstock.algebra.expressions import PatternTerm, Var
from penstock.algebra.ops import Op, TriplePattern

__all__ = ["Position", "PredicateCounts", "Statistics", "Uniform"]

Position = Literal["subject", "predicate", "object"]


class Statistics(Protocol):
    """Estimated numbers of triples and of distinct terms."""

    def triples(self) -> float:
        """The number of triples."""

    def count(self, pattern: TriplePattern) -> float:
        """The number of triples that match the pattern."""

    def distinct(self, predicate: PatternTerm, position: Position) -> float:
        """The number of distinct terms at the position in triples with that predicate (a variable: in all triples)."""

    def changes(self, predicate: PatternTerm) -> float:
        """The number of times that the matching triples change within one evaluation; static triples never do."""

    def streams(self, predicate: PatternTerm) -> bool:
        """Whether a triple with that predicate may come from a window. No is no estimate: then it is static."""

    @property
    def live(self) -> bool:
        """Whether there are windows, so that the query is evaluated repeatedly."""

    def inside(self, op: Op) -> Statistics:
        """The statistics of the data that the operand of GRAPH or of a window reads; these statistics for other
        operators."""


class Still:
    """Data that no window is part of, and of whose graphs nothing is known one by one."""

    __slots__ = ()

    @property
    def live(self) -> bool:
        return False

    def streams(self, predicate: PatternTerm) -> bool:
        return False

    def changes(self, predicate: PatternTerm) -> float:
        return 0.0

    def inside(self, op: Op) -> Self:
        return self


@dataclass(frozen=True, slots=True)
class Uniform(Still):
    """Statistics without any data: `predicates` predicates, equally frequent, with one object a subject and shared
    objects."""

    total: float = 1_000_000.0
    predicates: float = 50.0
    objects_shared_by: float = 10.0

    def triples(self) -> float:
        return self.total

    def count(self, pattern: TriplePattern) -> float:
        return _count(self, pattern, self.total if isinstance(pattern.predicate, Var) else self._each())

    def distinct(self, predicate: PatternTerm, position: Position) -> float:
        if position == "predicate":
            return self.predicates if isinstance(predicate, Var) else 1.0
        return self._each() if position == "subject" else self._each() / self.objects_shared_by

    def _each(self) -> float:
        return self.total / self.predicates


@dataclass(frozen=True, slots=True)
class PredicateCounts(Still):
    """Per predicate IRI: how many triples, distinct subjects and distinct objects."""

    total: float
    predicates: Mapping[str, tuple[float, float, float]] = field(hash=False)

    def triples(self) -> float:
        return self.total

    def count(self, pattern: TriplePattern) -> float:
        known = self._of(pattern.predicate)
        return _count(self, pattern, self.total if known is None else known[0])

    def distinct(self, predicate: PatternTerm, position: Position) -> float:
        known = self._of(predicate)
        if position == "predicate":
            return float(len(self.predicates)) if known is None else 1.0
        column = 1 if position == "subject" else 2
        return known[column] if known else max((counts[column] for counts in self.predicates.values()), default=1.0)

    def _of(self, predicate: PatternTerm) -> tuple[float, float, float] | None:
        """None for a variable; a predicate that does not occur has no triples."""
        return None if isinstance(predicate, Var) else self.predicates.get(predicate.value, (0.0, 1.0, 1.0))


def _is_given(term: PatternTerm) -> bool:
    """A parameter is a constant of each query of a family: the best order for one is the best for all."""
    return not isinstance(term, Var) or term.parameter


def _count(statistics: Statistics, pattern: TriplePattern, rows: float) -> float:
    """`rows` of the predicate, of which each given or repeated term leaves its share: values are taken as equally
    frequent and independent."""
    subjects = max(1.0, statistics.distinct(pattern.predicate, "subject"))
    objects = max(1.0, statistics.distinct(pattern.predicate, "object"))
    if _is_given(pattern.subject):
        rows /= subjects
    if _is_given(pattern.object):
        rows /= objects
    elif pattern.object == pattern.subject:
        rows /= max(subjects, objects)
    return rows
