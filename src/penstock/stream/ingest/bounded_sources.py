"""Bounded sources, read as a whole: files of N-Quads and of graphs into the log, Parquet in place.

LOG/<stream>/<source>.size      the number of bytes of a source when it was read"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq

from penstock.errors import LoadError, PenstockError, PenstockWarning
from penstock.io.columns import ELEMENTS, END, LOGGED
from penstock.io.graphs import Documents
from penstock.io.nquads import parse
from penstock.io.splits import Split, chunks, filesystem, splits
from penstock.model.stretches import Stretch, cut_at_pauses, merged
from penstock.stream.base import durable_files
from penstock.stream.base.clock import Clock
from penstock.stream.base.watermark import Watermarks
from penstock.stream.ingest import parallel_load
from penstock.stream.ingest.dead_letters import DeadLetters, Malformed
from penstock.stream.ingest.element_reader import (
    FileTally,
    no_element,
    of_blocks,
    of_documents,
    of_file,
    readings_of_file,
)
from penstock.stream.ingest.elements import MESSAGE, Block, count_texts
from penstock.stream.ingest.late_filter import BatchWriter, Item, Reading
from penstock.stream.ingest.log_writer import ArrivedBatch, LogWriter
from penstock.stream.ingest.messages.message import Message
from penstock.stream.ingest.sources.folder import Dropped
from penstock.stream.ingest.stream_declaration import Declared
from penstock.stream.log.stream_log import Segment, StreamLog
from penstock.tuning import DEFAULT, Tuning

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["BoundedSources"]

_TOGETHER = 8 << 20  # bytes of lines in one batch; no threshold, since after a restart batches are told by number
_ELSEWISE = {END, "start"}  # columns that mean something in the log that they do not mean here, or the other way


class BoundedSources:
    """Reads each source once: batches that the log holds already are skipped."""

    def __init__(
        self,
        log: StreamLog,
        dead: DeadLetters,
        clock: Clock,
        streams: dict[str, Declared],
        tuning: Tuning = DEFAULT,
    ) -> None:
        self._log, self._tuning = log, tuning
        self._clock = clock
        self._streams = streams
        self._options = {name: declared.bounded() for name, declared in streams.items()}
        self._log_writer = LogWriter(log, dead, Watermarks(log, clock, self._options), tuning)
        self._sizes = _SourceSizes(log.root)

    def read(self, stream: str, session: Callable[[], SparkSession], *, in_place: bool) -> list[Segment]:
        """Read a stream's source into the log; returns the segments of Parquet that is read in place instead."""
        declared = self._streams[stream]
        if declared.is_endless:
            raise PenstockError(f"The stream <{stream}> is unbounded ({declared.path}): use start() instead of run().")
        if declared.path is None:
            self._read_lines(stream, declared.source or ())
        elif declared.is_parquet and in_place and declared.lateness is None and _fits(Path(declared.path)):
            return _segments(Path(declared.path), self._tuning)
        else:
            self._read_files(stream, declared, session)
        return []

    def has_read(self, stream: str) -> bool:
        """Whether the stream's file or folder has been read."""
        path = self._streams[stream].path
        return path is not None and self._log.holds(stream, _source(path), 0)

    def push(self, stream: str, data: bytes, kind: str | None = None) -> int:
        """Write lines to the log at once, and return the number of elements; of documents, the number of documents."""
        before = self._log.counts(stream).elements
        lines = data if kind is not None or data.endswith(b"\n") else data + b"\n"
        block = Block(stream, lines, kind=kind)
        if kind == MESSAGE:
            block = Block(stream, stamp=self._clock.now(), messages=[Message(data)])
        self._log_writer.push(stream, lambda batch: self._read_blocks(stream, [block], batch))
        return self._log.counts(stream).elements - before if kind is None else count_texts(data, kind)

    def _read_blocks(self, stream: str, blocks: Iterable[Block], batch: str) -> Iterator[Item]:
        return of_blocks(stream, blocks, batch, self._options[stream], self._tuning)

    def _read_files(self, stream: str, declared: Declared, session: Callable[[], SparkSession]) -> None:
        path = str(declared.path)
        batch = ArrivedBatch(stream, _source(path), 0)
        if self.has_read(stream):
            self._sizes.compare(stream, batch.source, path)
            return
        self._sizes.note(stream, batch.source, path)
        if declared.is_parquet:
            self._log_writer.write(batch, _parquet_items(Path(path), stream, self._options[stream]))
        else:
            self._read_texts(batch, path, session)

    def _read_texts(self, batch: ArrivedBatch, path: str, session: Callable[[], SparkSession]) -> None:
        """Read small files in the driver, and large ones by a Spark job."""
        options, pieces = self._options[batch.stream], splits(path, self._tuning.split_bytes)
        if options.mapping is not None or any(options.message_file(piece.path) for piece in pieces):
            self._read_whole(batch, path, pieces)
            return
        documents = options.documents
        pieces = documents.whole_documents(pieces)
        lines = not any(documents.kind(piece.path) for piece in pieces)
        check = partial(_check_elements, path, lines)
        tally = FileTally()
        stamp = self._clock.now() if self._options[batch.stream].stamped_on_arrival else None
        if sum(_size(piece) for piece in pieces) <= self._tuning.small_files_bytes:
            self._log_writer.write(batch, _items(pieces, batch.stream, stamp, documents, self._tuning, tally), check)
            tally.warn(documents)
            return
        folder = self._log.begin(batch.stream, batch.source, batch.number)
        with _whole_or_nothing():
            parts = parallel_load.write(session(), pieces, batch.stream, str(folder), stamp, documents, self._tuning)
        self._log_writer.write_loaded(batch, folder, parts, check)
        tally.add_parts(pieces, parts)
        tally.warn(documents)

    def _read_whole(self, batch: ArrivedBatch, path: str, pieces: Iterable[Split]) -> None:
        """Read a file, or the files of a folder, in the driver: they are lifted, or read as messages."""
        options, stamp = self._options[batch.stream], self._clock.now()
        files = [Dropped(path, stamp, 0) for path in dict.fromkeys(piece.path for piece in pieces)]
        with _whole_or_nothing():
            found = [one for file in files for one in readings_of_file(file, batch.stream, options, self._tuning)]
        if options.mapping is not None:
            self._log_writer.write(batch, found)
        else:
            self._log_writer.write(batch, found, partial(_check_elements, path, False))

    def _read_lines(self, stream: str, items: Iterable[bytes]) -> None:
        """Read an iterable in batches. After a restart it begins anew, and batches that the log holds are skipped; a
        resumable one continues."""
        first = self._log.next_batch(stream, "items") if getattr(items, "resumable", False) else 0
        kind = self._options[stream].kind
        for number, batch_items in enumerate(_batches(items), first):
            batch = ArrivedBatch(stream, "items", number)
            if not self._log.holds(stream, batch.source, number):
                blocks = self._blocks(stream, batch_items, kind)
                self._log_writer.write(batch, self._read_blocks(stream, blocks, batch.name))

    def _blocks(self, stream: str, items: list[bytes], kind: str | None) -> list[Block]:
        if self._options[stream].takes_messages:
            return [Block(stream, stamp=self._clock.now(), messages=[Message(item) for item in items])]
        return [Block(stream, text, kind=kind) for text in ([b"".join(items)] if kind is None else items)]


