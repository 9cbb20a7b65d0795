"""A log partition: the folder of one stream, with its manifests, the totals of dropped segments, and recovery.

    <source>-<batch>.json       the manifest of a segment; a segment without one does not exist
    <source>-<batch>.parquet/   its rows
    dropped.json                totals of dropped segments, and the names of those dropped last
    advanced.json               the time through which `advance` has called the stream complete

Whatever goes is named in a file before it goes, so that an interrupted removal is finished when the folder is opened.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

from penstock.stream.base import durable_files
from penstock.stream.log.segment import Segment

__all__ = ["DroppedSegments", "StreamPartition"]

_DROPPED, _ADVANCED = "dropped.json", "advanced.json"


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

    def after(self, gone: Mapping[str, Segment]) -> DroppedSegments:
        """The totals after these segments are dropped too."""
        segments = list(gone.values())
        return DroppedSegments(
            self.elements + sum(segment.rows for segment in segments),
            self.late + sum(segment.late for segment in segments),
            self.malformed + sum(segment.malformed for segment in segments),
            latest([self.newest, *(segment.last for segment in segments if segment.rows)]),
            max([self.number, *(segment.number for segment in segments)]),
            last_batches([self.batches, *(segment.batches for segment in segments)]),
            tuple(gone),
        )


class StreamPartition:
    """The segments of one stream by name, in the order of their arrival. Not thread-safe."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.folder = folder
        self.dropped = _read_dropped(folder / _DROPPED)
        self.advanced_to = _read_advanced(folder / _ADVANCED)
        self.segments: dict[str, Segment] = {}
        self.open()

    def open(self) -> None:
        """Read the manifests, and finish an interrupted removal."""
        for name in self.dropped.names:
            self.manifest(name).unlink(missing_ok=True)
        found = {path.stem: path.read_bytes() for path in self.folder.glob("*-*.json")}
        replaced = {name for text in found.values() for name in json.loads(text)["replaces"]}
        segments = {name: Segment.from_json(text, self.folder) for name, text in found.items() if name not in replaced}
        self.segments = dict(sorted(segments.items(), key=lambda item: item[1].number))
        for name in replaced & found.keys():
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
        return last_batches([self.dropped.batches, *(segment.batches for segment in self.segments.values())])

    @property
    def next_number(self) -> int:
        return max([self.dropped.number, *(segment.number for segment in self.segments.values())]) + 1

    @property
    def newest(self) -> int | None:
        return latest([self.dropped.newest, *(segment.last for segment in self.segments.values() if segment.rows)])

    def add(self, name: str, segment: Segment, replaces: Iterable[str] = ()) -> None:
        """Commit a segment whose rows are written, in the place of others, by writing its manifest."""
        durable_files.replace(self.manifest(name), segment.to_json(self.folder, replaces))
        kept = {other: held for other, held in self.segments.items() if other not in set(replaces)} | {name: segment}
        self.segments = dict(sorted(kept.items(), key=lambda item: item[1].number))
        self._remove(replaces)

    def remove(self, name: str) -> None:
        """Remove a segment, or the files of an interrupted batch of that name."""
        self.segments.pop(name, None)
        self._remove([name])

    def drop(self, names: Iterable[str]) -> int:
        """Drop segments for good, add them to the totals, and return the number of their elements."""
        gone = {name: self.segments[name] for name in names}
        if not gone:
            return 0
        self.dropped = self.dropped.after(gone)
        durable_files.replace(self.folder / _DROPPED, json.dumps(asdict(self.dropped)).encode())
        self.segments = {name: segment for name, segment in self.segments.items() if name not in gone}
        self._remove(gone)
        return sum(segment.rows for segment in gone.values())

    def advance(self, through: int) -> bool:
        """Save the time through which the stream is complete; false if it was complete through that time already."""
        if self.advanced_to is not None and through <= self.advanced_to:
            return False
        durable_files.replace(self.folder / _ADVANCED, json.dumps(through).encode())
        self.advanced_to = through
        return True

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
    dropped = DroppedSegments(**json.loads(path.read_bytes()))
    return replace(dropped, names=tuple(dropped.names))


def _read_advanced(path: Path) -> int | None:
    return int(json.loads(path.read_bytes())) if path.exists() else None
