"""Maintenance of the log: retention drops segments that no query can read, and compaction merges small ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby

import pyarrow as pa
import pyarrow.parquet as pq

from penstock.model import hyperloglog
from penstock.stream.log.partition import StreamPartition, last_batches
from penstock.stream.log.segment import Segment, segment_of, write_part
from penstock.stream.log.source_positions import merged
from penstock.tuning import DEFAULT, Tuning

__all__ = ["droppable", "merge", "worth_merging"]


def droppable(segments: Mapping[str, Segment], horizon: int, keep_last: int = 0, tail: int | None = None) -> list[str]:
    """The names of the segments that can be dropped: as many as possible, so that

    - all they hold has ts ≤ horizon,
    - all they hold is older than all that stays (windows that count elements number them by time), and
    - of the elements with ts ≤ horizon, `keep_last` stay, if there are so many.

    `tail` is the least time of the elements that are in no segment: they stay.
    """
    full = {name: segment for name, segment in segments.items() if segment.rows}
    by_age = sorted(full, key=lambda name: full[name].last)
    candidates = [name for name in by_age if full[name].last <= horizon]
    staying = [full[name].first for name in by_age[len(candidates) :]]
    oldest_kept = min([horizon + 1, *staying, *(() if tail is None else (tail,))])
    kept_elements = 0
    while candidates and (kept_elements < keep_last or full[candidates[-1]].last >= oldest_kept):
        segment = full[candidates.pop()]
        kept_elements += segment.rows
        oldest_kept = min(oldest_kept, segment.first)
    return [*candidates, *(segments.keys() - full.keys())]


def worth_merging(segments: Mapping[str, Segment], tuning: Tuning = DEFAULT) -> list[str]:
    """The names of neighbouring segments of about one size that are worth a merge; empty if there are too few."""
    fanout = tuning.compaction_fanout
    least, size = 0, fanout
    while size <= tuning.compaction_rows:
        for run in _runs(segments, size):
            members = [at for at, name in enumerate(run) if segments[name].rows >= least]
            if len(members) >= fanout:
                return run[: members[-1] + 1]
        least, size = size, size * fanout
    return []


def _runs(segments: Mapping[str, Segment], size: int) -> list[list[str]]:
    """Runs of neighbours that all have fewer rows than `size`."""
    groups = groupby(segments, key=lambda name: segments[name].rows < size)
    return [list(names) for small, names in groups if small]


def merge(partition: StreamPartition, members: Sequence[Segment]) -> tuple[str, Segment]:
    """Write the rows of these neighbours as one segment, and return it with its name; `add` puts it in their place, so
    that the order of arrival stays."""
    name = f"merged-{members[0].number}-{members[-1].number}"  # a pair of neighbours' numbers never comes twice
    paths = [path for member in members for path in member.paths]
    tables = [pq.read_table(path, partitioning=None) for path in paths]
    table = pa.concat_tables(tables) if tables else None
    sketches = hyperloglog.merged(member.sketches for member in members)
    parts = [write_part(table, partition.data(name) / "part-00000.parquet", sketches)] if table is not None else []
    partition.sync(parts)
    return name, segment_of(
        parts,
        members[-1].number,
        last_batches(member.batches for member in members),
        sum(member.late for member in members),
        sum(member.malformed for member in members),
        sum(member.ahead for member in members),
        sources=merged(member.sources for member in members),
    )
