"""The slices of a span: parts of time with about equally many elements, each of which one task evaluates."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from penstock.model.span import Span
from penstock.model.statistics import SegmentStatistics
from penstock.model.stretches import known_stretches

__all__ = ["cut"]


def cut(
    span: Span, segments: Sequence[SegmentStatistics], rows: int, most: int, overlap: int, least: int
) -> list[Span]:
    """Return the span in slices with about equally many elements, by the counts of the log.

    There are `rows` elements in all: those without a segment are taken to be spread evenly. `most` is the number of
    elements that a slice should have at most, and `least` the number of slices that are wanted. A task reads the
    elements of `overlap` before its slice as well, so no slice is shorter than that.
    """
    if max(least, -(-rows // most)) < 2:
        return [span]
    times, numbers = _cumulative(span, segments, rows - sum(segment.rows for segment in segments))
    total = int(numbers[-1])
    length = span.through - span.after
    count = min(max(least, -(-total // most)), length // max(1, overlap))
    if count < 2 or not total:
        return [span]
    wanted = np.linspace(0, total, count + 1)[1:-1]
    bounds, before = [span.after], span.after
    for bound in np.interp(wanted, numbers, times).astype(np.int64).tolist():
        if bound - before >= max(1, overlap) and span.through - bound >= max(1, overlap):
            bounds.append(bound)
            before = bound
    return [Span(*pair) for pair in zip(bounds, [*bounds[1:], span.through], strict=True)]


def _cumulative(span: Span, segments: Sequence[SegmentStatistics], others: int) -> tuple[np.ndarray, np.ndarray]:
    """Return times of the span, and the number of elements up to each: within a stretch they are spread evenly, and
    so are `others` in the span."""
    known = (stretch for segment in segments for stretch in known_stretches(segment))
    inside = [s for s in known if s.rows and s.last > span.after and s.first <= span.through]
    ends = [end for s in inside for end in (s.first - 1, s.last)]
    times = np.unique(np.clip([span.after, span.through, *ends], span.after, span.through))
    numbers = max(0, others) * (times - span.after) / (span.through - span.after)
    for stretch in inside:
        share = (times - (stretch.first - 1)) / (stretch.last - stretch.first + 1)
        numbers += stretch.rows * np.clip(share, 0.0, 1.0)
    return times, numbers - numbers[0]
