"""Ingest: Structured Streaming brings every live source into the log.

One streaming query reads the spool, with the lines of pushes and receivers, and one each drop folder. Spark keeps the
offsets. A batch that it runs again after a crash is skipped if the log holds it, so each is committed exactly once.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession

from penstock.errors import PenstockError
from penstock.stream.base import durable_files
from penstock.stream.base.clock import Clock
from penstock.stream.base.failpoints import reach
from penstock.stream.base.watermark import Watermarks
from penstock.stream.ingest import sources, spool, spool_source
from penstock.stream.ingest.dead_letters import DeadLetters
from penstock.stream.ingest.element_reader import of_blocks
from penstock.stream.ingest.elements import count_texts
from penstock.stream.ingest.file_batches import write_files
from penstock.stream.ingest.log_writer import ArrivedBatch, LogWriter
from penstock.stream.ingest.sources.folder import Folder, dropped
from penstock.stream.ingest.sources.iterable import IterableSource
from penstock.stream.ingest.spool import Block, InFlight, Spool
from penstock.stream.ingest.stream_declaration import Declared
from penstock.stream.ingest.streaming_query import StreamingQueryRunner, streaming_session
from penstock.stream.log.stream_log import StreamLog
from penstock.tuning import DEFAULT, Tuning

__all__ = ["Ingest"]

_SPOOL = "spool"
_WATCHING = "200 milliseconds"  # between two looks at a folder: each look costs some milliseconds


class Ingest:
    """The live sources of some streams. `push` works at any time; its elements reach the log after `start`.

    `root` is the checkpoint's folder; in it are `spool/`, `log/`, `ingest/` and `dead/`.
    """

    def __init__(
        self,
        session: SparkSession,
        root: Path | str,
        clock: Clock,
        streams: Mapping[str, Declared],
        log: StreamLog | None = None,
        watermarks: Watermarks | None = None,
        tuning: Tuning = DEFAULT,
    ) -> None:
        self._root = Path(root)
        self._session = session
        self._clock, self._tuning = clock, tuning
        self._streams = dict(streams)
        self._sources = {name: sources.open(o.source) for name, o in streams.items() if o.source is not None}
        self._streaming: SparkSession | None = None  # while it runs
        self.log = log or StreamLog(self._root / "log", tuning)
        self.watermarks = watermarks or Watermarks(self.log, clock, self._streams)
        self._log_writer = LogWriter(self.log, DeadLetters(self._root / "dead"), self.watermarks, tuning)
        self._spool = Spool(self._root / _SPOOL, tuning.spool_file_bytes)
        self._in_flight = InFlight(clock, spool_source.consumed(self._checkpoint(_SPOOL)), self._spool.next_number)
        self.watermarks.begin(self._in_flight.now)
        self._runners: list[StreamingQueryRunner] = []

    def start(self) -> None:
        """Begin to read, first the files that are in the spool and in the folders."""
        self._streaming = streaming_session(self._session)
        tuning = self._tuning
        options = tuning.spool_batch_bytes, tuning.spool_wait_s, tuning.spool_look_s
        frame = spool_source.arrivals(self._streaming, self._spool.folder, *options)
        self._run_query("the spool", frame, _SPOOL, self._write_spooled)
        for stream in self._sources:
            self._open(self._streaming, stream)

    def add(self, stream: str, options: Declared) -> None:
        """Add a stream; if ingest runs, its source is read from now on."""
        self._streams[stream] = options
        if options.source is not None:
            self._sources[stream] = sources.open(options.source)
            if self._streaming is not None:
                self._open(self._streaming, stream)

    def stop(self) -> None:
        """End after the batches that are going on. `start` may follow."""
        self._streaming = None
        for source in self._sources.values():
            if not isinstance(source, Folder):
                source.stop()
        for runner in self._runners:
            runner.stop()
        self._runners = []

    def close(self) -> None:
        self.stop()
        self._spool.close()

    def push(self, stream: str, data: bytes, kind: str | None = None) -> int:
        """Accept whole lines; they are durable when this returns, with the number of lines that are not empty.

        Or accept a document, or several, of the kind that is named, and return their number.
        """
        if not data or data.isspace():
            return 0
        stamp = self._clock.now() if self._options(stream).stamped_on_arrival and kind is None else None
        self._append(stream, data, stamp, kind)
        return count_texts(data, kind)

    def advance(self, stream: str, time: int) -> None:
        """Say that nothing before `time` will come any more, after all that was pushed so far."""
        self._append(stream, b"", time)

    def drain(self) -> None:
        """Wait until all that has been accepted, and all that lies in the folders, is in the log."""
        self._in_flight.wait(lambda: self.error is not None or not self._runners)
        for runner in self._runners[1:]:
            runner.settle()
        self._check()

    @property
    def error(self) -> str | None:
        """Why ingest has stopped, in one sentence."""
        return next((runner.error for runner in self._runners if runner.error is not None), None)

    @property
    def problems(self) -> dict[str, str]:
        """A sentence for each stream whose source has trouble."""
        receivers = {name: source for name, source in self._sources.items() if not isinstance(source, Folder)}
        return {name: one.message for name, one in receivers.items() if one.message is not None}

    def _open(self, session: SparkSession, stream: str) -> None:
        source = self._sources[stream]
        if isinstance(source, Folder):
            self._watch(session, stream, source)
        else:
            kind = self._options(stream).kind
            if kind is not None and not isinstance(source, IterableSource):
                kind = "ndjsonld"  # sockets deliver lines
            source.start(partial(self.push, stream, kind=kind), self._clock)

    def _append(self, stream: str, data: bytes, stamp: int | None, kind: str | None = None) -> None:
        self._check()
        self.watermarks.note_arrival(stream)
        with self._in_flight.accepting() as noted:
            noted(self._spool.append(stream, data, stamp, kind))
        reach("spooled")

    def _write_spooled(self, _frame: DataFrame, number: int) -> None:
        """Bring the spool's files of one batch into the log. The frame has no rows by design: Spark schedules batches
        and keeps their offsets, and the elements are read from the files."""
        start, end = spool_source.files_of(self._checkpoint(_SPOOL), number)
        blocks: dict[str, list[Block]] = {}
        for file in spool.files(self._spool.folder, start, end):
            for block in spool.read(file):
                blocks.setdefault(block.stream, []).append(block)
        for stream, some in blocks.items():
            batch, documents = ArrivedBatch(stream, _SPOOL, number), self._options(stream).documents
            self._log_writer.write(batch, of_blocks(stream, some, batch.name, documents.properties, self._tuning))
        reach("ingested")
        self._in_flight.read(end)

    def _watch(self, session: SparkSession, stream: str, folder: Folder) -> None:
        name = f"folder-{durable_files.folder_name(f'{stream} {folder.path}')}"

        def take(frame: DataFrame, number: int) -> None:
            batch = ArrivedBatch(stream, name, number)
            session, files, options = frame.sparkSession, dropped(frame), self._options(stream)
            write_files(session, self.log, self._log_writer, batch, files, options, self._tuning)
            reach("ingested")

        self._run_query(folder.path, folder.arrivals(session), name, take, _WATCHING)

    def _run_query(
        self, what: str, frame: DataFrame, name: str, work: Callable[[DataFrame, int], None], every: str | None = None
    ) -> None:
        self._runners.append(
            StreamingQueryRunner(what, frame, self._checkpoint(name), work, self._in_flight.wake, every)
        )

    def _checkpoint(self, name: str) -> Path:
        return self._root / "ingest" / name

    def _options(self, stream: str) -> Declared:
        return self._streams.get(stream, Declared())

    def _check(self) -> None:
        if self.error is not None:
            raise PenstockError(self.error)
