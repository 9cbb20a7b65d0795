"""Lines from anything that Python can iterate over."""

from __future__ import annotations

from collections.abc import Iterable

from penstock.stream.base.clock import Clock
from penstock.stream.ingest.sources.receiver import Accept, Message, Positions, Receiver

__all__ = ["IterableSource"]


class IterableSource(Receiver):
    """Takes text or bytes, a line or several at a time. It asks for the next item when the last one is durable."""

    def __init__(self, items: Iterable[str | bytes]) -> None:
        super().__init__()
        self._items = items

    def run(self, accept: Accept, clock: Clock, position: Positions) -> None:
        """Accept the items one by one. A resumable iterable knows that an item was taken when it is asked for the next,
        and gives that one again; from any other, every item that was asked for is taken."""
        resumable = getattr(self._items, "resumable", False)
        for item in self._items:
            if resumable and self.stopping:
                return
            accept([Message(item.encode() if isinstance(item, str) else item)])
            if self.stopping and not resumable:
                return