class _SourceSizes:
    """The sizes of sources when they were read: a source that has changed since is not read again, and warned of."""

    def __init__(self, log: Path) -> None:
        self._log = log

    def note(self, stream: str, source: str, path: str) -> None:
        """Save the size of a source that is read now."""
        file = self._file(stream, source)
        durable_files.make_folder(file.parent)
        durable_files.replace_json(file, _bytes(path))

    def compare(self, stream: str, source: str, path: str) -> None:
        """Warn if the size of the source has changed. A source that no longer exists needs no warning."""
        file = self._file(stream, source)
        if file.exists() and (size := _bytes(path)) is not None and durable_files.read_json(file) != size:
            warnings.warn(
                f"{path} has changed since it was read, and is not read again: push the new elements, or put them into"
                " a folder that start() watches.",
                PenstockWarning,
                stacklevel=1,
            )

    def _file(self, stream: str, source: str) -> Path:
        return self._log / durable_files.folder_name(stream) / f"{source}.size"


def _bytes(path: str) -> int | None:
    """The size of a file, or of all files of a folder; None if there is none."""
    try:
        files = {piece.path for piece in splits(path)}
    except LoadError:
        return None
    infos = (system.get_file_info(place) for system, place in map(filesystem, files))
    return sum(int(info.size or 0) for info in infos)


def _source(path: str) -> str:
    """The name of a file or folder as a source of batches in the log."""
    return f"file-{durable_files.folder_name(path)}"


def _batches(items: Iterable[bytes]) -> Iterator[list[bytes]]:
    batch: list[bytes] = []
    size = 0
    for item in items:
        batch.append(item)
        size += len(item)
        if size >= _TOGETHER:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


def _check_elements(path: str, lines: bool, writer: BatchWriter) -> None:
    """A file without any element is not marked as read, so that it can be replaced by the right one."""
    if writer.refused and not writer.parts and not writer.late.num_rows:
        raise LoadError(no_element(path, writer.refused, writer.malformed[0], lines=lines))


