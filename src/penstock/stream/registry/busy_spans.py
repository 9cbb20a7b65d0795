"""Busy spans: the parts of a span in which some window may hold an element, and the pieces that are evaluated at once.

    elements        x  x xx                                               x xx  x
    windows hold    [-------------)                                       [-------------)
    busy spans      |--------------|                 quiet                |--------------|

Between them nothing has to be evaluated, however long that is. Pure arithmetic.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

from penstock.algebra.schedule import Schedule
from penstock.model.span import Span
from penstock.model.stretches import known_stretches
from penstock.stream.log.stream_log import Segment
from penstock.tuning import DEFAULT, Tuning

__all__ = ["BusySpan", "Segments", "busy_spans", "pieces", "smaller_pieces"]

Segments = Mapping[str, Sequence[Segment]]


class BusySpan(NamedTuple):
    """The instants t with after < t <= through, and how many elements they may see."""

    after: int
    through: int
    rows: int


def busy_spans(times: Schedule, due: Span, segments: Segments) -> list[BusySpan]:
    """Return the busy parts of a span, in their order. No window holds an element at an instant of the others."""
    spans: list[BusySpan] = []
    for one in sorted(_seen(times, due, segments)):
        if spans and one.after <= spans[-1].through:
            last = spans.pop()
            one = BusySpan(last.after, max(last.through, one.through), last.rows + one.rows)
        spans.append(one)
    return spans


def _seen(times: Schedule, due: Span, segments: Segments) -> Iterator[BusySpan]:
    """The parts of the span that may see the elements of each stretch."""
    for stream, parts in segments.items():
        for stretch in (stretch for part in parts for stretch in known_stretches(part)):
            end = times.seen_until(stretch.last, stream)
            after, through = max(stretch.first - 1, due.after), min(due.through if end is None else end, due.through)
            if after < through:
                yield BusySpan(after, through, stretch.rows)


def pieces(times: Schedule, due: Span, segments: Segments, tuning: Tuning = DEFAULT) -> Iterator[Span]:
    """Return the span in pieces, each of which is evaluated at once, or passed over if it is quiet.

    Mostly it is one piece. If there are many elements, it is cut at the longest quiet parts, since plans are chosen by
    how dense elements are; and where there are very many instants, so that the answers fit into memory.
    """
    elements = sum(part.rows for parts in segments.values() for part in parts)
    if elements < tuning.job_elements or _is_short(times, due, tuning):
        yield due
        return
    busy, before = busy_spans(times, due, segments), due.after
    for quiet in [*_long_quiet(due, busy, elements, tuning), Span(due.through, due.through)]:
        inside = [one for one in busy if before <= one.after and one.through <= quiet.after]
        bounds = [before, *_cuts(times, inside, tuning), quiet.after, quiet.through]
        yield from (Span(*bound) for bound in pairwise(bounds) if bound[0] < bound[1])
        before = quiet.through


def smaller_pieces(times: Schedule, piece: Span, tuning: Tuning = DEFAULT) -> list[Span]:
    """Return a piece in several, if its answers are too large to be collected at once; none if it has one instant."""
    length = piece.through - piece.after
    if length < 2 or (not times.at_changes and times.count(piece.after, piece.through) < 2):
        return []
    width = -(-length // tuning.smaller_pieces)
    return [Span(*bound) for bound in pairwise([*range(piece.after, piece.through, width), piece.through])]


def _is_short(times: Schedule, due: Span, tuning: Tuning) -> bool:
    length = due.through - due.after
    return length <= min([tuning.pause_us, *(step * tuning.job_instants for step in times.steps)])


def _long_quiet(due: Span, busy: Sequence[BusySpan], elements: int, tuning: Tuning) -> list[Span]:
    """The quiet parts that are longer than all busy ones together, if they are not too many."""
    if not busy:
        return []
    least = max(tuning.pause_us, sum(one.through - one.after for one in busy))
    ends = pairwise([due.after, *(end for one in busy for end in (one.after, one.through)), due.through])
    quiet = [Span(*pair) for number, pair in enumerate(ends) if number % 2 == 0 and pair[1] - pair[0] > least]
    longest = sorted(quiet, key=lambda one: one.after - one.through)[
        : min(tuning.stretches, elements // tuning.job_elements)
    ]
    return sorted(longest, key=lambda one: one.after)


def _cuts(times: Schedule, busy: Sequence[BusySpan], tuning: Tuning) -> Iterator[int]:
    """The times that cut busy spans into parts of equal length with few enough instants, quiet parts left out."""
    length, step = sum(one.through - one.after for one in busy), min(times.steps, default=None)
    instants = 0 if step is None else length // step
    count = min(-(-instants // tuning.job_instants), sum(one.rows for one in busy) // tuning.job_elements)
    if count < 2:
        return
    left = width = -(-length // count)
    for one in busy:
        at = one.after
        while one.through - at > left:
            at, left = at + left, width
            yield at
        left -= one.through - at
