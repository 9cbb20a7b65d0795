"""The slices of a span: parts of time with about equally many elements, each of which one task evaluates."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from penstock.model.span import Span
from penstock.model.statistics import SegmentStatistics
from penstock.model.stretches import known_stretches

__all__ = ["cut"]


def cut(
    span: Span,
    segments: Sequence[SegmentStatistics],
    rows: int,
    most: int,
    overlap: int,
    least: int,
    overlaps: int = 1,
    place: Callable[[int], int] = int,
) -> list[Span]:
    """Return the span in slices that read about equally many elements, by the counts of the log.

    There are `rows` elements in all: those without a segment are taken to be spread evenly. `most` is the number of
    elements that a slice should have at most, and `least` the number of slices that are wanted, one for each core. A
    task reads the elements of `overlap` before its slice as well, so no slice is shorter than that; it is at least
    `overlaps` times as long if there are more slices than cores. `place` moves a bound to the best one near it.
    """
    if max(least, -(-rows // most)) < 2:
        return [span]
    elements = _cumulative(span, segments, rows - sum(segment.rows for segment in segments), overlap)
    total = int(elements.until(span.through) - elements.until(span.after))
    count = _count(span.through - span.after, total, most, max(1, overlap), least, overlaps)
    if count < 2 or not total:
        return [span]
    low, high = 0.0, elements.until(span.through)
    while high - low > 1:  # element
        load = (low + high) / 2
        low, high = (low, load) if _bounds(span, elements, overlap, load, count, place)[1] else (load, high)
    bounds, _ = _bounds(span, elements, overlap, high, count, place)
    return [Span(*pair) for pair in zip(bounds, [*bounds[1:], span.through], strict=True)]


def _count(length: int, total: int, most: int, overlap: int, least: int, overlaps: int) -> int:
    """Return the number of slices: as many as cores, or that many several times."""
    count = min(-(-total // most), length // (overlaps * overlap))
    return min(-(-max(count, least) // least) * least, length // overlap)


def _bounds(
    span: Span, elements: _Cumulative, overlap: int, load: float, count: int, place: Callable[[int], int]
) -> tuple[list[int], bool]:
    """Return where slices begin that read `load` elements each, and whether so many slices reach the end."""
    bounds = [span.after]
    while len(bounds) < count:
        before = elements.until(bounds[-1] - overlap)
        if elements.until(span.through) - before <= load:
            break
        first, last = bounds[-1] + max(1, overlap), span.through - max(1, overlap)
        bound = place(min(max(elements.time(before + load), first), last))
        if last < first or bound >= span.through:
            break
        bounds.append(bound)
    return bounds, elements.until(span.through) - elements.until(bounds[-1] - overlap) <= load


@dataclass(frozen=True, slots=True)
class _Cumulative:
    """Times in order, and the number of elements up to each."""

    times: np.ndarray
    numbers: np.ndarray

    def until(self, time: int) -> float:
        return float(np.interp(time, self.times, self.numbers))

    def time(self, number: float) -> int:
        return int(np.interp(number, self.numbers, self.times))


def _cumulative(span: Span, segments: Sequence[SegmentStatistics], others: int, overlap: int) -> _Cumulative:
    """Return the number of elements up to times of the span and of the overlap before it: within a stretch they are
    spread evenly, and so are `others` in the span."""
    begin = span.after - overlap
    stretches = (stretch for segment in segments for stretch in known_stretches(segment))
    inside = [s for s in stretches if s.rows and s.last > begin and s.first <= span.through]
    ends = [end for s in inside for end in (s.first - 1, s.last)]
    times = np.unique(np.clip([begin, span.after, span.through, *ends], begin, span.through))
    numbers = max(0, others) * np.clip((times - span.after) / (span.through - span.after), 0.0, 1.0)
    for stretch in inside:
        share = (times - (stretch.first - 1)) / (stretch.last - stretch.first + 1)
        numbers += stretch.rows * np.clip(share, 0.0, 1.0)
    return _Cumulative(times, numbers - numbers[0])
