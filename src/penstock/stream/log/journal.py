"""The journal of a stream: the newest arrivals in one append-only file, each record durable when `append` returns.

    journal     records, each a header and an Arrow stream of elements whose schema carries the numbers of the record as
                JSON; a header is a mark (4 bytes), the stream's size (8 bytes) and CRC-32 (4 bytes), and the CRC-32 of
                size and CRC-32 (4 bytes)

A segment later holds the same elements, and the file begins anew. A last record that is cut short, or of which a whole
block never reached the disk, was never acknowledged, and is removed when the file is read. Any other record that is not
as it was written is an error: it may have been acknowledged.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from struct import Struct
from zlib import crc32

import pyarrow as pa

from penstock.stream.base import durable_files
from penstock.stream.base.disk_errors import damaged, disk_errors
from penstock.stream.base.failpoints import reach
from penstock.stream.log.source_positions import Sources, merged, sources_from_json, sources_to_json

__all__ = ["Journal", "Record", "Tail"]

_HEADER = Struct(">4sQII")
_MARK = b"\xf5PSJ"  # no text has the first byte
_COUNTED = Struct(">QI")  # what the header's own checksum is of
_BLOCK = 512  # bytes that a disk writes as a whole; those that it did not write are zeros
_NUMBERS = b"penstock"


@dataclass(frozen=True, slots=True)
class Record:
    """Elements that arrived together and were in time, in the order of arrival, and the numbers of that batch.

    `late`, `malformed` and `ahead` count its dead letters. `advanced_to` is the time through which a call of `advance`
    among them has called the stream complete, and `sources` how far their sources have been read.
    """

    batch: int
    elements: pa.Table
    late: int = 0
    malformed: int = 0
    advanced_to: int | None = None
    ahead: int = 0
    sources: Sources = field(default_factory=dict)

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to remember."""
        counts = self.elements.num_rows, self.late, self.malformed, self.ahead
        return not any(counts) and self.advanced_to is None and not self.sources

    def to_bytes(self) -> bytes:
        reached = sources_to_json(self.sources)
        numbers = (self.batch, self.late, self.malformed, self.advanced_to, self.ahead, reached)
        table = self.elements.replace_schema_metadata({_NUMBERS: json.dumps(numbers)})
        sink = pa.BufferOutputStream()
        with pa.ipc.new_stream(sink, table.schema) as writer:
            writer.write_table(table)
        return sink.getvalue().to_pybytes()

    @classmethod
    def from_bytes(cls, data: bytes) -> Record:
        with pa.ipc.open_stream(data) as reader:
            table = reader.read_all()
        batch, late, malformed, advanced_to, ahead, reached = json.loads((table.schema.metadata or {})[_NUMBERS])
        elements = table.replace_schema_metadata(None)
        return cls(batch, elements, late, malformed, advanced_to, ahead, sources_from_json(reached))


class Journal:
    """Appends records to a file. Not thread-safe."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._is_named = False  # durably, in the list of names of its folder
        self.is_suspect = False  # a write or a sync has failed: nothing is appended to this file any more
        self.size = 0  # bytes of whole records

    def read(self) -> Iterator[Record]:
        """The records of the file, in order. Afterwards the rest, which was not acknowledged, is removed."""
        content = self._path.read_bytes() if self._path.exists() else b""
        self.size = 0
        while (payload := self._payload(content)) is not None:
            self.size += _HEADER.size + len(payload)
            yield Record.from_bytes(payload)
        if self.size < len(content):
            with disk_errors(self._path):
                os.truncate(self._path, self.size)

    def append(self, record: Record) -> None:
        """Append a record, durably; after an error the file holds nothing of it, and is suspect: `clear` it before the
        next one."""
        payload = record.to_bytes()
        with disk_errors(self._path):
            try:
                self._write(_header(payload) + payload)
                if not self._is_named:
                    durable_files.sync(self._path.parent)
                    self._is_named = True
            except BaseException:
                self.is_suspect = True
                with suppress(OSError):
                    os.truncate(self._path, self.size)
                raise
        self.size += _HEADER.size + len(payload)
        reach("appended")

    def clear(self) -> None:
        """Remove all records. If they stay, or come back after a crash, they are recognised by their numbers. A suspect
        file is abandoned for a new one."""
        if self.is_suspect:
            with disk_errors(self._path):
                self._path.unlink(missing_ok=True)
            self.is_suspect = self._is_named = False
            self.size = 0
        elif self.size:
            with suppress(OSError):
                os.truncate(self._path, 0)
                self.size = 0

    def _write(self, data: bytes) -> None:
        """Write behind the whole records, durably."""
        durable_files.write_at(self._path, self.size, data, durable=True)

    def _payload(self, content: bytes) -> bytes | None:
        """The next record; None at the end, or if the rest was never acknowledged."""
        header = content[self.size : self.size + _HEADER.size]
        if len(header) < _HEADER.size:
            return None
        start = self.size + _HEADER.size
        mark, size, checksum, own = _HEADER.unpack(header)
        is_marked, is_sound = mark == _MARK, own == crc32(header[4:16])
        if is_marked and is_sound:
            payload = content[start : start + size]
            if len(payload) == size and crc32(payload) == checksum:
                return payload
            if start + size >= len(content) and (len(payload) < size or _has_unwritten_block(content, start)):
                return None
        elif not is_marked and not is_sound and not _holds_record(content, start):
            return None
        raise damaged(self._path, f"its record at byte {self.size:,} is not as it was written")


def _header(payload: bytes) -> bytes:
    numbers = len(payload), crc32(payload)
    return _HEADER.pack(_MARK, *numbers, crc32(_COUNTED.pack(*numbers)))


def _has_unwritten_block(content: bytes, start: int) -> bool:
    """Whether a whole block behind that byte, or the rest of the last one, is zeros."""
    blocks = range(-(-start // _BLOCK) * _BLOCK, len(content), _BLOCK)
    return any(not any(content[block : block + _BLOCK]) for block in blocks)


def _holds_record(content: bytes, start: int) -> bool:
    """Whether a record begins somewhere behind that byte."""
    while (start := content.find(_MARK, start)) >= 0:
        header = content[start : start + _HEADER.size]
        if len(header) == _HEADER.size and _HEADER.unpack(header)[3] == crc32(header[4:16]):
            return True
        start += 1
    return False


@dataclass(slots=True)
class Tail:
    """The records of a journal that are in no segment, and their totals."""

    records: list[Record] = field(default_factory=list)
    rows: int = 0
    late: int = 0
    malformed: int = 0
    ahead: int = 0
    oldest: int | None = None
    newest: int | None = None
    advanced_to: int | None = None

    def add(self, record: Record) -> None:
        self.records.append(record)
        self.late += record.late
        self.malformed += record.malformed
        self.ahead += record.ahead
        if record.elements.num_rows:
            self.rows += record.elements.num_rows
            times = record.elements.column("ts").to_numpy()
            first, last = int(times.min()), int(times.max())
            self.oldest = first if self.oldest is None else min(self.oldest, first)
            self.newest = last if self.newest is None else max(self.newest, last)
        if record.advanced_to is not None:  # which only grows
            self.advanced_to = record.advanced_to

    @property
    def sources(self) -> Sources:
        """How far the records have read their sources."""
        return merged(record.sources for record in self.records)

    @property
    def batch(self) -> int:
        """The number of the last record."""
        return self.records[-1].batch

    @property
    def elements(self) -> pa.Table:
        """The elements of all records, in the order of arrival."""
        return pa.concat_tables([one.elements for one in self.records], promote_options="default").combine_chunks()
