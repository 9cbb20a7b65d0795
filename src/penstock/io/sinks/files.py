"""A sink that appends to a file, and the formats that the command line prints too. The position is the file's length.

All formats are in `file_formats.py`.
"""

from __future__ import annotations

import csv
import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from io import StringIO
from pathlib import Path
from typing import IO

from penstock.answer import Answer
from penstock.errors import StoreError
from penstock.io.results import cell_value, time_literal, time_text
from penstock.io.sinks.sink import Batch, Position
from penstock.tuning import DEFAULT

__all__ = ["FileSink", "Writer", "csv_text", "ndjson_text", "nquads_text"]


Writer = Callable[[Iterable[Answer], bool], Iterator[str] | Iterator[bytes]]
"""Writes answers; the second argument says whether they begin the file."""


class FileSink:
    """Appends to a file, after the content that it had at the registration."""

    def __init__(self, path: Path, write: Writer, most: int = DEFAULT.written_answers) -> None:
        self._most = most  # answers of one write
        self._path = path
        self._write = write
        self._file: IO[bytes] | None = None

    def begin(self) -> Position:
        """See `Sink.begin`."""
        return self._opened().seek(0, os.SEEK_END)

    def rewind(self, position: Position) -> None:
        """See `Sink.rewind`. A file that is shorter than it was has been changed from outside, and is left alone."""
        file, length = self._opened(), int(position or 0)
        if file.seek(0, os.SEEK_END) < length:
            raise StoreError(f"{self._path} has lost answers that were written to it: remove it and drop the query.")
        file.truncate(length)
        file.seek(length)

    def deliver(self, batch: Batch) -> Position:
        """See `Sink.deliver`. After a failure of the disk the file is opened anew, and rewound before the next one."""
        file = self._opened()
        try:
            for chunk in _chunks(self._write(batch.answers, file.tell() == 0), self._most):
                file.write(chunk)
            file.flush()
            os.fsync(file.fileno())
        except OSError:
            with suppress(OSError):
                self.close()
            self._file = None
            raise
        return file.tell()

    def close(self) -> None:
        """See `Sink.close`."""
        if self._file is not None:
            self._file.close()
            self._file = None

    def _opened(self) -> IO[bytes]:
        if self._file is None:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            self._path.touch()
            self._file = self._path.open("r+b")
            self._file.seek(0, os.SEEK_END)
        return self._file


def ndjson_text(answers: Iterable[Answer], _fresh: bool = True) -> Iterator[str]:
    """A line an answer."""
    return (f"{answer.to_ndjson()}\n" for answer in answers)


def csv_text(answers: Iterable[Answer], fresh: bool = True) -> Iterator[str]:
    """A row a solution, below one heading; the instant or the interval comes first. An empty answer leaves no trace."""
    for answer in answers:
        out = StringIO(newline="")
        writer = csv.writer(out, lineterminator="\r\n")
        when = answer.when or {"time": None}  # what still holds has no end
        if fresh:
            writer.writerow([*when, *answer.variables])
            fresh = False
        times = ["" if time is None else time_text(time) for time in when.values()]
        writer.writerows([*times, *(cell_value(row.get(name)) for name in answer.variables)] for row in answer.rows)
        yield out.getvalue()


def nquads_text(answers: Iterable[Answer], _fresh: bool = True) -> Iterator[str]:
    """A line a triple with the instant as its fourth part, so that a derived stream can be read as a stream again.

    Of events it is the interval, unless that is a point of time; where something was true for a time, its beginning.
    """
    for answer in answers:
        time = answer.ends or answer.valid_from or answer.time
        stamp = "" if time is None else f" {time_literal(time, answer.starts)}"
        lines = answer.to_ntriples().split("\n")[:-1]
        yield "".join(f"{line.removesuffix(' .')}{stamp} .\n" for line in lines)


def _chunks(pieces: Iterator[str] | Iterator[bytes], most: int) -> Iterator[bytes]:
    """Few writes, and never all of a long batch in memory."""
    chunk: list[bytes] = []
    for piece in pieces:
        chunk.append(piece.encode() if isinstance(piece, str) else piece)
        if len(chunk) == most:
            yield b"".join(chunk)
            chunk = []
    yield b"".join(chunk)
