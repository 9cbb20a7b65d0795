"""The places of keys and values in a text of TOML: offsets by path, which `tomllib` does not tell.

The text has been read by `tomllib` before, so it is known to be right: the scanner only has to find where things are.
A path is that of the value in the read document: names of keys, and numbers in arrays and arrays of tables.
"""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from typing import TypeAlias

__all__ = ["Entry", "Extent", "KeyPath", "find_places"]

KeyPath: TypeAlias = tuple[str | int, ...]

_SPACE = re.compile(r"(?:[ \t\n]|#[^\n]*)*")
_STRING = r""""{3}(?:\\.|[^\\])*?"{3}"{0,2}|'{3}.*?'{3}'{0,2}|"(?:\\.|[^"\\\n])*"|'[^'\n]*\'"""
_VALUE = re.compile(rf"{_STRING}|\d{{4}}-\d\d-\d\d \d\d:[^\s,\]}}#]*|[^\s,\]}}#]+", re.DOTALL)
_NAME = re.compile(rf"{_STRING}|[A-Za-z0-9_-]+", re.DOTALL)
_DOT = re.compile(r"[ \t]*\.[ \t]*")


@dataclass(frozen=True, slots=True)
class Extent:
    """A piece of a text, by its offsets."""

    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Entry:
    """Where the last name of a key and its value are; a table with a header has that name in the place of a value."""

    key: Extent
    value: Extent


def find_places(text: str) -> dict[KeyPath, Entry]:
    """The entries of all keys, headers and items of arrays of a valid text, whose lines end in `\\n`, by path."""
    scanner = _Scanner(text)
    scanner.scan()
    return scanner.found


class _Scanner:
    """Goes through the text once. `at` is the offset of the next character."""

    def __init__(self, text: str) -> None:
        self.found: dict[KeyPath, Entry] = {}
        self._text, self._at = text, 0
        self._lengths: dict[KeyPath, int] = {}  # of arrays of tables so far

    def scan(self) -> None:
        table: KeyPath = ()
        while self._skip():
            if self._text.startswith("[[", self._at):
                table = self._header(2)
            elif self._text[self._at] == "[":
                table = self._header(1)
            else:
                self._pair(table)

    def _skip(self) -> bool:
        """Go on to the next thing that is neither space nor comment; whether there is one."""
        match = _SPACE.match(self._text, self._at)
        assert match is not None
        self._at = match.end()
        return self._at < len(self._text)

    def _header(self, brackets: int) -> KeyPath:
        self._at += brackets
        self._skip()
        names, extent = self._key()
        self._skip()
        self._at += brackets
        path = (*self._inside(names[:-1]), names[-1])
        if brackets == 2:
            number = self._lengths.get(path, 0)
            self._lengths[path] = number + 1
            self.found.setdefault(path, Entry(extent, extent))
            path = (*path, number)
        self.found[path] = Entry(extent, extent)
        return path

    def _inside(self, names: list[str]) -> KeyPath:
        """The path of a table by the names of its header: of an array of tables it is the last one."""
        path: KeyPath = ()
        for name in names:
            path = (*path, name)
            if path in self._lengths:
                path = (*path, self._lengths[path] - 1)
        return path

    def _pair(self, table: KeyPath) -> None:
        names, extent = self._key()
        self._skip()
        self._at += 1  # the equals sign
        self._value((*table, *names), extent)

    def _key(self) -> tuple[list[str], Extent]:
        """The names of a dotted key, and where the last one is."""
        names: list[str] = []
        while True:
            match = _NAME.match(self._text, self._at)
            assert match is not None
            names.append(_name(match[0]))
            extent, self._at = Extent(*match.span()), match.end()
            if (dot := _DOT.match(self._text, self._at)) is None:
                return names, extent
            self._at = dot.end()

    def _value(self, path: KeyPath, key: Extent | None = None) -> None:
        self._skip()
        start = self._at
        if self._text[start] in "[{":
            self._items(path, "]" if self._text[start] == "[" else "}")
        else:
            match = _VALUE.match(self._text, start)
            assert match is not None
            self._at = match.end()
        value = Extent(start, self._at)
        self.found[path] = Entry(key or value, value)

    def _items(self, path: KeyPath, end: str) -> None:
        """The items of an array, or the pairs of an inline table."""
        self._at += 1
        number = 0
        while self._skip() and self._text[self._at] != end:
            if self._text[self._at] == ",":
                self._at += 1
            elif end == "]":
                self._value((*path, number))
                number += 1
            else:
                self._pair(path)
        self._at += 1


def _name(written: str) -> str:
    return next(iter(tomllib.loads(f"{written} = 0"))) if written[0] in "\"'" else written
