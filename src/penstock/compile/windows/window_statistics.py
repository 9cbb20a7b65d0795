"""What the optimiser knows of a continuous query's data just now: the background, and what its windows hold.

The numbers of a window are those at an instant in the middle of what is to be answered. Of each segment of its stream
they take the share that lies in the window, and different terms from the segments' sketches.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from pyoxigraph import NamedNode

from penstock.algebra.expressions import PatternTerm
from penstock.algebra.ops import Op, StreamWindow, TriplePattern
from penstock.algebra.pattern_scope import ANYWHERE, Place
from penstock.algebra.windows import CountWindow, TimeWindow, Window
from penstock.model import hyperloglog, term_encoding
from penstock.model.span import Span
from penstock.model.statistics import SegmentStatistics
from penstock.optimise import PredicateCounts, Statistics
from penstock.optimise.statistics import Position, Still

__all__ = ["LiveStatistics", "WindowStatistics", "content_statistics", "turnover", "upper_bound"]


@dataclass(frozen=True, slots=True)
class WindowStatistics:
    """A window: the encoded predicates that may be in it (None: any), the numbers of what it holds, and how many times
    over that is other elements by the end of the span."""

    window: StreamWindow
    predicates: frozenset[str] | None
    counts: Callable[[], Statistics]
    changes: float = 0.0

    def has(self, predicate: PatternTerm) -> bool:
        known = self.predicates
        return known is None or not isinstance(predicate, NamedNode) or term_encoding.encode(predicate) in known


@dataclass(frozen=True, slots=True)
class LiveStatistics:
    """Of what triple patterns at a place read."""

    background: Statistics
    windows: tuple[WindowStatistics, ...]
    place: Place = ANYWHERE

    @property
    def live(self) -> bool:
        return True

    def inside(self, op: Op) -> LiveStatistics:
        place = self.place.inside(op)
        return self if place is self.place else replace(self, place=place)

    def streams(self, predicate: PatternTerm) -> bool:
        return any(seen.has(predicate) for seen in self._here())

    def triples(self) -> float:
        return sum(known.triples() for known in self._sources())

    def count(self, pattern: TriplePattern) -> float:
        return sum(known.count(pattern) for known in self._sources(pattern.predicate))

    def distinct(self, predicate: PatternTerm, position: Position) -> float:
        """Mostly one source alone has the predicate; of several the terms may well be the same."""
        return max((known.distinct(predicate, position) for known in self._sources(predicate)), default=1.0)

    def changes(self, predicate: PatternTerm) -> float:
        return max((seen.changes for seen in self._here() if seen.has(predicate)), default=0.0)

    def _here(self) -> list[WindowStatistics]:
        read = self.place.windows(seen.window for seen in self.windows)
        return [seen for seen in self.windows if seen.window in read]

    def _sources(self, predicate: PatternTerm | None = None) -> list[Statistics]:
        windows = [seen.counts() for seen in self._here() if predicate is None or seen.has(predicate)]
        return [self.background, *windows] if self.place.background else windows


def content_statistics(
    window: Window, segments: Sequence[SegmentStatistics], span: Span, sampled: Callable[[], Statistics]
) -> Statistics:
    """What the window holds at an instant of the span; `sampled` tells about the whole stream where no sketch does."""
    shares = list(zip(segments, _shares(window, segments, span), strict=True))
    visible = [(segment, share) for segment, share in shares if share]
    if segments and all(segment.sketches for segment in segments):
        return _counted(visible)
    rows = sum(segment.rows for segment in segments)
    return Share(sampled(), sum(segment.rows * share for segment, share in visible) / rows if rows else 1.0)


def upper_bound(segments: Sequence[SegmentStatistics], predicate: str) -> int | None:
    """The greatest number of elements that can have the predicate; None: it is not known.

    A segment whose predicates were not counted has at most as many as it has rows.
    """
    return sum(_most(segment, predicate) for segment in segments) if segments else None


def _most(segment: SegmentStatistics, predicate: str) -> int:
    return segment.rows if segment.predicates is None else segment.predicates.get(predicate, 0)


def turnover(window: Window, segments: Sequence[SegmentStatistics], span: Span) -> float:
    """How many times over the window holds other elements at the end of the span."""
    if isinstance(window, CountWindow):
        return sum(segment.rows for segment in segments) / window.size
    if window.range is None:
        return 0.0
    step = window.step if isinstance(window, TimeWindow) else 1
    return max(0, span.through - span.after - step) / window.range


def _counted(visible: Sequence[tuple[SegmentStatistics, float]]) -> PredicateCounts:
    rows: dict[str, float] = {}
    for segment, share in visible:
        for predicate, count in (segment.predicates or {}).items():
            rows[predicate] = rows.get(predicate, 0.0) + share * count
    known = hyperloglog.merged(segment.sketches for segment, _ in visible)
    return PredicateCounts(sum(rows.values()), {p[1:-1]: (n, *_terms(n, known.get(p))) for p, n in rows.items()})


def _terms(rows: float, known: hyperloglog.Counted | None) -> tuple[float, float]:
    """How many different subjects and objects so many rows have."""
    if known is None:
        return rows, rows
    looked_at, subjects, objects = known
    return tuple(hyperloglog.among(rows, hyperloglog.estimated(text), looked_at) for text in (subjects, objects))  # type: ignore[return-value]


def _shares(window: Window, segments: Sequence[SegmentStatistics], span: Span) -> list[float]:
    """Of each segment, as if its elements came evenly."""
    if isinstance(window, CountWindow):
        return [min(1.0, window.size / max(1, sum(segment.rows for segment in segments)))] * len(segments)
    if window.range is None:
        return [1.0] * len(segments)
    delay = window.delay if isinstance(window, TimeWindow) else 0
    after, through = span.after - delay - window.range, span.through - delay
    at_once = window.range / (through - after)
    return [at_once * _overlap(segment, after, through) for segment in segments]


def _overlap(segment: SegmentStatistics, after: int, through: int) -> float:
    """The part of its time that lies in the span."""
    common = min(segment.last, through) - max(segment.first - 1, after)
    return max(0, common) / (segment.last - segment.first + 1)


@dataclass(frozen=True, slots=True)
class Share(Still):
    """Some of the rows that others are the numbers of; terms are taken to come again and again."""

    whole: Statistics
    share: float

    def triples(self) -> float:
        return self.share * self.whole.triples()

    def count(self, pattern: TriplePattern) -> float:
        return self.share * self.whole.count(pattern)

    def distinct(self, predicate: PatternTerm, position: Position) -> float:
        return self.whole.distinct(predicate, position)
