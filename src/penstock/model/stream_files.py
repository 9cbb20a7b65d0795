"""The Parquet files of a stream, with the statistics that are known of them."""

from __future__ import annotations

from dataclasses import dataclass

from penstock.model.statistics import SegmentStatistics

__all__ = ["StreamFiles"]


@dataclass(frozen=True, slots=True)
class StreamFiles:
    """A stream in Parquet: `paths` in the order of arrival, with columns s, p, o, ts and perhaps g.

    `predicates` has the encoded predicates that occur, None if they are not known. `dropped` is the number of earlier
    elements that are no longer in the log. `rows` is the estimated number of elements, and `segments` has the
    statistics of each part, for the optimiser.
    """

    paths: tuple[str, ...]
    predicates: frozenset[str] | None = None
    dropped: int = 0
    rows: int = 0
    segments: tuple[SegmentStatistics, ...] = ()
