"""Merging small segments. A merged segment stands where its members stood, so the order of arrival stays."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import groupby

import pyarrow as pa
import pyarrow.parquet as pq

from penstock.model import hyperloglog
from penstock.stream.log.partition import StreamPartition, last_batches
from penstock.stream.log.segment import Segment, segment_of, write_part
from penstock.tuning import DEFAULT, Tuning

__all__ = ["merge", "worth_merging"]


def worth_merging(segments: Mapping[str, Segment], tuning: Tuning = DEFAULT) -> list[str]:
    """The names of neighbours of about one size, with smaller ones between them, if there are enough of them."""
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
    """Neighbours that are all smaller than that."""
    groups = groupby(segments, key=lambda name: segments[name].rows < size)
    return [list(names) for small, names in groups if small]


def merge(shelf: StreamPartition, names: list[str]) -> None:
    """Put one segment in the place of these neighbours."""
    members = [shelf.segments[name] for name in names]
    name = f"merged-{members[0].number}-{members[-1].number}"  # a pair of neighbours' numbers never comes twice
    paths = [path for member in members for path in member.paths]
    tables = [pq.read_table(path, partitioning=None) for path in paths]
    table = pa.concat_tables(tables) if tables else None
    known = hyperloglog.merged(member.sketches for member in members)
    parts = [write_part(table, shelf.data(name) / "part-00000.parquet", known)] if table is not None else []
    segment = segment_of(
        parts,
        members[-1].number,
        last_batches(member.batches for member in members),
        sum(member.late for member in members),
        sum(member.malformed for member in members),
    )
    shelf.add(name, segment, replaces=names)
