"""Statistics of a log segment, which the optimiser reads instead of its elements."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from penstock.model import hyperloglog

__all__ = ["SegmentStatistics"]


class SegmentStatistics(Protocol):
    """The statistics of a segment: rows, first and last timestamp, rows per predicate, and sketches.

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
