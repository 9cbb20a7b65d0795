"""The spool: pushes and sockets are durable as soon as they are in one of its files, and Spark reads them from there.

    FOLDER/<number>.nq      blocks, each a line `# <bytes> <stamp or -> <stream>` and so many bytes of whole lines,
                            or `# <bytes> <kind of document> <stream>` and a document

A push waits until its file is synced; pushes that arrive meanwhile go into the next file together. A thousand
concurrent pushes therefore cost as much as a few. Numbers have no gaps, and go on after a restart.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from queue import Empty, SimpleQueue
from threading import Condition, Lock, Thread

from penstock.errors import PenstockError
from penstock.stream.base import durable_files
from penstock.stream.base.clock import Clock
from penstock.tuning import DEFAULT

__all__ = ["Block", "InFlight", "Spool", "files", "numbers", "read", "spool_file"]


@dataclass(frozen=True, slots=True)
class Block:
    """Whole lines of one stream, and the time of lines that have none (None: they should have one); or a document of
    the kind that is named (`penstock.io.graphs`)."""

    stream: str
    data: bytes
    stamp: int | None = None
    kind: str | None = None


@dataclass(frozen=True, slots=True)
class _Waiting:
    block: Block
    number: Future[int]


class Spool:
    """Appends to the spool's folder. One at a time may write to a folder; `close` ends it."""

    def __init__(self, folder: Path, file_bytes: int = DEFAULT.spool_file_bytes) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.folder, self._file_bytes = folder, file_bytes
        self.next_number = max(numbers(folder), default=-1) + 1
        self._waiting: SimpleQueue[_Waiting | None] = SimpleQueue()
        self._closing = Lock()
        self._closed = False
        self._writer = Thread(target=self._write, name="penstock-spool", daemon=True)
        self._writer.start()

    def append(self, stream: str, data: bytes, stamp: int | None = None, kind: str | None = None) -> int:
        """Append lines, and return when they are durable, with the number of the last file that they are in.

        No lines and a stamp: a call of `advance`. A document is in one file.
        """
        number = self.next_number - 1
        for piece in _pieces(data, self._file_bytes) if data and kind is None else [data]:
            number = self._put(Block(stream, piece, stamp, kind)).result()
        return number

    def close(self) -> None:
        """Write the waiting blocks, then end."""
        with self._closing:
            if not self._closed:
                self._closed = True
                self._waiting.put(None)
        self._writer.join()

    def _put(self, block: Block) -> Future[int]:
        waiting = _Waiting(block, Future())
        with self._closing:
            if self._closed:
                raise PenstockError("The engine has been stopped: it takes no more elements.")
            self._waiting.put(waiting)
        return waiting.number

    def _write(self) -> None:
        while (first := self._waiting.get()) is not None:
            together = [first, *self._others(first)]
            try:
                number = self._write_file([waiting.block for waiting in together])
            except OSError as error:
                self._fail(together, error)
            else:
                for waiting in together:
                    waiting.number.set_result(number)

    def _others(self, first: _Waiting) -> Iterator[_Waiting]:
        """The other waiting blocks, as long as the file does not grow too large."""
        size = len(first.block.data)
        while size < self._file_bytes:
            try:
                waiting = self._waiting.get_nowait()
            except Empty:
                return
            if waiting is None:
                self._waiting.put(None)  # closing, once this file is written
                return
            size += len(waiting.block.data)
            yield waiting

    def _write_file(self, blocks: Iterable[Block]) -> int:
        number = self.next_number
        durable_files.replace(spool_file(self.folder, number), b"".join(map(_framed, blocks)))
        self.next_number += 1
        return number

    def _fail(self, together: Iterable[_Waiting], error: OSError) -> None:
        reason = f"Elements could not be written to {self.folder}: {error.strerror or error}"
        for waiting in together:
            waiting.number.set_exception(PenstockError(reason))


class InFlight:
    """Pushes that are accepted and not in the log yet, each with the time since when.

    Event time that moves by the clock must not overtake elements that came before: the watermark goes no further than
    the oldest of these.
    """

    def __init__(self, clock: Clock, read: int, written: int) -> None:
        """Files below `read` are in the log, and files below `written` exist."""
        self._clock = clock
        self._changed = Condition()
        self._keys = count()
        self._offered: dict[int, int] = {}  # when, by a key of their own
        self._written: dict[int, int] = {written - 1: clock.now()} if written > read else {}  # when, by file
        self._read = read

    @contextmanager
    def accepting(self) -> Iterator[Callable[[int], None]]:
        """Count a push as in flight. The function is to be called with the number of its file."""
        with self._changed:
            key, accepted = next(self._keys), self._clock.now()
            self._offered[key] = accepted
        try:
            yield lambda number: self._note(number, accepted)
        finally:
            with self._changed:
                del self._offered[key]

    def _note(self, number: int, accepted: int) -> None:
        with self._changed:
            if number >= self._read:
                self._written[number] = min(accepted, self._written.get(number, accepted))

    def read(self, end: int) -> None:
        """Files below this one are in the log now."""
        with self._changed:
            self._read = max(self._read, end)
            self._written = {number: time for number, time in self._written.items() if number >= self._read}
            self._changed.notify_all()

    def now(self) -> int:
        """The clock's time up to which all accepted pushes are in the log."""
        with self._changed:
            return min([self._clock.now(), *self._offered.values(), *self._written.values()])

    def wait(self, given_up: Callable[[], bool]) -> None:
        """Wait until all durable pushes are in the log, or `given_up` is true (`wake` has it asked again)."""
        with self._changed:
            last = max(self._written, default=-1)
            self._changed.wait_for(lambda: self._read > last or given_up())

    def wake(self) -> None:
        with self._changed:
            self._changed.notify_all()


def spool_file(folder: Path, number: int) -> Path:
    return folder / f"{number}.nq"


def numbers(folder: Path) -> list[int]:
    """The numbers of the files that are there, ascending."""
    names = (name.removesuffix(".nq") for name in os.listdir(folder) if name.endswith(".nq"))
    return sorted(int(name) for name in names if name.isdecimal())


def files(folder: Path, start: int, end: int) -> list[Path]:
    """The files with a number from `start` up to `end`, in order."""
    return [spool_file(folder, number) for number in numbers(folder) if start <= number < end]


def read(path: Path) -> Iterator[Block]:
    """The blocks of a file."""
    content = path.read_bytes()
    start = 0
    while start < len(content):
        end = content.index(b"\n", start)
        size, note, stream = content[start + 2 : end].decode().split(" ", 2)
        start = end + 1 + int(size)
        kind = note if note.isalpha() else None
        yield Block(stream, content[end + 1 : start], None if kind or note == "-" else int(note), kind)


def _framed(block: Block) -> bytes:
    note = block.kind or ("-" if block.stamp is None else block.stamp)
    return f"# {len(block.data)} {note} {block.stream}\n".encode() + block.data


def _pieces(data: bytes, most: int) -> Iterator[bytes]:
    """The lines in pieces that fit into a file, the last with its newline."""
    start = 0
    while start < len(data):
        end = len(data)
        if end - start > most:
            end = data.rfind(b"\n", start, start + most) + 1 or data.find(b"\n", start) + 1 or end
        piece = data[start:end]
        yield piece if piece.endswith(b"\n") else piece + b"\n"
        start = end
