"""The Parquet files of a stream, with the statistics that are known of them."""

from __future__ import annotations

from dataclasses import dataclass

from penstock.model.statistics import SegmentStatistics

__all__ = ["StreamFiles"]


@dataclass(frozen=True, slots=True)
class StreamFiles:
    """A stream as it lies in Parquet: `paths` in the order of arrival, with columns s, p, o, ts and perhaps g.

    `predicates` are the encoded ones that occur, None if that is not known; `dropped` says how many elements stood
    before these and are in the log no longer; `rows` is about how many these are, and `segments` what is known of them
    piece by piece, for the optimiser.
    """

    paths: tuple[str, ...]
    predicates: frozenset[str] | None = None
    dropped: int = 0
    rows: int = 0
    segments: tuple[SegmentStatistics, ...] = ()
