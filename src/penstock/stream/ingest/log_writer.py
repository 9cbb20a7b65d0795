"""The log writer: splits off late elements, writes dead letters, and commits each push and each batch exactly once.

Arrivals are judged by the watermark under its lock, so that it does not move in between.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeAlias

from penstock.stream.base.watermark import Watermarks
from penstock.stream.ingest.dead_letters import Ahead, DeadLetters
from penstock.stream.ingest.late_filter import Advance, BatchWriter, Item, LateFilter, Reading
from penstock.stream.ingest.load_task import LoadedFile
from penstock.stream.log.journal import Record
from penstock.stream.log.partition import PUSH
from penstock.stream.log.source_positions import Reached, SourcePosition, Sources
from penstock.stream.log.stream_log import StreamLog
from penstock.tuning import DEFAULT, Tuning

__all__ = ["ArrivedBatch", "LogWriter", "ReadFrom"]


@dataclass(frozen=True, slots=True)
class ArrivedBatch:
    """A batch of arrivals on one stream, with the name by which a repeated batch is recognised after a crash."""

    stream: str
    source: str
    number: int

    @property
    def name(self) -> str:
        return f"{self.source}-{self.number}"


@dataclass(frozen=True, slots=True)
class ReadFrom:
    """The source of arrivals by its name, and the positions behind them, by partition."""

    source: str
    positions: Mapping[str, SourcePosition] = field(default_factory=dict)


Check: TypeAlias = Callable[[BatchWriter], None]
"""Raises an error for a batch that is not to be committed."""


_UNREAD = Reached(None, None, -1)


def _anything(_: BatchWriter) -> None: ...


class LogWriter:
    """Writes batches to the log, split by the watermark into elements in time and late ones. Thread-safe."""

    def __init__(self, log: StreamLog, dead: DeadLetters, watermarks: Watermarks, tuning: Tuning = DEFAULT) -> None:
        self._log, self._dead, self._watermarks, self._tuning = log, dead, watermarks, tuning

    def push(self, stream: str, read: Callable[[str], Iterable[Item]], read_from: ReadFrom | None = None) -> None:
        """Append arrivals to the stream's journal; they are durable when this returns, and so are the positions behind
        them. After an error nothing of them is visible.

        `read` is given the name of the batch. One thread at a time may push to a stream.
        """
        batch = ArrivedBatch(stream, PUSH, self._log.next_batch(stream, PUSH))
        items = list(read(batch.name))
        with self._watermarks.lock:
            before = self._watermarks.position(stream)
            partitions = self._watermarks.partitions(stream)
            split = LateFilter(before, newest={name: one.newest for name, one in partitions.items()})
            split.add(items)
            self._watermarks.note_arrival(stream, {item.partition for item in items if isinstance(item, Reading)})
            self._dead.write(
                stream,
                batch.name,
                split.late,
                split.malformed,
                Ahead(split.ahead, split.position),
            )
            moved = split.position.advanced_to if split.position.advanced_to != before.advanced_to else None
            counts = split.late.num_rows, split.refused, moved, split.ahead.num_rows
            sources = {} if read_from is None else self._sources(stream, read_from, batch.number, split.newest)
            record = Record(batch.number, split.elements, *counts, sources)
            if not record.is_empty:
                self._append(batch, record)

    def _sources(self, stream: str, read_from: ReadFrom, batch: int, newest: Mapping[str, int | None]) -> Sources:
        """How far the source has been read: the partitions that have moved."""
        before, moved = self._log.reached(stream, read_from.source), dict[str, Reached]()
        for name in {*read_from.positions, *newest}:
            known = before.get(name, _UNREAD)
            now = Reached(read_from.positions.get(name, known.position), newest.get(name), batch)
            if name not in before or (now.position, now.newest) != (known.position, known.newest):
                moved[name] = now
        return {read_from.source: moved} if moved else {}

    def write(self, batch: ArrivedBatch, items: Iterable[Item], check: Check = _anything) -> None:
        """Write a batch, unless the log holds it already; a batch that `check` refuses leaves no trace."""
        with self._watermarks.lock:
            if self._log.holds(batch.stream, batch.source, batch.number):
                self._repeat(batch.stream, items)
                return
            folder = self._log.begin(batch.stream, batch.source, batch.number)
            writer = BatchWriter(self._watermarks.position(batch.stream), folder=folder, tuning=self._tuning)
            writer.add(items)
            check(writer)
            self._commit(batch, writer)

    def write_loaded(
        self, batch: ArrivedBatch, folder: Path, parts: Iterable[LoadedFile], check: Check = _anything
    ) -> None:
        """Write a batch of files that lie in its folder of the log, in the order of arrival."""
        with self._watermarks.lock:
            writer = BatchWriter(self._watermarks.position(batch.stream), folder=folder, tuning=self._tuning)
            for part in parts:
                writer.add_file(part)
            check(writer)
            self._commit(batch, writer)

    def _append(self, batch: ArrivedBatch, record: Record) -> None:
        try:
            self._log.push(batch.stream, record)
        except Exception:
            self._dead.remove(batch.stream, batch.name)
            raise

    def _repeat(self, stream: str, items: Iterable[Item]) -> None:
        """After a crash the elements are in the log, but perhaps not the calls of `advance` among them."""
        for item in items:
            if isinstance(item, Advance):
                self._log.advance(stream, item.through)

    def _commit(self, batch: ArrivedBatch, writer: BatchWriter) -> None:
        self._watermarks.note_arrival(batch.stream)
        ahead = Ahead(writer.ahead, writer.position)
        self._dead.write(batch.stream, batch.name, writer.late, writer.malformed, ahead)
        counts = {"late": writer.late.num_rows, "malformed": writer.refused, "ahead": writer.ahead.num_rows}
        if writer.parts or any(counts.values()):
            self._log.commit(batch.stream, batch.source, batch.number, writer.parts, **counts)
        if writer.position.advanced_to is not None:
            self._log.advance(batch.stream, writer.position.advanced_to)
