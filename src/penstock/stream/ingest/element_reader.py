"""Reads pushed blocks and dropped files as elements. Unreadable input becomes dead letters and stops nothing."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import count, groupby
from pathlib import Path
from typing import Any, cast, get_args

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from penstock.errors import LoadError, PenstockWarning
from penstock.io.columns import BACKWARDS, ELEMENTS, END, LOGGED, lasting
from penstock.io.graphs import Documents, Properties, parse_documents
from penstock.io.message_logs.syntax import message_format
from penstock.io.nquads import BadLine, Parsed, parse, scope
from penstock.io.splits import Split, chunks, filesystem
from penstock.lift.lifting import MessageFormat
from penstock.stream.base import time_values
from penstock.stream.ingest.dead_letters import Malformed
from penstock.stream.ingest.elements import Block, without_mark
from penstock.stream.ingest.late_filter import Advance, Item, Reading
from penstock.stream.ingest.load_task import LoadedFile
from penstock.stream.ingest.messages.arrival import Arrival
from penstock.stream.ingest.messages.lift_messages import labels_of
from penstock.stream.ingest.messages.message import Message
from penstock.stream.ingest.messages.reader import read_messages
from penstock.stream.ingest.sources.folder import Dropped
from penstock.stream.ingest.stream_declaration import Declared
from penstock.tuning import DEFAULT, Tuning

__all__ = ["FileTally", "no_element", "of_blocks", "of_documents", "of_file", "of_lifted_file", "readings_of_file"]

_UNDECLARED = Declared()
_MICROSECONDS = pa.timestamp("us", "UTC")
_COLUMNS = (*ELEMENTS.names, "g", END)


def of_blocks(
    stream: str,
    blocks: Iterable[Block],
    batch: str = "",
    options: Declared = _UNDECLARED,
    tuning: Tuning = DEFAULT,
) -> Iterator[Item]:
    """The elements of a stream's blocks. An empty block with a stamp is a call of `advance`.

    The batch's name, which comes once in a stream, tells blank nodes of its documents from others.
    """
    numbers = count()
    for (is_message, kind, empty, stamp), together in groupby(blocks, key=_key):
        if is_message:
            messages = [message for block in together for message in block.messages]
            yield from _messages(messages, Arrival(stream, batch, 0, stamp or 0, tuning=tuning), options, numbers)
        elif kind is not None:
            for block, number in zip(together, numbers, strict=False):
                yield from _documents(block, kind, scope(f"{stream} {batch} {number}"), options.properties)
        elif not empty:
            yield _parsed(stream, [block.data for block in together], stamp, tuning)
        elif stamp is not None:
            yield Advance(stamp - 1)


def _key(block: Block) -> tuple[bool, str | None, bool, int | None]:
    return block.is_message, block.kind, not block.data, block.stamp


def _messages(
    messages: Sequence[Message], arrival: Arrival, options: Declared, numbers: Iterator[int]
) -> Iterator[Reading]:
    """The elements of messages, partition by partition: in each they are in order."""
    if options.origin is None:
        messages = [message._replace(partition=None) if message.partition else message for message in messages]
    arrival = replace(
        arrival,
        time=options.message_time,
        properties=options.properties,
        declared=bool(options.time_property or options.start_property or options.end_property),
        lifting=options.lifting,
    )
    by_partition: dict[str | None, list[Message]] = {}
    for message in messages:
        by_partition.setdefault(message.partition, []).append(message)
    for partition in sorted(by_partition, key=lambda name: name or ""):
        yield from read_messages(
            by_partition[partition], options.message_format, replace(arrival, number=next(numbers))
        )


def _documents(block: Block, kind: str, labels: str, properties: Properties) -> Iterator[Reading]:
    for parsed in parse_documents([block.data], kind, labels, properties):
        yield _reading(parsed, block.stream)


def _reading(parsed: Parsed, source: str) -> Reading:
    return Reading(parsed.elements, [Malformed(source, bad.line, bad.text, bad.reason) for bad in parsed.bad])


def _parsed(stream: str, pieces: list[bytes], stamp: int | None, tuning: Tuning) -> Reading:
    """Pieces parsed at once, since the parser's kernels want long columns; line numbers are those in each piece."""
    parsed = parse(b"".join(pieces), stream, stamp, tuning)
    return Reading(parsed.elements, list(_in_pieces(parsed.bad, pieces, stream)))


