"""The segments of streams in one round: units that are due together read the same ones, so that they can share them.

Segments are asked for when the watermark is known, and belong to that time.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Protocol

from penstock.model.stream_files import StreamFiles
from penstock.stream.log.stream_log import Segment

__all__ = ["RoundSnapshot"]


class HeldStream(Protocol):
    """The segments that the log holds of a stream."""

    def segments(self, stream: str) -> Sequence[Segment]: ...


class RoundSnapshot:
    """For one round."""

    def __init__(self, held: HeldStream) -> None:
        self._held = held
        self._segments: dict[tuple[str, int | None], Sequence[Segment]] = {}
        self._streams: dict[tuple[str, tuple[str, ...]], StreamFiles] = {}

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
