"""From parsed elements to the log: late ones are taken out, bad lines kept aside, and the batch committed once.

Everything that decides where a stream stands happens here, under one lock.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from threading import RLock
from typing import TypeAlias

from penstock.stream.base import watermark
from penstock.stream.base.clock import Clock
from penstock.stream.base.watermark import Position
from penstock.stream.ingest.dead_letters import DeadLetters
from penstock.stream.ingest.late_filter import Advance, BatchWriter, Item
from penstock.stream.ingest.load_task import LoadedFile
from penstock.stream.ingest.stream_declaration import Declared
from penstock.stream.log.stream_log import StreamLog

__all__ = ["ArrivedBatch", "LogWriter"]


@dataclass(frozen=True, slots=True)
class ArrivedBatch:
    """Some arrivals on one stream, by the name under which they can come again after a crash."""

    stream: str
    source: str
    number: int

    @property
    def name(self) -> str:
        return f"{self.source}-{self.number}"


Check: TypeAlias = Callable[[BatchWriter], None]
"""Raises an error for a batch that shall not be taken."""


def _anything(_: BatchWriter) -> None: ...


class LogWriter:
    """Brings batches into the log, and knows through when streams are complete. For any thread."""

    def __init__(self, log: StreamLog, dead: DeadLetters, clock: Clock, streams: Mapping[str, Declared]) -> None:
        self._log = log
        self._dead = dead
        self._clock = clock
        self._streams = streams
        self._heard: dict[str, int] = {}
        self._began = clock.now()
        self._lock = RLock()

    def take(self, batch: ArrivedBatch, items: Iterable[Item], check: Check = _anything) -> None:
        """Bring arrivals in, unless the log has this batch of them already; what `check` refuses leaves no trace."""
        with self._lock:
            if self._log.holds(batch.stream, batch.source, batch.number):
                self._repeat(batch.stream, items)
                return
            folder = self._log.begin(batch.stream, batch.source, batch.number)
            sifting = BatchWriter(self.position(batch.stream), folder)
            sifting.take(items)
            check(sifting)
            self._commit(batch, sifting)

    def take_parts(
        self, batch: ArrivedBatch, folder: Path, parts: Iterable[LoadedFile], check: Check = _anything
    ) -> None:
        """Bring in parts that lie in the log's folder for the batch, in the order of arrival."""
        with self._lock:
            sifting = BatchWriter(self.position(batch.stream), folder)
            for part in parts:
                sifting.take_part(part)
            check(sifting)
            self._commit(batch, sifting)

    def hear(self, stream: str) -> None:
        """Something has come; it may still be on its way."""
        self._heard[stream] = self._clock.now()

    def position(self, stream: str) -> Position:
        options = self._streams.get(stream, Declared())
        return Position(
            self._log.newest(stream),
            self._log.complete(stream),
            options.allowed_lateness,
            self._heard.get(stream, self._began),
            options.idle,
            options.advance,
        )

    def complete(self, streams: Sequence[str], others: Iterable[int | None], now: int) -> int | None:
        """Through when all these streams are complete, for good: whatever comes later with such a time is late."""
        with self._lock:
            positions = {stream: self.position(stream) for stream in streams}
            through = watermark.combined(positions.values(), now, others)
            for stream, position in positions.items():
                limit = watermark.late_before(position)
                if through is not None and (limit is None or limit <= through):
                    self._log.advance(stream, through)
            return through

    def _repeat(self, stream: str, items: Iterable[Item]) -> None:
        """After a crash: the elements are there, but perhaps not what was said of time."""
        for item in items:
            if isinstance(item, Advance):
                self._log.advance(stream, item.through)

    def _commit(self, batch: ArrivedBatch, sifting: BatchWriter) -> None:
        self.hear(batch.stream)
        self._dead.write(batch.stream, batch.name, sifting.late, sifting.malformed)
        counts = {"late": sifting.late.num_rows, "malformed": sifting.refused}
        if sifting.parts or any(counts.values()):
            self._log.commit(batch.stream, batch.source, batch.number, sifting.parts, **counts)
        if sifting.position.said is not None:
            self._log.advance(batch.stream, sifting.position.said)
