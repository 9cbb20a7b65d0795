"""Stretches: the parts of a time axis that have elements, cut at the longest pauses between them.

    elements     x  x xx x x                                                  xx x  x x
    stretches    |---------|                                                  |-------|

A segment has a few of them, so that one element of a wrong year does not spread the others over decades.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from penstock.tuning import DEFAULT, Tuning

__all__ = ["Measured", "Stretch", "cut_at_pauses", "known_stretches", "merged", "rows_within"]


class Stretch(NamedTuple):
    """The first and the last timestamp of some elements without a long pause, and their number."""

    first: int
    last: int
    rows: int


class Measured(Protocol):
    """Elements of which number and times are known: see `penstock.model.statistics.SegmentStatistics`."""

    @property
    def rows(self) -> int: ...
    @property
    def first(self) -> int: ...
    @property
    def last(self) -> int: ...
    @property
    def stretches(self) -> Sequence[Stretch]:
        """The stretches of time in which the elements lie; none: that is not known."""


def cut_at_pauses(times: npt.NDArray[np.int64], tuning: Tuning = DEFAULT) -> tuple[Stretch, ...]:
    """Return the stretches of elements with these timestamps, in any order."""
    if not len(times):
        return ()
    first, last = int(times.min()), int(times.max())
    if last - first <= tuning.pause_us:
        return (Stretch(first, last, len(times)),)
    ordered = times if bool(np.all(times[1:] >= times[:-1])) else np.sort(times)
    pauses = np.diff(ordered)
    longest = np.argpartition(pauses, -most)[-most:] if len(pauses) > (most := tuning.stretches - 1) else slice(None)
    places = np.arange(len(pauses))[longest]
    ends = np.sort(places[pauses[places] > tuning.pause_us]) + 1
    bounds = pairwise([0, *ends.tolist(), len(ordered)])
    return tuple(Stretch(int(ordered[i]), int(ordered[j - 1]), j - i) for i, j in bounds)


def merged(stretches: Iterable[Stretch], tuning: Tuning = DEFAULT) -> tuple[Stretch, ...]:
    """Return the stretches of several parts as those of the whole; only the longest pauses stay."""
    whole: list[Stretch] = []
    for stretch in sorted(stretches):
        if whole and stretch.first - whole[-1].last <= tuning.pause_us:
            whole[-1] = _joined(whole[-1], stretch)
        else:
            whole.append(stretch)
    pauses = sorted(range(1, len(whole)), key=lambda i: whole[i - 1].last - whole[i].first)
    kept = sorted(pauses[: tuning.stretches - 1])
    groups = zip([0, *kept], [*kept, len(whole)], strict=True)
    return tuple(_joined(*whole[i:j]) for i, j in groups if i < j)


def _joined(*stretches: Stretch) -> Stretch:
    last, rows = max(one.last for one in stretches), sum(one.rows for one in stretches)
    return Stretch(stretches[0].first, last, rows)


def known_stretches(part: Measured) -> Sequence[Stretch]:
    """Return the stretches of a part; where they are not known, its elements are one."""
    return part.stretches or (Stretch(part.first, part.last, part.rows),)


def rows_within(part: Measured, after: int, through: int) -> float:
    """Estimate the number of elements with after < ts <= through: within a stretch they are spread evenly."""
    return sum(stretch.rows * _overlap(stretch, after, through) for stretch in known_stretches(part))


def _overlap(stretch: Stretch, after: int, through: int) -> float:
    common = min(stretch.last, through) - max(stretch.first - 1, after)
    return max(0, common) / (stretch.last - stretch.first + 1)
