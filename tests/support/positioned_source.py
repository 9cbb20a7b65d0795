"""A source with partitions and positions, which a test moves: it stands for a broker."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from penstock.stream.base.clock import Clock
from penstock.stream.ingest.sources.source import BEGINNING, Accept, Message, Positions

__all__ = ["PositionedSource"]


class PositionedSource:
    """Partitions of payloads, each with its place as the position. `read` brings the next few of each."""

    message: str | None = None

    def __init__(self, partitions: Mapping[str, Sequence[bytes]], name: str = "fake:topic") -> None:
        self.name = name
        self.partitions = partitions
        self.accept: Accept | None = None
        self.started_at: Positions = BEGINNING
        self._next: dict[str, int] = {}

    def start(self, accept: Accept, clock: Clock, position: Positions = BEGINNING) -> None:
        """Say which partitions there are."""
        self.accept, self.started_at = accept, dict(position)
        self._next = {name: int(str(position.get(name, 0))) for name in self.partitions}
        accept((), dict(self._next))

    def stop(self) -> None: ...

    def read(self, partitions: Iterable[str], most: int = 1) -> int:
        """Bring the next few messages of these partitions, in turn, in one call."""
        assert self.accept is not None
        messages: list[Message] = []
        for name in partitions:
            first = self._next[name]
            for offset, payload in enumerate(self.partitions[name][first : first + most], first):
                messages.append(Message(payload, topic="topic", partition=name, place=f"{name}@{offset}"))
                self._next[name] = offset + 1
        return self.accept(messages, {name: self._next[name] for name in partitions})
