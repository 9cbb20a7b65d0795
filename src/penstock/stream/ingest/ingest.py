"""Ingest: pushes and sockets are committed where they arrive, and Structured Streaming brings dropped files.

A push is parsed and appended to the stream's journal by the thread that brings it, in a group with others that wait.
One streaming query reads each drop folder. Spark keeps its offsets; a batch that it runs again after a crash is skipped
if the log holds it, so each is committed exactly once.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from threading import Lock

from pyspark.sql import DataFrame, SparkSession

from penstock.errors import PenstockError
from penstock.options import WhenFull
from penstock.stream.base import durable_files
from penstock.stream.base.clock import Clock
from penstock.stream.base.failpoints import reach
from penstock.stream.base.watermark import Watermarks
from penstock.stream.ingest import sources
from penstock.stream.ingest.backlog import Backlog
from penstock.stream.ingest.dead_letters import DeadLetters
from penstock.stream.ingest.element_reader import of_blocks
from penstock.stream.ingest.elements import MESSAGE, Block, count_texts
from penstock.stream.ingest.file_batches import write_files
from penstock.stream.ingest.group_commit import GroupCommit, InFlight, pieces
from penstock.stream.ingest.log_writer import ArrivedBatch, LogWriter, ReadFrom
from penstock.stream.ingest.messages.intake import Intake
from penstock.stream.ingest.messages.message import Message, total_size
from penstock.stream.ingest.sources.folder import Folder, dropped
from penstock.stream.ingest.sources.source import Positions
from penstock.stream.ingest.stream_declaration import Declared
from penstock.stream.ingest.streaming_query import StreamingQueryRunner, streaming_session
from penstock.stream.log.stream_log import StreamLog
from penstock.tuning import DEFAULT, Tuning

__all__ = ["Ingest"]

_LINES = ("nquads", "ntriples")
_WATCHING = "200 milliseconds"  # between two looks at a folder: each look costs some milliseconds


class Ingest:
    """The live sources of some streams, from `start` to `stop`. `push` works at any time before `close`.

    `root` is the checkpoint's folder; in it are `log/`, `ingest/` and `dead/`.
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
        self._sources = {name: self._made(name, o) for name, o in streams.items() if o.source is not None}
        self._is_running = False
        self.log = log or StreamLog(self._root / "log", tuning)
        self.watermarks = watermarks or Watermarks(self.log, clock, self._streams)
        self._log_writer = LogWriter(self.log, DeadLetters(self._root / "dead"), self.watermarks, tuning)
        self._in_flight = InFlight(clock)
        self.backlog = Backlog(tuning.backlog_bytes)
        self._commits: dict[str, GroupCommit] = {}
        self._adding = Lock()
        self.watermarks.begin(self._in_flight.logged_until)
        self._runners: dict[str, StreamingQueryRunner] = {}  # by stream

    def start(self) -> None:
        """Begin to read, first the files that are in the folders."""
        self._is_running = True
        for stream in self._sources:
            self._open(stream)

    def add(self, stream: str, options: Declared) -> None:
        """Add a stream; if ingest runs, its source is read from now on."""
        self._streams[stream] = options
        if options.source is not None:
            self._sources[stream] = self._made(stream, options)
            if self._is_running:
                self._open(stream)

    def stop(self) -> None:
        """End after the batches that are going on. `start` may follow."""
        self._is_running = False
        for source in self._sources.values():
            if not isinstance(source, Folder):
                source.stop()
        for runner in self._runners.values():
            runner.stop()
        self._runners = {}

    def close(self) -> None:
        """Stop, and take no more pushes. What sources have read, and pushes that wait, is let in: no round follows."""
        self.backlog.open()
        self.stop()
        self._in_flight.close()

    def push(self, stream: str, data: bytes, kind: str | None = None) -> int:
        """Commit whole lines; they are durable when this returns, with the number of lines that are not empty.

        Or commit a document, or several, of the kind that is named, and return their number. While the stream is full
        this waits, or raises an `OverloadError`, as the stream's declaration says.
        """
        return self._push(stream, data, kind, self._options(stream).when_full)

    def _push(self, stream: str, data: bytes, kind: str | None, when_full: WhenFull = "block") -> int:
        if not data or data.isspace():
            return 0
        if kind == MESSAGE:
            return self.take(stream, [Message(data)], {}, when_full)
        parts = [data] if kind is not None else pieces(data, self._tuning.push_bytes)
        with self.backlog.entering(stream, len(data), when_full), self._accepting(stream) as commit:
            stamps = self._options(stream).stamped_on_arrival and kind is None
            stamp = self.watermarks.arrival_time(stream) if stamps else None
            for part in parts:
                commit.append(Block(stream, part, stamp, kind))
        return count_texts(data, kind)

    def take(
        self, stream: str, messages: Sequence[Message], positions: Positions, when_full: WhenFull = "block"
    ) -> int:
        """Commit messages of the stream's source with the positions behind them, in one record; see `Accept`."""
        with self.backlog.entering(stream, total_size(messages), when_full), self._accepting(stream) as commit:
            arrival = self.watermarks.arrival_time(stream)
            commit.append(Block(stream, stamp=arrival, messages=messages, positions=positions))
        return len(messages)

    def advance(self, stream: str, time: int) -> None:
        """Say that nothing before `time` will come any more, after all that was pushed so far."""
        with self._accepting(stream) as commit:
            commit.append(Block(stream, b"", time))

    def drain(self) -> None:
        """Wait until all that lies in the folders is in the log, as all that was pushed is."""
        for runner in list(self._runners.values()):
            runner.wait_until_idle()
        self._check()

    @property
    def error(self) -> str | None:
        """Why ingest has stopped, in one sentence."""
        return next((runner.error for runner in list(self._runners.values()) if runner.error is not None), None)

    def forget(self, stream: str) -> None:
        """Forget a stream that was added and whose source could not be opened."""
        self._sources.pop(stream, None)
        self._streams.pop(stream, None)

    def remove(self, stream: str) -> None:
        """End the source of a stream, after what it has read, and forget the stream. The others run on."""
        source, runner = self._sources.get(stream), self._runners.pop(stream, None)
        if source is not None and not isinstance(source, Folder):
            source.stop()
        if runner is not None:
            runner.stop()
        self.forget(stream)

    @property
    def problems(self) -> dict[str, str]:
        """A sentence for each stream whose source has trouble."""
        receivers = {name: source for name, source in self._sources.items() if not isinstance(source, Folder)}
        return {name: one.message for name, one in receivers.items() if one.message is not None}

    def _made(self, stream: str, options: Declared) -> Folder | sources.Source:
        """The source of a stream; the name of its positions belongs to the declaration."""
        source = sources.open(options.source)
        if not isinstance(source, Folder):
            self._streams[stream] = replace(options, origin=source.name)
        return source

    def _open(self, stream: str) -> None:
        source = self._sources[stream]
        if isinstance(source, Folder):
            self._watch(stream, source)
        else:
            reached = {} if source.name is None else self.log.reached(stream, source.name)
            positions = {name: one.position for name, one in reached.items()}
            splits = getattr(source, "by_line", False) and self._options(stream).message_format not in _LINES
            source.start(Intake(stream, self.take, self.backlog.is_full, splits), self._clock, positions)

    @contextmanager
    def _accepting(self, stream: str) -> Iterator[GroupCommit]:
        """The group commit of the stream, for a push that is in flight meanwhile."""
        self._check()
        with self._in_flight.accepting():
            self.watermarks.note_arrival(stream)
            with self._adding:
                commit = self._commits.setdefault(stream, GroupCommit(self._write, self._tuning.push_bytes))
            yield commit

    def _write(self, blocks: Sequence[Block]) -> None:
        """Append blocks of one stream to its journal."""
        stream = blocks[0].stream
        options, tuning = self._options(stream), self._tuning
        positions = {name: position for block in blocks for name, position in block.positions.items()}
        read_from = None if options.origin is None else ReadFrom(options.origin, positions)
        self._log_writer.push(stream, lambda batch: of_blocks(stream, blocks, batch, options, tuning), read_from)

    def _watch(self, stream: str, folder: Folder) -> None:
        name = f"folder-{durable_files.folder_name(f'{stream} {folder.path}')}"

        def take(frame: DataFrame, number: int) -> None:
            batch = ArrivedBatch(stream, name, number)
            session, files, options = frame.sparkSession, dropped(frame), self._options(stream)
            with self.backlog.entering(stream, sum(file.size for file in files)):
                write_files(session, self.log, self._log_writer, batch, files, options, self._tuning)
            reach("ingested")

        arrivals, checkpoint = folder.arrivals(streaming_session(self._session)), self._root / "ingest" / name
        self._runners[stream] = StreamingQueryRunner(folder.path, arrivals, checkpoint, take, _WATCHING)

    def _options(self, stream: str) -> Declared:
        return self._streams.get(stream, Declared())

    def _check(self) -> None:
        if self.error is not None:
            raise PenstockError(self.error)
