"""The intake of one stream, which its source is given to bring messages to."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from penstock.stream.ingest.messages.arrival import by_line
from penstock.stream.ingest.messages.message import Message
from penstock.stream.ingest.sources.source import BEGINNING, Positions

__all__ = ["Intake"]


@dataclass(frozen=True, slots=True)
class Intake:
    """An `Accept` for a stream: `take` commits what it brings, and `full` tells whether that would wait. With `splits`
    each line is a message."""

    stream: str
    take: Callable[[str, Sequence[Message], Positions], int]
    full: Callable[[str], bool]
    splits: bool = False

    def __call__(self, messages: Sequence[Message], position: Positions = BEGINNING) -> int:
        """See `Accept`."""
        if self.splits:
            messages = by_line(messages)
        return self.take(self.stream, messages, position) if messages or position else 0

    @property
    def is_full(self) -> bool:
        """See `Accept.is_full`."""
        return self.full(self.stream)
