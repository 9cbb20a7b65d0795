"""The plan of a continuous query: chosen anew when the data has changed so much that another one is clearly cheaper.

Choices that answers depend on (which parts are static) follow the data at once. The order of joins stays as it was
chosen until the ranking has changed for good: statistics fluctuate, and Spark plans a query faster that it has planned
before.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Iterator
from dataclasses import dataclass

from penstock import log
from penstock.algebra.expressions import PatternTerm, Var
from penstock.algebra.ops import Bgp, Op, Query, TriplePattern
from penstock.optimise.cost import cost
from penstock.optimise.driver import Optimised, optimise
from penstock.optimise.statistics import Position, Statistics
from penstock.tuning import DEFAULT, Tuning

__all__ = ["Adaptive", "Reordered"]


@dataclass(frozen=True, slots=True)
class Reordered:
    """A change of the plan, with the evaluation up to that time (microseconds); costs are those of either plan then."""

    time: int
    before: Op
    after: Op
    cost_before: float
    cost_after: float
    why: str


@dataclass(frozen=True, slots=True)
class Remembered:
    """The statistics of an earlier time, with the predicates that can be in the windows now."""

    then: Statistics
    now: Statistics

    @property
    def live(self) -> bool:
        return self.now.live

    def streams(self, predicate: PatternTerm) -> bool:
        return self.now.streams(predicate)

    def inside(self, op: Op) -> Remembered:
        return Remembered(self.then.inside(op), self.now.inside(op))

    def triples(self) -> float:
        return self.then.triples()

    def count(self, pattern: TriplePattern) -> float:
        return self.then.count(pattern)

    def distinct(self, predicate: PatternTerm, position: Position) -> float:
        return self.then.distinct(predicate, position)

    def changes(self, predicate: PatternTerm) -> float:
        return self.then.changes(predicate)


class Adaptive:
    """The current plan of a query. `history` has the newest changes of the join order."""

    def __init__(self, query: Query, rules: Collection[str] | None = None, tuning: Tuning = DEFAULT) -> None:
        self._query, self._rules, self._tuning = query, rules, tuning
        self._current: Optimised | None = None
        self._then: Statistics | None = None
        self.history: deque[Reordered] = deque(maxlen=tuning.reorder_history)

    def plan(self, statistics: Statistics, time: int) -> Optimised:
        """The plan for an evaluation up to that time, by the current statistics."""
        optimised = optimise(self._query, statistics, self._rules, self._tuning)
        if self._current is None or self._then is None:
            self._current, self._then = optimised, statistics
        elif optimised.query != self._current.query:
            self._current = self._better(optimised, Remembered(self._then, statistics), time)
        return self._current

    def _better(self, candidate: Optimised, known: Remembered, time: int) -> Optimised:
        """The new plan if it is clearly cheaper, else the plan by the statistics of the last choice."""
        present = optimise(self._query, known, self._rules, self._tuning)
        before, after = present.query.pattern, candidate.query.pattern
        costs = cost(before, known.now, self._tuning), cost(after, known.now, self._tuning)
        if costs[1] >= self._tuning.reorder_gain * costs[0]:
            return present
        self.history.append(Reordered(time, before, after, *costs, _why(before, known)))
        self._then = known.now
        change = self.history[-1]
        log.optimiser.info("a new join order, cost %.3g → %.3g: %s", *costs, change.why, extra={"reason": change.why})
        return candidate


def _why(op: Op, known: Remembered) -> str:
    """The triple pattern whose number of matches has changed most."""
    changes = [(max(now, 1.0) / max(then, 1.0), pattern, then, now) for pattern, then, now in _counts(op, known)]
    ratio, pattern, then, now = max(changes, key=lambda each: max(each[0], 1 / each[0]), default=(1.0, None, 0.0, 0.0))
    if pattern is None or 0.5 < ratio < 2:
        return "the estimated number of distinct terms has changed since the join order was chosen"
    return f"{_text(pattern)} has {now:,.0f} matches; when the order was chosen it had {then:,.0f}"


def _counts(op: Op, known: Remembered) -> Iterator[tuple[TriplePattern, float, float]]:
    for pattern in op.patterns if isinstance(op, Bgp) else ():
        yield pattern, known.then.count(pattern), known.now.count(pattern)
    for child in op.children:
        yield from _counts(child, known.inside(op))


def _text(pattern: TriplePattern) -> str:
    return " ".join(f"?{term.name}" if isinstance(term, Var) else str(term) for term in pattern.terms)
