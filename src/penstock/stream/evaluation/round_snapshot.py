"""What a round sees of the streams: units that are due together read the same segments, so that they can share them.

Segments are asked for when it is known through when a stream is complete, and belong to that time.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Protocol

from penstock.model.stream_files import StreamFiles
from penstock.stream.log.stream_log import Segment

__all__ = ["RoundSnapshot"]


class HeldStream(Protocol):
    """What the log holds, and up to when that is all."""

    def segments(self, stream: str) -> Sequence[Segment]: ...
    def complete(self, streams: Iterable[str], others: Iterable[int | None] = ()) -> int | None: ...


class RoundSnapshot:
    """For one round."""

    def __init__(self, held: HeldStream) -> None:
        self._held = held
        self._complete: dict[tuple[tuple[str, ...], tuple[int | None, ...]], int | None] = {}
        self._segments: dict[tuple[str, int | None], Sequence[Segment]] = {}
        self._streams: dict[tuple[str, tuple[str, ...]], StreamFiles] = {}

    def complete(self, declared: tuple[str, ...], others: tuple[int | None, ...]) -> int | None:
        """Through when these are complete together, beside others that know their ends."""
        key = declared, others
        if key not in self._complete:
            self._complete[key] = self._held.complete(declared, others)
        return self._complete[key]

    def segments(self, streams: Iterable[str], through: int | None) -> dict[str, Sequence[Segment]]:
        """What there is of them, at least through that time."""
        return {name: self._of(name, through) for name in streams}

    def _of(self, stream: str, through: int | None) -> Sequence[Segment]:
        key = stream, through
        if key not in self._segments:
            self._segments[key] = self._held.segments(stream)
        return self._segments[key]

    def streams(self, found: Mapping[str, StreamFiles]) -> dict[str, StreamFiles]:
        """These, or in their place those that another unit has read in this round, if they are the same."""
        return {name: self._streams.setdefault((name, stream.paths), stream) for name, stream in found.items()}
