"""Statistics of a log segment, which the optimiser reads instead of its elements."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from penstock.model import hyperloglog
from penstock.model.stretches import Measured

__all__ = ["SegmentStatistics"]


class SegmentStatistics(Measured, Protocol):
    """The statistics of a segment: rows, first and last timestamp, rows per predicate, sketches, and stretches.

    See `penstock.stream.log.segment.Segment`.
    """

    @property
    def predicates(self) -> Mapping[str, int] | None:
        """The number of elements with each predicate; None: they were not counted."""

    @property
    def sketches(self) -> hyperloglog.Sketches: ...
