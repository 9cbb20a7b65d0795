"""Cardinality estimates of the data that a continuous query reads now: the background and the content of its windows.

The estimates of a window are those at an instant in the middle of the span. Of each segment of its stream they take the
share that lies in the window, and the number of distinct terms from the segment's sketches.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from pyoxigraph import NamedNode

from penstock.algebra.expressions import PatternTerm
from penstock.algebra.ops import Op, StreamWindow, TriplePattern
from penstock.algebra.pattern_scope import DEFAULT_SCOPE, PatternScope
from penstock.algebra.windows import CountWindow, TimeWindow, Window
from penstock.model import hyperloglog, term_encoding
from penstock.model.span import Span
from penstock.model.statistics import SegmentStatistics
from penstock.model.stretches import rows_within
from penstock.optimise import PredicateCounts, Statistics
from penstock.optimise.statistics import Position, Still

__all__ = ["LiveStatistics", "WindowStatistics", "content_statistics", "turnover", "upper_bound"]


@dataclass(frozen=True, slots=True)
class WindowStatistics:
    """A window: the encoded predicates that may be in it (None: any), the estimates, and its turnover in the span."""

    window: StreamWindow
    predicates: frozenset[str] | None
    counts: Callable[[], Statistics]
    changes: float = 0.0

    def has(self, predicate: PatternTerm) -> bool:
        predicates = self.predicates
        return (
            predicates is None or not isinstance(predicate, NamedNode) or term_encoding.encode(predicate) in predicates
        )


@dataclass(frozen=True, slots=True)
class LiveStatistics:
    """Estimates for the triple patterns at one place of a query."""

    background: Statistics
    windows: tuple[WindowStatistics, ...]
    place: PatternScope = DEFAULT_SCOPE

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
        """Return the distinct terms: the largest number of any source.

        Mostly one source alone has the predicate; several sources may well have the same terms.
        """
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
    """Estimate the content of a window at an instant of the span; from the sample of the stream if a segment has no
    sketch."""
    shares = list(zip(segments, _shares(window, segments, span), strict=True))
    visible = [(segment, share) for segment, share in shares if share]
    if segments and all(segment.sketches for segment in segments):
        return _counted(visible)
    rows = sum(segment.rows for segment in segments)
    return Share(sampled(), sum(segment.rows * share for segment, share in visible) / rows if rows else 1.0)


def upper_bound(segments: Sequence[SegmentStatistics], predicate: str) -> int | None:
    """Return the greatest number of elements that can have the predicate; None if it is unknown.

    A segment whose predicates were not counted has at most as many as it has rows.
    """
    return sum(_most(segment, predicate) for segment in segments) if segments else None


def _most(segment: SegmentStatistics, predicate: str) -> int:
    return segment.rows if segment.predicates is None else segment.predicates.get(predicate, 0)


def turnover(window: Window, segments: Sequence[SegmentStatistics], span: Span) -> float:
    """Return how many times the content of the window is replaced within the span."""
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
    sketches = hyperloglog.merged(segment.sketches for segment, _ in visible)
    return PredicateCounts(sum(rows.values()), {p[1:-1]: (n, *_terms(n, sketches.get(p))) for p, n in rows.items()})


def _terms(rows: float, sketch: hyperloglog.Counted | None) -> tuple[float, float]:
    """Estimate the distinct subjects and objects among so many rows."""
    if sketch is None:
        return rows, rows
    looked_at, subjects, objects = sketch
    return tuple(hyperloglog.among(rows, hyperloglog.estimated(text), looked_at) for text in (subjects, objects))  # type: ignore[return-value]


def _shares(window: Window, segments: Sequence[SegmentStatistics], span: Span) -> list[float]:
    """Return the share of each segment that lies in the window, as if the elements of a stretch were evenly
    distributed."""
    if isinstance(window, CountWindow):
        return [min(1.0, window.size / max(1, sum(segment.rows for segment in segments)))] * len(segments)
    if window.range is None:
        return [1.0] * len(segments)
    delay = window.delay if isinstance(window, TimeWindow) else 0
    after, through = span.after - delay - window.range, span.through - delay
    visible_share = window.range / (through - after)
    return [visible_share * rows_within(segment, after, through) / max(1, segment.rows) for segment in segments]


@dataclass(frozen=True, slots=True)
class Share(Still):
    """Estimates for a share of the rows; the number of distinct terms stays, since terms are taken to recur."""

    whole: Statistics
    share: float

    def triples(self) -> float:
        return self.share * self.whole.triples()

    def count(self, pattern: TriplePattern) -> float:
        return self.share * self.whole.count(pattern)

    def distinct(self, predicate: PatternTerm, position: Position) -> float:
        return self.whole.distinct(predicate, position)
