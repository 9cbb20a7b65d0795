"""An `Accept` that keeps in memory what a source brings, and lets a test wait for it."""

from __future__ import annotations

from collections.abc import Sequence
from threading import Condition

from penstock.stream.ingest.sources.source import BEGINNING, Message, Positions

__all__ = ["Taking"]


class Taking:
    """The messages in their order, and the newest position."""

    is_full = False

    def __init__(self) -> None:
        self.messages: list[Message] = []
        self.position: Positions = BEGINNING
        self.calls = 0
        self._changed = Condition()

    def __call__(self, messages: Sequence[Message], position: Positions = BEGINNING) -> int:
        with self._changed:
            self.messages += messages
            self.position = {**self.position, **position}
            self.calls += 1
            self._changed.notify_all()
        return len(messages)

    @property
    def payloads(self) -> list[bytes]:
        """The payloads in their order."""
        return [message.payload for message in self.messages]

    def wait_for(self, count: int) -> list[bytes]:
        """The payloads when there are that many; what fails to come in a minute is an error."""
        with self._changed:
            assert self._changed.wait_for(lambda: len(self.messages) >= count, 60), self.payloads
            return self.payloads
