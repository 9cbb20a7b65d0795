"""From parsed elements to the log: late ones are taken out, bad lines kept aside, and the batch committed once.

Arrivals are judged by the watermark under its lock, so that it does not move in between.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from penstock.stream.base.watermark import Watermarks
from penstock.stream.ingest.dead_letters import DeadLetters
from penstock.stream.ingest.late_filter import Advance, BatchWriter, Item
from penstock.stream.ingest.load_task import LoadedFile
from penstock.stream.log.stream_log import StreamLog
from penstock.tuning import DEFAULT, Tuning

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
    """Brings batches into the log, split by the watermarks into elements in time and late ones. For any thread."""

    def __init__(self, log: StreamLog, dead: DeadLetters, watermarks: Watermarks, tuning: Tuning = DEFAULT) -> None:
        self._log, self._dead, self._watermarks, self._tuning = log, dead, watermarks, tuning

    def take(self, batch: ArrivedBatch, items: Iterable[Item], check: Check = _anything) -> None:
        """Bring arrivals in, unless the log has this batch of them already; what `check` refuses leaves no trace."""
        with self._watermarks.lock:
            if self._log.holds(batch.stream, batch.source, batch.number):
                self._repeat(batch.stream, items)
                return
            folder = self._log.begin(batch.stream, batch.source, batch.number)
            sifting = BatchWriter(self._watermarks.position(batch.stream), folder, tuning=self._tuning)
            sifting.take(items)
            check(sifting)
            self._commit(batch, sifting)

    def take_parts(
        self, batch: ArrivedBatch, folder: Path, parts: Iterable[LoadedFile], check: Check = _anything
    ) -> None:
        """Bring in parts that lie in the log's folder for the batch, in the order of arrival."""
        with self._watermarks.lock:
            sifting = BatchWriter(self._watermarks.position(batch.stream), folder, tuning=self._tuning)
            for part in parts:
                sifting.take_part(part)
            check(sifting)
            self._commit(batch, sifting)

    def _repeat(self, stream: str, items: Iterable[Item]) -> None:
        """After a crash the elements are in the log, but perhaps not the calls of `advance` among them."""
        for item in items:
            if isinstance(item, Advance):
                self._log.advance(stream, item.through)

    def _commit(self, batch: ArrivedBatch, sifting: BatchWriter) -> None:
        self._watermarks.hear(batch.stream)
        self._dead.write(batch.stream, batch.name, sifting.late, sifting.malformed)
        counts = {"late": sifting.late.num_rows, "malformed": sifting.refused}
        if sifting.parts or any(counts.values()):
            self._log.commit(batch.stream, batch.source, batch.number, sifting.parts, **counts)
        if sifting.position.advanced_to is not None:
            self._log.advance(batch.stream, sifting.position.advanced_to)