def _in_pieces(bad: Iterable[BadLine], pieces: Iterable[bytes], stream: str) -> Iterator[Malformed]:
    remaining, before, lines = iter(pieces), 0, 0
    for bad_line in bad:
        while bad_line.line > before + lines:
            before, lines = before + lines, next(remaining).count(b"\n")
        yield Malformed(stream, bad_line.line - before, bad_line.text, bad_line.reason)


def of_file(file: Dropped, stream: str, options: Declared, tuning: Tuning = DEFAULT) -> Iterator[Reading]:
    """The elements of a dropped file, which is read by its ending. If it cannot be read to its end, the elements before
    count, and the last reading says so."""
    kept = 0
    try:
        for reading in readings_of_file(file, stream, options, tuning):
            kept += reading.elements.num_rows
            yield reading
    except (LoadError, OSError, pa.ArrowException) as error:
        reason = str(error).splitlines()[0].removeprefix(f"{file.path}: ")
        yield Reading(ELEMENTS.empty_table(), [Malformed(file.path, 0, "", f"{reason}; {_kept(kept)}")])


def readings_of_file(file: Dropped, stream: str, options: Declared, tuning: Tuning) -> Iterator[Reading]:
    """The elements of a file, which is read by its ending. `LoadError` if it cannot be read to its end."""
    if options.lifting is not None:
        return of_lifted_file(file.path, stream, options, file.modified, tuning)
    if (format := options.message_file(file.path)) is not None:
        return _message_file(file, format, stream, options, tuning)
    if options.documents.kind(file.path) is not None:
        return of_documents(file.path, stream, options.documents, tuning)
    if file.path.endswith(".parquet"):
        return _parquet(file)
    return _lines(file, stream, file.modified if options.stamped_on_arrival else None, tuning)


def _kept(elements: int) -> str:
    if not elements:
        return "no element of it is kept"
    return "the element before that is kept" if elements == 1 else f"the {elements:,} elements before that are kept"


def of_documents(path: str, stream: str, documents: Documents, tuning: Tuning = DEFAULT) -> Iterator[Reading]:
    """The elements of a file of documents. `LoadError` if it cannot be read to its end."""
    for parsed in documents.of_file(path, stream, tuning):
        yield _reading(parsed, path)


def of_lifted_file(
    path: str, stream: str, options: Declared, stamp: int, tuning: Tuning = DEFAULT
) -> Iterator[Reading]:
    """The elements of a file that is lifted, whose ending tells its format unless the stream does. `stamp` is the time
    of messages that have none. `LoadError` if it cannot be read."""
    lifting, format = options.lifting, file_format(path, options.format)
    assert lifting is not None
    data = b"".join(chunks(Split(path), tuning.chunk_bytes))
    arrival = Arrival(stream, path, stamp, stamp)
    lifted = lifting.apply_file(data, format, labels=labels_of(lifting, arrival))
    bad = [Malformed(path, failure.message, "", failure.reason) for failure in lifted.failures]
    yield Reading(lifted.elements(stamp), bad)


def _message_file(file: Dropped, format: str, stream: str, options: Declared, tuning: Tuning) -> Iterator[Reading]:
    """The elements of a file that is read as one message. The same path at another time has other blank nodes."""
    data = without_mark(b"".join(chunks(Split(file.path), tuning.chunk_bytes)))
    arrival = Arrival(
        stream, file.path, file.modified, file.modified, options.time or "data", options.properties, tuning=tuning
    )
    return read_messages([Message(data, time=file.modified, place=file.path)], format, arrival)


def file_format(path: str, declared: str | None) -> MessageFormat:
    """The format of a file that is lifted."""
    ending = Path(path.lower().removesuffix(".gz")).suffix.lstrip(".")
    name = {"jsonl": "ndjson", "": "json"}.get(declared or ending, declared or ending)
    if name not in get_args(MessageFormat):
        raise LoadError(f"the mapping is for files of {', '.join(get_args(MessageFormat))}: give the format")
    return cast(MessageFormat, name)


def _lines(file: Dropped, stream: str, stamp: int | None, tuning: Tuning) -> Iterator[Reading]:
    before = 0
    for chunk in chunks(Split(file.path), tuning.chunk_bytes):
        parsed = parse(chunk, stream, stamp, tuning)
        bad = [Malformed(file.path, before + line.line, line.text, line.reason) for line in parsed.bad]
        yield Reading(parsed.elements, bad)
        before += chunk.count(b"\n")


def _parquet(file: Dropped) -> Iterator[Reading]:
    system, path = filesystem(file.path)
    with system.open_input_file(path) as opened:
        parquet = pq.ParquetFile(opened)
        names = parquet.schema_arrow.names
        if missing := [name for name in ELEMENTS.names if name not in names]:
            raise LoadError(f"the file has no column {', '.join(missing)}")
        before = 0
        for batch in parquet.iter_batches(columns=[name for name in _COLUMNS if name in names]):
            yield _in_order(_elements(pa.Table.from_batches([batch])), file.path, before)
            before += batch.num_rows


