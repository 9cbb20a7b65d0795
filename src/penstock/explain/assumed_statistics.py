"""Statistics for a query that was never run: the position of a pattern tells which windows it may read."""

from __future__ import annotations

from dataclasses import dataclass, replace

from penstock.algebra.expressions import PatternTerm
from penstock.algebra.ops import Op, TriplePattern
from penstock.algebra.pattern_scope import DEFAULT_SCOPE, PatternScope
from penstock.explain.sources import Sources
from penstock.optimise import Statistics
from penstock.optimise.statistics import Position

__all__ = ["AssumedStatistics"]


@dataclass(frozen=True, slots=True)
class AssumedStatistics:
    """The statistics of `others`, with the windows of a query's sources."""

    others: Statistics
    sources: Sources
    place: PatternScope = DEFAULT_SCOPE

    @property
    def live(self) -> bool:
        return bool(self.sources.windows)

    def streams(self, predicate: PatternTerm) -> bool:
        return any(source.window is not None for source in self.sources.of(predicate, self.place))

    def inside(self, op: Op) -> AssumedStatistics:
        return replace(self, others=self.others.inside(op), place=self.place.inside(op))

    def triples(self) -> float:
        return self.others.triples()

    def count(self, pattern: TriplePattern) -> float:
        return self.others.count(pattern)

    def distinct(self, predicate: PatternTerm, position: Position) -> float:
        return self.others.distinct(predicate, position)

    def changes(self, predicate: PatternTerm) -> float:
        return self.others.changes(predicate)
