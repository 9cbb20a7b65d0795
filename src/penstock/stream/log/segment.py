"""Segments of the stream log, and the Parquet files that they are made of."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path, PurePath
from typing import Any, Protocol
from zlib import crc32

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from penstock.io.columns import logged
from penstock.model import hyperloglog
from penstock.model.hyperloglog import Sketches
from penstock.model.statistics import SegmentStatistics
from penstock.model.stretches import Stretch, cut_at_pauses, known_stretches, merged
from penstock.stream.base import durable_files
from penstock.stream.base.disk_errors import damaged
from penstock.stream.log.source_positions import NOWHERE, Sources, sources_from_json, sources_to_json
from penstock.tuning import DEFAULT, Tuning

__all__ = ["Segment", "SegmentFile", "WrittenFile", "segment_of", "write_part"]


class SegmentFile(SegmentStatistics, Protocol):
    """A Parquet file of elements with its statistics, which the job that writes the file collects on the way."""

    @property
    def path(self) -> str: ...
    @property
    def checksum(self) -> int:
        """The CRC-32 of its content."""


@dataclass(frozen=True, slots=True)
class WrittenFile:
    """A Parquet file that this process has written."""

    path: str
    rows: int
    first: int
    last: int
    predicates: Mapping[str, int]
    sketches: Sketches
    checksum: int
    stretches: tuple[Stretch, ...] = ()


@dataclass(frozen=True, slots=True)
class Segment:
    """Some elements of a stream, in Parquet: its columns are those of `penstock.io.columns`. `first` and `last` are the
    least and the greatest `ts`.

    Segments of a stream in order, their files in the order of their names, and rows as they lie in a file: that is the
    order of arrival. A segment without rows remembers that a batch had nothing but late or malformed elements; its
    `first` and `last` say nothing.
    """

    paths: tuple[str, ...]
    rows: int
    first: int
    last: int
    predicates: Mapping[str, int] | None  # None: not counted, as of Parquet that is read where it lies
    number: int = 0  # grows with every segment of the stream
    batches: Mapping[str, int] = field(default_factory=dict)  # the last batch of each source that is in it
    late: int = 0  # elements of these batches that came too late
    malformed: int = 0  # lines of these batches that hold no element
    sketches: Sketches = field(default_factory=dict)  # of its terms; Parquet that is read where it lies has none
    stretches: tuple[Stretch, ...] = ()  # of its elements in time
    checksums: tuple[int, ...] = ()  # of its files; Parquet that is read where it lies has none
    ahead: int = 0  # elements of these batches that were too far ahead of the clock
    sources: Sources = field(default_factory=dict)  # how far these batches have read their sources

    def to_json(self, folder: Path, replaces: Iterable[str] = ()) -> dict[str, Any]:
        """The manifest. Paths in it are relative, so that a checkpoint can be moved."""
        paths = [os.path.relpath(path, folder) for path in self.paths]
        reached = sources_to_json(self.sources)
        return asdict(replace(self, sources={})) | {"paths": paths, "replaces": list(replaces), "sources": reached}

    @classmethod
    def from_json(cls, manifest: Mapping[str, Any], folder: Path) -> Segment:
        """The segment of a manifest. Its files lie in the folder; a path that leads out of it is a StoreError."""
        fields = {name: value for name, value in manifest.items() if name != "replaces"}
        sketches = {predicate: tuple(counted) for predicate, counted in fields["sketches"].items()}
        for path in fields["paths"]:
            if PurePath(path).is_absolute() or ".." in PurePath(path).parts:
                raise damaged(folder, f"a manifest names the file {path}, which is not in the folder")
        paths = tuple(str(folder / path) for path in fields["paths"])
        stretches = tuple(Stretch(*one) for one in fields["stretches"])
        tuples = {
            "paths": paths,
            "sketches": sketches,
            "stretches": stretches,
            "checksums": tuple(fields["checksums"]),
        }
        return cls(**fields | tuples | {"sources": sources_from_json(fields["sources"])})

    def verify(self) -> None:
        """Raise a StoreError if a file is not as it was written."""
        for path, checksum in zip(self.paths, self.checksums, strict=bool(self.checksums)):
            try:
                actual = durable_files.checksum(Path(path))
            except OSError as error:
                raise damaged(path, f"it cannot be read ({error.strerror})") from error
            if actual != checksum:
                raise damaged(path, "its checksum is not the one in its manifest")


def segment_of(
    parts: Sequence[SegmentFile],
    number: int,
    batches: Mapping[str, int],
    late: int = 0,
    malformed: int = 0,
    ahead: int = 0,
    tuning: Tuning = DEFAULT,
    sources: Sources = NOWHERE,
) -> Segment:
    """The segment of some files, which are in the order of arrival."""
    full = [part for part in parts if part.rows]
    return Segment(
        tuple(str(part.path) for part in full),
        sum(part.rows for part in full),
        min((part.first for part in full), default=0),
        max((part.last for part in full), default=0),
        _sum(part.predicates for part in full),
        number,
        dict(batches),
        late,
        malformed,
        hyperloglog.merged(part.sketches for part in full),
        merged((stretch for part in full for stretch in known_stretches(part)), tuning),
        tuple(part.checksum for part in full),
        ahead,
        sources,
    )


def write_part(table: pa.Table, path: Path, sketches: Sketches | None = None, tuning: Tuning = DEFAULT) -> WrittenFile:
    """Write a Parquet file with all columns of the log. `sketches` are computed unless they are given."""
    durable_files.make_folder(path.parent, durable=False)  # `sync` follows
    sink = pa.BufferOutputStream()
    pq.write_table(logged(table), sink, use_dictionary=["p", "g"])  # type: ignore[arg-type]  # the stubs know no list
    content = memoryview(sink.getvalue())
    durable_files.write(path, content)
    stretches = cut_at_pauses(table.column("ts").to_numpy(), tuning)
    times = (stretches[0].first, stretches[-1].last) if stretches else (0, 0)
    known = hyperloglog.sketches(table, tuning) if sketches is None else sketches
    return WrittenFile(str(path), table.num_rows, *times, _predicates(table), known, crc32(content), stretches)


def _predicates(table: pa.Table) -> dict[str, int]:
    values, counts = pc.value_counts(table.column("p").combine_chunks()).flatten()
    return dict(zip(values.to_numpy(zero_copy_only=False).tolist(), counts.to_numpy().tolist(), strict=True))


def _sum(counts: Iterable[Mapping[str, int] | None]) -> dict[str, int] | None:
    """The counts added up; None if those of one part are not known."""
    total: dict[str, int] = {}
    for part in counts:
        if part is None:
            return None
        for predicate, count in part.items():
            total[predicate] = total.get(predicate, 0) + count
    return total
