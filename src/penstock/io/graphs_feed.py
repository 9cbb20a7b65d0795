"""Bytes for a parser, so that one knows which line it has reached, and what that says."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from io import BytesIO

from penstock.tuning import DEFAULT, Tuning

__all__ = ["Feed"]

_BLOCK = 1 << 16
_LONGEST = 10_000  # characters of a line that are shown


class Feed:
    """A file to read from, made of pieces of whole lines. `line` is the last one that the reader has seen some of."""

    def __init__(self, pieces: Iterable[bytes], first: int = 1, tuning: Tuning = DEFAULT) -> None:
        self._pieces, self._single_lines = iter(pieces), tuning.graph_lines
        self._open = BytesIO()
        self._last = b""
        self._next = first  # the number of the line in which the next byte stands
        self._begin = first  # and that of the line in which the last portion began
        self.line = first

    def read(self, size: int = -1) -> bytes:
        """A line, or some of it; many at once when a document turns out to be long."""
        while not (data := self._portion(size if 0 < size < _BLOCK else _BLOCK)):
            piece = next(self._pieces, None)
            if piece is None:
                return b""
            self._open = BytesIO(piece)
        self._last, self._begin = data, self._next
        self._next += data.count(b"\n")
        self.line = self._next - data.endswith(b"\n")
        return data

    def lines(self) -> Iterator[tuple[int, bytes]]:
        """All lines that are not blank, numbered."""
        number = self._next
        for piece in self._pieces:
            for line in piece.split(b"\n"):
                if line.strip():
                    yield number, line
                number += 1
            number -= piece.endswith(b"\n")

    def text(self, line: int) -> str:
        """The text of a line that was handed out just now."""
        said = self._last.split(b"\n")
        at = line - self._begin
        return said[at].decode(errors="replace").rstrip("\r")[:_LONGEST] if 0 <= at < len(said) else ""

    def rest(self, line: int) -> str:
        """The text from a line on that was handed out just now: all that a parser has not read."""
        said = self._last.split(b"\n", max(0, line - self._begin))[-1]
        return b"".join([said, self._open.read(), *self._pieces]).decode(errors="replace").rstrip("\r\n")

    def _portion(self, size: int) -> bytes:
        return self._open.readline(size) if self._next <= self._single_lines else self._open.read(size)
