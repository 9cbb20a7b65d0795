"""A log partition: the folder of one stream, with its manifests, the totals of dropped segments, and recovery.

    <source>-<batch>.json       the manifest of a segment; a segment without one does not exist
    <source>-<batch>.parquet/   its rows
    dropped.json                totals of dropped segments, and the names of those dropped last
    advanced.json               the time through which `advance` has called the stream complete
    *.json                      each with its own checksum; a manifest also has those of the segment's files
    journal                     pushes that are in no segment yet
    staged-<batch>.parquet/     pushes of the journal, for rounds that read them

Segments are named in a file before they are removed: an interrupted removal is finished when the folder is opened.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from penstock.stream.base import durable_files
from penstock.stream.base.failpoints import reach
from penstock.stream.log.journal import Journal, Record, Tail
from penstock.stream.log.segment import Segment, SegmentFile, segment_of, write_part
from penstock.stream.log.source_positions import NOWHERE, Reached, Sources, merged, sources_from_json, sources_to_json
from penstock.stream.log.staged_segments import StagedSegments
from penstock.tuning import DEFAULT, Tuning

__all__ = ["PUSH", "DroppedSegments", "StreamPartition"]

PUSH = "push"
"""The source whose batches are the records of the journal."""
_DROPPED, _ADVANCED, _JOURNAL = "dropped.json", "advanced.json", "journal"


@dataclass(frozen=True, slots=True)
class DroppedSegments:
    """The totals of the segments that were dropped from the log."""

    elements: int = 0
    late: int = 0
    malformed: int = 0
    newest: int | None = None
    number: int = 0  # the highest of a segment
    batches: Mapping[str, int] = field(default_factory=dict)  # the last one of each source
    names: tuple[str, ...] = ()  # the segments that went last
    ahead: int = 0
    sources: Sources = field(default_factory=dict)

    def including(self, dropped: Mapping[str, Segment]) -> DroppedSegments:
        """The totals after these segments are dropped too."""
        segments = list(dropped.values())
        return DroppedSegments(
            self.elements + sum(segment.rows for segment in segments),
            self.late + sum(segment.late for segment in segments),
            self.malformed + sum(segment.malformed for segment in segments),
            latest([self.newest, *(segment.last for segment in segments if segment.rows)]),
            max([self.number, *(segment.number for segment in segments)]),
            last_batches([self.batches, *(segment.batches for segment in segments)]),
            tuple(dropped),
            self.ahead + sum(segment.ahead for segment in segments),
            merged([self.sources, *(segment.sources for segment in segments)]),
        )

    def to_json(self) -> dict[str, Any]:
        return asdict(replace(self, sources={})) | {"sources": sources_to_json(self.sources)}

    @classmethod
    def from_json(cls, stored: Mapping[str, Any]) -> DroppedSegments:
        known = {"names": tuple(stored["names"]), "sources": sources_from_json(stored["sources"])}
        return cls(**{**stored, **known})


class StreamPartition:
    """The segments of one stream by name, in the order of their arrival, and the tail: the pushes that came after
    them. Not thread-safe."""

    def __init__(self, folder: Path, tuning: Tuning = DEFAULT) -> None:
        durable_files.make_folder(folder)
        self.folder, self._tuning = folder, tuning
        self.dropped = _read_dropped(folder / _DROPPED)
        self._advanced_to = _read_advanced(folder / _ADVANCED)
        self.segments: dict[str, Segment] = {}
        self.unverified: set[int] = set()  # the numbers of segments of an earlier process that no one has read yet
        self._journal, self.tail = Journal(folder / _JOURNAL), Tail()
        self.staged = StagedSegments(folder, tuning)
        self.open()
        self._read_journal()
        held = (segment.sources for segment in self.segments.values())
        self._sources = merged([self.dropped.sources, *held, self.tail.sources])

    def open(self) -> None:
        """Read the manifests, and finish an interrupted removal."""
        for name in self.dropped.names:
            self.manifest(name).unlink(missing_ok=True)
        manifests = {path.stem: durable_files.read_json(path) for path in self.folder.glob("*-*.json")}
        replaced = {name for manifest in manifests.values() for name in manifest["replaces"]}
        current = {name: manifest for name, manifest in manifests.items() if name not in replaced}
        segments = {name: Segment.from_json(manifest, self.folder) for name, manifest in current.items()}
        self.segments = dict(sorted(segments.items(), key=lambda item: item[1].number))
        self.unverified = {segment.number for segment in segments.values()}
        for name in replaced & manifests.keys():
            self.manifest(name).unlink()
        for data in self.folder.glob("*.parquet"):
            if data.stem not in self.segments:
                shutil.rmtree(data)

    def manifest(self, name: str) -> Path:
        return self.folder / f"{name}.json"

    def data(self, name: str) -> Path:
        return self.folder / f"{name}.parquet"

    @property
    def batches(self) -> Mapping[str, int]:
        """The last batch of each source that the log has ever held."""
        pushed = {PUSH: self.tail.batch} if self.tail.records else {}
        return last_batches([self.dropped.batches, *(segment.batches for segment in self.segments.values()), pushed])

    @property
    def advanced_to(self) -> int | None:
        """The time through which `advance` has called the stream complete; None: it was never called."""
        return latest([self._advanced_to, self.tail.advanced_to])

    def reached(self, source: str) -> Mapping[str, Reached]:
        """How far the partitions of a source have been read, by all that the log has ever held."""
        return self._sources.get(source, {})

    @property
    def next_number(self) -> int:
        return max([self.dropped.number, *(segment.number for segment in self.segments.values())]) + 1

    @property
    def newest(self) -> int | None:
        lasts = [segment.last for segment in self.segments.values() if segment.rows]
        return latest([self.dropped.newest, self.tail.newest, *lasts])

    def verify(self, segments: Iterable[Segment]) -> None:
        """Raise a StoreError if one of these segments is damaged. Each that an earlier process has written is looked at
        once. Thread-safe."""
        for segment in segments:
            if segment.number in self.unverified:
                segment.verify()
                self.unverified.discard(segment.number)

    def append(self, record: Record) -> None:
        """Append a push to the journal, durably. A journal that has become large is folded first, and so is one whose
        disk has failed: its records are written anew, as a segment."""
        if self._journal.size >= self._tuning.journal_bytes or self._journal.is_suspect:
            self.fold()
            self._journal.clear()
        self._journal.append(record)
        self.tail.add(record)
        if record.sources:
            self._sources = merged([self._sources, record.sources])

    def stage(self) -> None:
        """Make all pushes readable as segments: the staged ones, or one of the log if those are many."""
        if self.staged.is_long:
            self.fold()
        self.staged.add(self.tail, self.next_number)

    def fold(self) -> None:
        """Commit the tail as a segment, and begin the journal anew. After an error the tail is as before."""
        tail = self.tail
        if not tail.records:
            return
        if tail.advanced_to is not None:
            self._save_advanced(tail.advanced_to)
        sources = tail.sources
        if tail.rows or tail.late or tail.malformed or tail.ahead or sources:
            name = f"{PUSH}-{tail.records[0].batch}"  # the same if the fold fails and is tried again
            self._remove_failed(name)
            path = self.data(name) / "part-00000.parquet"
            parts = [write_part(tail.elements, path, tuning=self._tuning)] if tail.rows else []
            self.commit(name, parts, {PUSH: tail.batch}, tail.late, tail.malformed, tail.ahead, sources)
        self.tail = Tail()
        self.staged.clear()
        reach("folded")
        self._journal.clear()

    def commit(
        self,
        name: str,
        parts: Sequence[SegmentFile],
        batches: Mapping[str, int],
        late: int,
        malformed: int,
        ahead: int = 0,
        sources: Sources = NOWHERE,
    ) -> None:
        """Commit files as the segment that came last."""
        reach("segment")
        self.sync(parts)
        counts = late, malformed, ahead
        self.add(name, segment_of(parts, self.next_number, batches, *counts, self._tuning, sources))

    def sync(self, parts: Iterable[SegmentFile]) -> None:
        """Wait until files of the partition are on the disk, with their names."""
        files = [Path(part.path) for part in parts]
        for path in [*files, *{file.parent for file in files}, self.folder]:
            durable_files.sync(path)

    def add(self, name: str, segment: Segment, replaces: Iterable[str] = ()) -> None:
        """Commit a segment whose rows are written, in the place of others, by writing its manifest."""
        try:
            durable_files.replace_json(self.manifest(name), segment.to_json(self.folder, replaces))
        except BaseException:
            with suppress(OSError):  # the name may be there, though not for sure
                self.manifest(name).unlink(missing_ok=True)
            raise
        current = {other: held for other, held in self.segments.items() if other not in set(replaces)} | {name: segment}
        self.segments = dict(sorted(current.items(), key=lambda item: item[1].number))
        self._remove(replaces)

    def remove(self, name: str) -> None:
        """Remove a segment, or the files of an interrupted batch of that name."""
        self.segments.pop(name, None)
        self._remove([name])

    def drop(self, names: Iterable[str]) -> int:
        """Drop segments for good, add them to the totals, and return the number of their elements."""
        dropped = {name: self.segments[name] for name in names}
        if not dropped:
            return 0
        totals = self.dropped.including(dropped)
        durable_files.replace_json(self.folder / _DROPPED, totals.to_json())
        self.dropped = totals
        self.segments = {name: segment for name, segment in self.segments.items() if name not in dropped}
        self._remove(dropped)
        return sum(segment.rows for segment in dropped.values())

    def advance(self, through: int) -> bool:
        """Save the time through which the stream is complete; false if it was complete through that time already."""
        if self.advanced_to is not None and through <= self.advanced_to:
            return False
        self._save_advanced(through)
        return True

    def _remove_failed(self, name: str) -> None:
        """Remove the files of a fold that failed. While its manifest is there, the journal is not read for its rows."""
        if (manifest := self.manifest(name)).exists():
            manifest.unlink()
            durable_files.sync(self.folder)
        shutil.rmtree(self.data(name), ignore_errors=True)

    def _save_advanced(self, through: int) -> None:
        if self._advanced_to is None or through > self._advanced_to:
            durable_files.replace_json(self.folder / _ADVANCED, through)
            self._advanced_to = through

    def _read_journal(self) -> None:
        """Read the tail. Records that a segment holds are left from a fold that was interrupted."""
        folded = self.batches.get(PUSH, -1)
        for record in self._journal.read():
            if record.batch > folded:
                self.tail.add(record)
            elif record.advanced_to is not None:
                self._save_advanced(record.advanced_to)
        if not self.tail.records:
            self._journal.clear()

    def _remove(self, names: Iterable[str]) -> None:
        for name in names:
            self.manifest(name).unlink(missing_ok=True)
        for name in names:
            shutil.rmtree(self.data(name), ignore_errors=True)


def latest(times: Iterable[int | None]) -> int | None:
    return max((time for time in times if time is not None), default=None)


def last_batches(several: Iterable[Mapping[str, int]]) -> dict[str, int]:
    """The last batch of each source."""
    last: dict[str, int] = {}
    for batches in several:
        for source, batch in batches.items():
            last[source] = max(batch, last.get(source, batch))
    return last


def _read_dropped(path: Path) -> DroppedSegments:
    if not path.exists():
        return DroppedSegments()
    return DroppedSegments.from_json(durable_files.read_json(path))


def _read_advanced(path: Path) -> int | None:
    return int(durable_files.read_json(path)) if path.exists() else None
