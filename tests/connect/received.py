"""What the tests of sources share: ingest without Spark that a test can wait for, and an intake that it can close."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from threading import Condition
from typing import Any

import pyarrow.parquet as pq

from penstock.options import WhenFull
from penstock.stream.ingest.ingest import Ingest
from penstock.stream.ingest.sources.source import BEGINNING, Message, Positions
from penstock.stream.ingest.stream_declaration import Declared
from penstock.stream.log.stream_log import StreamLog
from penstock.testing import ManualClock
from tests.support.arrivals import STREAM

__all__ = ["Recorder", "WatchedIngest", "ingesting", "rows"]

Row = tuple[str, str, str, int]


class WatchedIngest(Ingest):
    """Ingest that tells when a source has brought something."""

    def __init__(self, *given: Any, **options: Any) -> None:
        self._taken = Condition()
        super().__init__(*given, **options)

    def take(
        self, stream: str, messages: Sequence[Message], positions: Positions, when_full: WhenFull = "block"
    ) -> int:
        taken = super().take(stream, messages, positions, when_full)
        with self._taken:
            self._taken.notify_all()
        return taken

    def wait(self, fulfilled: Callable[[], bool]) -> None:
        """Return when that is so."""
        with self._taken:
            assert self._taken.wait_for(fulfilled, 60), (self.log.counts(STREAM), self.problems)

    def wait_for(self, elements: int) -> None:
        """Return when so many elements are in the log."""
        self.wait(lambda: self.log.counts(STREAM).elements >= elements)


@contextmanager
def ingesting(root: Path, source: Any, clock: ManualClock | None = None, **options: Any) -> Iterator[WatchedIngest]:
    """Ingest that runs, with one stream."""
    streams = {STREAM: Declared(source, **options)}
    ingest = WatchedIngest(None, root, clock or ManualClock(), streams)
    ingest.start()
    try:
        yield ingest
    finally:
        ingest.close()


def rows(log: StreamLog, stream: str = STREAM) -> list[Row]:
    """All elements in the log, in the order of arrival."""
    paths = [path for segment in log.segments(stream) for path in segment.paths]
    tables = [pq.read_table(path, partitioning=None).select(["s", "p", "o", "ts"]) for path in paths]
    return [tuple(row.values()) for table in tables for row in table.to_pylist()]


class Recorder:
    """An `Accept` that keeps the messages. It can be full, and it can fail."""

    def __init__(self) -> None:
        self.messages: list[Message] = []
        self.positions: list[Positions] = []
        self.full = False
        self.asked_when_full = 0
        self.failure: Exception | None = None
        self.failed = 0
        self._changed = Condition()

    def __call__(self, messages: Sequence[Message], position: Positions = BEGINNING) -> int:
        with self._changed:
            self._changed.notify_all()
            if self.failure is not None:
                self.failed += 1
                raise self.failure
            self.messages += messages
            self.positions.append(position)
            return len(messages)

    @property
    def is_full(self) -> bool:
        with self._changed:
            self.asked_when_full += self.full
            self._changed.notify_all()
            return self.full

    @property
    def payloads(self) -> list[bytes]:
        return [message.payload for message in self.messages]

    def wait(self, fulfilled: Callable[[], bool]) -> None:
        """Return when that is so."""
        with self._changed:
            assert self._changed.wait_for(fulfilled, 60), self.messages
