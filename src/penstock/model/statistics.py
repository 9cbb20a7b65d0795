"""Statistics of a log segment, which the optimiser reads instead of its elements."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from penstock.model import hyperloglog
from penstock.model.stretches import Stretch

__all__ = ["SegmentStatistics"]


class SegmentStatistics(Protocol):
    """The statistics of a segment: rows, first and last timestamp, rows per predicate, sketches, and stretches.

    See `penstock.stream.log.segment.Segment`.
    """

    @property
    def rows(self) -> int: ...
    @property
    def first(self) -> int: ...
    @property
    def last(self) -> int: ...
    @property
    def predicates(self) -> Mapping[str, int] | None:
        """How many elements have each predicate; None: they were not counted."""

    @property
    def sketches(self) -> hyperloglog.Sketches: ...
    @property
    def stretches(self) -> Sequence[Stretch]:
        """Where its elements lie in time; none: that is not known."""