def _size(piece: Split) -> int:
    """The size of a piece in bytes, about: a packed file is larger than it looks."""
    if piece.end is not None:
        return piece.end - piece.start
    system, path = filesystem(piece.path)
    return (16 if path.lower().endswith(".gz") else 1) * int(system.get_file_info(path).size or 0)


def _items(
    pieces: Iterable[Split], stream: str, stamp: int | None, documents: Documents, tuning: Tuning, tally: FileTally
) -> Iterator[Reading]:
    """The elements of the pieces, counted by file. Malformed lines have their number in the file."""
    with _whole_or_nothing():
        for path, together in groupby(pieces, key=lambda piece: piece.path):
            if documents.kind(path) is not None:
                yield from tally.over(path, of_documents(path, stream, documents, tuning))
            else:
                yield from tally.over(path, _lines(path, together, stream, stamp, tuning))


@contextmanager
def _whole_or_nothing() -> Iterator[None]:
    """A file that cannot be read to its end is an error: answers to a part of it would be wrong."""
    try:
        yield
    except LoadError as error:
        raise LoadError(f"{error}; no element of it is kept") from error


def _lines(path: str, pieces: Iterable[Split], stream: str, stamp: int | None, tuning: Tuning) -> Iterator[Reading]:
    before = 0
    for piece in pieces:
        for chunk in chunks(piece, tuning.chunk_bytes):
            parsed = parse(chunk, stream, stamp, tuning)
            yield Reading(
                parsed.elements, [Malformed(path, before + one.line, one.text, one.reason) for one in parsed.bad]
            )
            before += chunk.count(b"\n")


def _parquet_items(path: Path, stream: str, options: Declared) -> Iterator[Reading]:
    _fits(path)
    for file in _parquet_files(path):
        yield from of_file(Dropped(str(file), 0, file.stat().st_size), stream, options)


def _parquet_files(path: Path) -> list[Path]:
    if not path.exists():
        raise LoadError(f"{path}: there is no such file or folder")
    files = sorted(file for file in path.rglob("*.parquet") if file.name[0] not in "._") if path.is_dir() else [path]
    if not files:
        raise LoadError(f"{path}: the folder holds no Parquet file")
    return files


def _fits(path: Path) -> bool:
    """Whether the columns are those of the log, so that nothing has to be copied."""
    for file in _parquet_files(path):
        try:
            schema = pq.read_schema(file)
        except (OSError, pa.ArrowException) as error:
            raise LoadError(f"{file}: {str(error).splitlines()[0]}") from error
        if missing := [name for name in ELEMENTS.names if name not in schema.names]:
            raise LoadError(f"{file}: a stream has the columns s, p, o, ts; {', '.join(missing)} missing")
        if _ELSEWISE & {*schema.names} or any(_differs(schema, name) for name in ("ts", "g")):
            return False
    return True


def _differs(schema: pa.Schema, name: str) -> bool:
    return name in schema.names and schema.field(name).type != LOGGED.field(name).type


def _segments(path: Path, tuning: Tuning) -> list[Segment]:
    """The files as segments. Their predicates are not counted."""
    measured = [(str(file), *_measure(file, tuning)) for file in _parquet_files(path)]
    return [
        Segment((file,), rows, stretches[0].first, max(one.last for one in stretches), None, stretches=stretches)
        for file, rows, stretches in measured
        if stretches
    ]


def _measure(file: Path, tuning: Tuning) -> tuple[int, tuple[Stretch, ...]]:
    """Rows, and their stretches: from the file's own statistics, where these show that there is no pause."""
    with pq.ParquetFile(file) as parquet:
        groups = [_group_stretches(parquet, number, tuning) for number in range(parquet.num_row_groups)]
        return parquet.metadata.num_rows, merged((one for group in groups for one in group), tuning)


def _group_stretches(parquet: pq.ParquetFile, number: int, tuning: Tuning) -> tuple[Stretch, ...]:
    """The stretches of a row group. The times themselves are read if they are unknown, or may have a pause."""
    group = parquet.metadata.row_group(number)
    times = group.column(parquet.metadata.schema.names.index("ts")).statistics
    if times is not None and times.has_min_max and int(times.max) - int(times.min) <= tuning.pause_us:  # type: ignore[arg-type]
        return (Stretch(int(times.min), int(times.max), group.num_rows),)  # type: ignore[arg-type]
    read = parquet.read_row_group(number, columns=["ts"]).column("ts")
    return cut_at_pauses(read.drop_null().to_numpy(), tuning)
