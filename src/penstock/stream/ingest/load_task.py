"""One task of a parallel load: writes a piece of a file as a Parquet file, and returns its statistics."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from io import RawIOBase
from typing import Any
from uuid import uuid4
from zlib import crc32

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from penstock.io.columns import LOGGED, REPEATED, logged
from penstock.io.graphs import DOCUMENTS, Documents
from penstock.io.nquads import BadLine, Parsed, parse
from penstock.io.splits import Split, chunks, filesystem, line_of
from penstock.model import hyperloglog
from penstock.model.hyperloglog import Sketches
from penstock.model.stretches import Stretch, cut_at_pauses, merged
from penstock.tuning import DEFAULT, Tuning

__all__ = ["LoadedFile", "portions", "write_part"]

_OPTIONS: dict[str, Any] = {"compression": "snappy", "use_dictionary": REPEATED}


@dataclass(frozen=True, slots=True)
class LoadedFile:
    """A Parquet file of elements (`penstock.io.columns`), in the order of their lines.

    `first` and `last` are the least and the greatest time (0 without rows), `predicates` says how often each occurs,
    and `disorder` by how much an element is at most behind the newest one before it in this part. `malformed` lines
    hold no element; `bad` has the first thousand of them, with their file and their number in it, long ones cut off.
    """

    path: str
    rows: int
    first: int
    last: int
    predicates: Mapping[str, int]
    disorder: int
    malformed: int
    bad: list[BadLine]
    sketches: Sketches = field(default_factory=dict)
    stretches: tuple[Stretch, ...] = ()
    checksum: int = 0  # the CRC-32 of the file


def write_part(
    piece: Split,
    stream: str,
    target: str,
    stamp: int | None = None,
    documents: Documents = DOCUMENTS,
    tuning: Tuning = DEFAULT,
) -> LoadedFile:
    """Parse a piece portion by portion and write it. The file appears at once, in the place of any before it."""
    measured = _Measured(tuning)
    is_lines = documents.kind(piece.path) is None
    parsed_portions = (
        portions(piece, stream, stamp, tuning)
        if is_lines
        else ((1, parsed) for parsed in documents.of_file(piece.path, stream, tuning))
    )
    with _appearing(target) as sink:
        summed = _Summed(sink)
        with pq.ParquetWriter(pa.PythonFile(summed, "w"), LOGGED, **_OPTIONS) as writer:
            for line, parsed in parsed_portions:
                if parsed.elements.num_rows:
                    writer.write_table(logged(parsed.elements))
                measured.add(parsed, line)
    return measured.part(piece, target, summed.checksum)


class _Summed(RawIOBase):
    """A file that is written, with the CRC-32 of its bytes so far."""

    def __init__(self, sink: pa.NativeFile) -> None:
        self._sink, self.checksum = sink, 0

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        self.checksum = crc32(data, self.checksum)
        self._sink.write(data)
        return len(data)


def portions(
    piece: Split, stream: str, stamp: int | None = None, tuning: Tuning = DEFAULT
) -> Iterator[tuple[int, Parsed]]:
    """Portions of lines, each with the number of its first line in the piece."""
    line = 1
    for chunk in chunks(piece, tuning.chunk_bytes):
        parsed = parse(chunk, stream, stamp, tuning)
        yield line, parsed
        line += parsed.lines


@dataclass(slots=True)
class _Measured:
    """The statistics of the elements so far."""

    tuning: Tuning
    rows: int = 0
    first: int = 0
    last: int = 0
    disorder: int = 0
    predicates: Counter[str] = field(default_factory=Counter)
    malformed: int = 0
    bad: list[BadLine] = field(default_factory=list)
    sketches: list[Sketches] = field(default_factory=list)
    stretches: tuple[Stretch, ...] = ()

    def add(self, parsed: Parsed, line: int) -> None:
        """Some more, from the lines that begin with this one."""
        if parsed.elements.num_rows:
            if self.rows < self.tuning.sketch_rows:
                self.sketches.append(hyperloglog.sketches(parsed.elements, self.tuning))
            self._add_times(parsed.elements.column("ts").to_numpy())
            self.predicates.update(_counts(parsed.elements.column("p")))
        self.malformed += len(parsed.bad)
        for malformed in parsed.bad[: self.tuning.kept_bad_lines - len(self.bad)]:
            text = malformed.text[: self.tuning.kept_line_chars]
            self.bad.append(replace(malformed, line=malformed.line + line - 1, text=text))

    def _add_times(self, times: npt.NDArray[np.int64]) -> None:
        newest = np.maximum.accumulate(times)
        if self.rows:
            newest = np.maximum(newest, self.last)
        least = int(times.min())
        self.disorder = max(self.disorder, int((newest - times).max()))
        self.first = min(self.first, least) if self.rows else least
        self.last = int(newest[-1])
        self.rows += len(times)
        self.stretches = merged((*self.stretches, *cut_at_pauses(times, self.tuning)), self.tuning)

    def part(self, piece: Split, target: str, checksum: int) -> LoadedFile:
        """The lines before the piece are counted only if a number in the file is needed."""
        before = line_of(piece) - 1 if self.bad else 0
        bad = [replace(malformed, line=malformed.line + before, file=piece.path) for malformed in self.bad]
        measured = (self.rows, self.first, self.last, dict(self.predicates), self.disorder, self.malformed)
        return LoadedFile(target, *measured, bad, hyperloglog.merged(self.sketches), self.stretches, checksum)


def _counts(predicates: pa.ChunkedArray[pa.StringScalar]) -> dict[str, int]:
    return {item["values"].as_py(): item["counts"].as_py() for item in pc.value_counts(predicates)}


@contextmanager
def _appearing(target: str) -> Iterator[pa.NativeFile]:
    """A file that has its name only when it is whole. Until then Spark does not see it, since the name has a dot."""
    system, path = filesystem(target)
    folder, _, name = path.rpartition("/")
    hidden = f"{folder}/.{name}.{uuid4().hex}"
    try:
        with system.open_output_stream(hidden) as sink:
            yield sink
        system.move(hidden, path)
    except BaseException:
        with suppress(OSError):
            system.delete_file(hidden)
        raise
