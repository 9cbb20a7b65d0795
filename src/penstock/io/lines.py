"""Binary readers that know which line a parser has reached, for parsers that do not tell."""

from __future__ import annotations

from typing import IO
from xml.parsers.expat import ParserCreate

__all__ = ["TOO_LONG", "LineReader", "XmlLineReader"]

TOO_LONG = "a term in it is longer than the 16 MiB that the parser reads at once"
"""The reason that a `MemoryError` of pyoxigraph stands for."""


class LineReader:
    """Hands out one line at a time, so that a parser that stops has seen nothing after `line`."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self._at_start = True
        self.line = 0

    def read(self, size: int = -1) -> bytes:
        chunk = self._file.readline(size)
        self.line += self._at_start and bool(chunk)
        self._at_start = chunk.endswith(b"\n")
        return chunk


class XmlLineReader(LineReader):
    """Also checks that the document is well-formed: pyoxigraph takes a cut-off one for a short one."""

    def __init__(self, file: IO[bytes]) -> None:
        super().__init__(file)
        self._check = ParserCreate()

    def read(self, size: int = -1) -> bytes:
        chunk = super().read(size)
        self._check.Parse(chunk, not chunk)
        return chunk
