"""Maintenance of the log: retention drops segments that no query can read, and compaction merges small ones."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import groupby

import pyarrow as pa
import pyarrow.parquet as pq

from penstock.model import hyperloglog
from penstock.stream.log.partition import StreamPartition, last_batches
from penstock.stream.log.segment import Segment, segment_of, write_part
from penstock.tuning import DEFAULT, Tuning

__all__ = ["droppable", "merge", "worth_merging"]


def droppable(segments: Mapping[str, Segment], horizon: int, keep_last: int = 0) -> list[str]:
    """The names of the segments that can be dropped: as many as possible, so that

    - all they hold has ts ≤ horizon,
    - all they hold is older than all that stays (windows that count elements number them by time), and
    - of the elements with ts ≤ horizon, `keep_last` stay, if there are so many.
    """
    full = {name: segment for name, segment in segments.items() if segment.rows}
    by_age = sorted(full, key=lambda name: full[name].last)
    old = [name for name in by_age if full[name].last <= horizon]
    oldest_kept = min((full[name].first for name in by_age[len(old) :]), default=horizon + 1)
    kept = 0
    while old and (kept < keep_last or full[old[-1]].last >= oldest_kept):
        segment = full[old.pop()]
        kept += segment.rows
        oldest_kept = min(oldest_kept, segment.first)
    return [*old, *(segments.keys() - full.keys())]


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


def merge(partition: StreamPartition, names: list[str]) -> None:
    """Put one segment in the place of these neighbours, so that the order of arrival stays."""
    members = [partition.segments[name] for name in names]
    name = f"merged-{members[0].number}-{members[-1].number}"  # a pair of neighbours' numbers never comes twice
    paths = [path for member in members for path in member.paths]
    tables = [pq.read_table(path, partitioning=None) for path in paths]
    table = pa.concat_tables(tables) if tables else None
    known = hyperloglog.merged(member.sketches for member in members)
    parts = [write_part(table, partition.data(name) / "part-00000.parquet", known)] if table is not None else []
    segment = segment_of(
        parts,
        members[-1].number,
        last_batches(member.batches for member in members),
        sum(member.late for member in members),
        sum(member.malformed for member in members),
    )
    partition.add(name, segment, replaces=names)
