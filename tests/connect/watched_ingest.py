"""Ingest on a folder without Spark, whose tests wait for what a broker brings."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from threading import Condition

import pytest

from penstock.options import WhenFull
from penstock.stream.base.clock import Clock, SystemClock
from penstock.stream.ingest.ingest import Ingest
from penstock.stream.ingest.messages.message import Message
from penstock.stream.ingest.sources.source import Positions
from penstock.stream.ingest.stream_declaration import Declared
from penstock.tuning import DEFAULT, Tuning
from tests.support.arrivals import STREAM

__all__ = ["Opener", "WatchedIngest", "open_ingest"]

_WAIT = 60.0  # seconds
Opener = Callable[..., "WatchedIngest"]


class WatchedIngest(Ingest):
    """Ingest that tells when messages, or the names of partitions, have come."""

    def __init__(self, folder: Path, source: object, clock: Clock, tuning: Tuning, **options: object) -> None:
        declared = Declared(source, **options)  # type: ignore[arg-type]
        super().__init__(None, folder, clock, {STREAM: declared}, tuning=tuning)  # type: ignore[arg-type]
        self._brought = Condition()
        self.messages: list[Message] = []
        self.positions: dict[str, object] = {}

    def take(
        self, stream: str, messages: Sequence[Message], positions: Positions, when_full: WhenFull = "block"
    ) -> int:
        """See `Ingest.take`."""
        taken = super().take(stream, messages, positions, when_full)
        with self._brought:
            self.messages.extend(messages)
            self.positions |= positions
            self._brought.notify_all()
        return taken

    def wait_for(self, condition: Callable[[], bool]) -> None:
        """Wait until it holds; it is tried whenever something has come."""
        with self._brought:
            assert self._brought.wait_for(condition, _WAIT), (len(self.messages), self.positions, self.problems)

    def wait_for_messages(self, number: int) -> None:
        self.wait_for(lambda: len(self.messages) >= number)


@pytest.fixture
def open_ingest(tmp_path: Path) -> Iterator[Opener]:
    """Ingest on one checkpoint, closed when the test is over."""
    opened: list[WatchedIngest] = []

    def opener(
        source: object, clock: Clock | None = None, tuning: Tuning = DEFAULT, **options: object
    ) -> WatchedIngest:
        opened.append(WatchedIngest(tmp_path / "state", source, clock or SystemClock(), tuning, **options))
        opened[-1].start()
        return opened[-1]

    yield opener
    for ingest in opened:
        ingest.close()