def _elements(table: pa.Table) -> pa.Table:
    """The columns as the log has them; a time may be a timestamp of any resolution."""
    if any(table.column(name).null_count for name in ELEMENTS.names):
        raise LoadError("a term or a time is NULL")
    columns = {name: table.column(name) for name in table.column_names}
    for name in {"ts", END} & columns.keys():
        if pa.types.is_timestamp(columns[name].type):
            columns[name] = columns[name].cast(_MICROSECONDS)
        columns[name] = columns[name].cast(pa.int64())
    if (end := columns.pop(END, None)) is not None:
        columns["start"], columns["ts"] = columns["ts"], pc.coalesce(end, columns["ts"])
    schema = pa.schema([field for field in LOGGED if field.name in columns])
    elements = pa.table([columns[name] for name in schema.names], names=schema.names).cast(schema)
    return lasting(elements) if end is not None else elements


def _in_order(table: pa.Table, source: str, before: int) -> Reading:
    """The table without the elements that end before they start, which are malformed. Their line is their place in the
    file, counted from 1."""
    if "start" not in table.column_names:
        return Reading(table)
    start, end = (table.column(name) for name in ("start", "ts"))
    backwards = pc.coalesce(start, end).to_numpy() > end.to_numpy()
    places = np.flatnonzero(backwards)
    wrong = zip(places.tolist(), table.take(places).to_pylist(), strict=True)
    bad = [Malformed(source, before + place + 1, _text(row), BACKWARDS) for place, row in wrong]
    return Reading(table.filter(~backwards), bad)


def _text(row: dict[str, Any]) -> str:
    """A row as a line of N-Quads; the terms are not checked."""
    terms = (row[name] for name in ("s", "p", "o", "g") if row.get(name) is not None)
    return f"{' '.join(terms)} {time_values.stamp(row['ts'], row['start'])} ."


@dataclass(slots=True)
class _Count:
    elements: int = 0
    refused: int = 0
    first: Malformed | None = None
    unreadable: Malformed | None = None


@dataclass(slots=True)
class FileTally:
    """Counts the lines and elements of each file, to warn once of a file without any element, not by each of its lines;
    and of a file that cannot be read to its end."""

    _files: dict[str, _Count] = field(default_factory=dict)

    def over(self, path: str, readings: Iterable[Reading]) -> Iterator[Reading]:
        """Count the readings of a file as they go by."""
        for reading in readings:
            for bad in (bad for bad in reading.malformed if not bad.line):
                self._files.setdefault(path, _Count()).unreadable = bad
            self.add(path, reading.elements.num_rows, len(reading.malformed), next(iter(reading.malformed), None))
            yield reading

    def add(self, path: str, elements: int, refused: int, first: Malformed | None) -> None:
        """Count some elements and refused lines of a file."""
        seen = self._files.setdefault(path, _Count())
        seen.elements += elements
        seen.refused += refused
        seen.first = seen.first or first

    def add_parts(self, pieces: Iterable[Split], parts: Iterable[LoadedFile]) -> None:
        """Count the pieces of files, which tasks have loaded as these parts."""
        for piece, part in zip(pieces, parts, strict=True):
            first = next((Malformed(piece.path, bad.line, bad.text, bad.reason) for bad in part.bad), None)
            self.add(piece.path, part.rows, part.malformed, first)

    def warn(self, documents: Documents) -> None:
        """Warn of each file that has lines and no element, or no end."""
        for path, seen in self._files.items():
            if seen.unreadable is not None:
                warnings.warn(f"{path}: {seen.unreadable.reason}", PenstockWarning, stacklevel=1)
            elif seen.first is not None and not seen.elements:
                lines = documents.kind(path) is None and message_format(path, documents.format) is None
                sentence = no_element(path, seen.refused, seen.first, lines=lines)
                warnings.warn(sentence, PenstockWarning, stacklevel=1)


def no_element(path: str, refused: int, first: Malformed, *, lines: bool) -> str:
    """The sentence about a file or folder without any element, of which the first refused line is told."""
    many = "its only line is not" if refused == 1 else f"none of its {refused:,} lines is"
    what = f"{many} timestamped N-Quads" if lines else "nothing in it is an element"
    place = "" if first.source == path else f"{first.source}, "
    return f"{path}: {what}; {place}line {first.line}: {first.reason}"
