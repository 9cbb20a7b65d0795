"""The journal of a stream: the newest arrivals in one append-only file, each record durable when `append` returns.

    journal     records, each its size (8 bytes), its CRC-32 (4 bytes), and an Arrow stream of elements whose schema
                carries the numbers of the record as JSON

A segment later holds the same elements, and the file begins anew. A record that is cut short was never acknowledged,
and is removed when the file is read.
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

from penstock.errors import StoreError
from penstock.stream.base import durable_files
from penstock.stream.base.failpoints import reach

__all__ = ["Journal", "Record", "Tail"]

_FRAME = Struct(">QI")
_NUMBERS = b"penstock"


@dataclass(frozen=True, slots=True)
class Record:
    """Elements that arrived together and were in time, in the order of arrival, and the numbers of that batch.

    `late` and `malformed` count its dead letters. `advanced_to` is the time through which a call of `advance` among
    them has called the stream complete.
    """

    batch: int
    elements: pa.Table
    late: int = 0
    malformed: int = 0
    advanced_to: int | None = None

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to remember."""
        return not (self.elements.num_rows or self.late or self.malformed) and self.advanced_to is None

    def to_bytes(self) -> bytes:
        numbers = (self.batch, self.late, self.malformed, self.advanced_to)
        table = self.elements.replace_schema_metadata({_NUMBERS: json.dumps(numbers)})
        sink = pa.BufferOutputStream()
        with pa.ipc.new_stream(sink, table.schema) as writer:
            writer.write_table(table)
        return sink.getvalue().to_pybytes()

    @classmethod
    def from_bytes(cls, data: bytes) -> Record:
        with pa.ipc.open_stream(data) as reader:
            table = reader.read_all()
        batch, late, malformed, advanced_to = json.loads((table.schema.metadata or {})[_NUMBERS])
        return cls(batch, table.replace_schema_metadata(None), late, malformed, advanced_to)


class Journal:
    """Appends records to a file. Not thread-safe."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._is_named = False  # durably, in the list of names of its folder
        self.size = 0  # bytes of whole records

    def read(self) -> Iterator[Record]:
        """The records of the file, in order. Afterwards a record that is cut short is removed."""
        content = self._path.read_bytes() if self._path.exists() else b""
        self.size = 0
        while (payload := self._payload(content)) is not None:
            self.size += _FRAME.size + len(payload)
            yield Record.from_bytes(payload)
        if self.size < len(content):
            os.truncate(self._path, self.size)

    def append(self, record: Record) -> None:
        """Append a record, durably; after an error the file holds nothing of it."""
        payload = record.to_bytes()
        try:
            self._write(_FRAME.pack(len(payload), crc32(payload)) + payload)
            if not self._is_named:
                durable_files.sync(self._path.parent)
                self._is_named = True
        except BaseException:
            with suppress(OSError):
                os.truncate(self._path, self.size)
            raise
        self.size += _FRAME.size + len(payload)
        reach("appended")

    def clear(self) -> None:
        """Remove all records. If they stay, or come back after a crash, they are recognised by their numbers."""
        if self.size:
            with suppress(OSError):
                os.truncate(self._path, 0)
                self.size = 0

    def _write(self, data: bytes) -> None:
        """Write behind the whole records, over whatever a failed append may have left there."""
        descriptor = os.open(self._path, os.O_WRONLY | os.O_CREAT, 0o644)
        try:
            os.lseek(descriptor, self.size, os.SEEK_SET)
            while data:
                data = data[os.write(descriptor, data) :]
            os.fsync(descriptor)
        finally:
            os.close(descriptor)

    def _payload(self, content: bytes) -> bytes | None:
        """The next record; None at the end, or if the last record is cut short."""
        start = self.size + _FRAME.size
        if start > len(content):
            return None
        size, checksum = _FRAME.unpack_from(content, self.size)
        payload = content[start : start + size]
        if size and len(payload) == size and crc32(payload) == checksum:
            return payload
        if size and start + size < len(content):
            raise StoreError(
                f"{self._path} is damaged at byte {self.size:,}, before its last record: put back a copy of the file, "
                f"or remove it and push again the elements that had come last."
            )
        return None


@dataclass(slots=True)
class Tail:
    """The records of a journal that are in no segment, and their totals."""

    records: list[Record] = field(default_factory=list)
    rows: int = 0
    late: int = 0
    malformed: int = 0
    oldest: int | None = None
    newest: int | None = None
    advanced_to: int | None = None

    def add(self, record: Record) -> None:
        self.records.append(record)
        self.late += record.late
        self.malformed += record.malformed
        if record.elements.num_rows:
            self.rows += record.elements.num_rows
            times = record.elements.column("ts").to_numpy()
            first, last = int(times.min()), int(times.max())
            self.oldest = first if self.oldest is None else min(self.oldest, first)
            self.newest = last if self.newest is None else max(self.newest, last)
        if record.advanced_to is not None:  # which only grows
            self.advanced_to = record.advanced_to

    @property
    def batch(self) -> int:
        """The number of the last record."""
        return self.records[-1].batch

    @property
    def elements(self) -> pa.Table:
        """The elements of all records, in the order of arrival."""
        return pa.concat_tables([one.elements for one in self.records], promote_options="default").combine_chunks()
