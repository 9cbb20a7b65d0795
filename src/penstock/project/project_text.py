"""The text of a project file with its values, and errors that show the place of a key or a value in it."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from penstock.errors import ProjectError, QueryError, TextPlace
from penstock.project.toml_places import Entry, Extent, KeyPath, find_places

__all__ = ["ProjectText"]

_AT_LINE = re.compile(r" \(at (?:line (\d+), column (\d+)|end of document)\)$")


@dataclass(frozen=True)
class ProjectText:
    """A project file: the path as it was given, the text, and what `tomllib` reads in it."""

    name: str
    text: str
    values: Mapping[str, Any]

    @classmethod
    def read(cls, path: Path) -> ProjectText:
        """The file; a `ProjectError` if it cannot be read, or is not TOML."""
        try:
            text = path.read_text("utf-8-sig").replace("\r\n", "\n")
        except (OSError, UnicodeDecodeError) as error:
            reason = (error.strerror if isinstance(error, OSError) else None) or "it is not text in UTF-8"
            raise ProjectError(f"the file cannot be read: {reason}", file=str(path)) from None
        return cls.parse(str(path), text)

    @classmethod
    def parse(cls, name: str, text: str) -> ProjectText:
        """The text; a `ProjectError` shows where it is not TOML."""
        try:
            return cls(name, text, tomllib.loads(text))
        except tomllib.TOMLDecodeError as error:
            match = _AT_LINE.search(str(error))
            reason = f"this is not TOML: {_AT_LINE.sub('', str(error))}"
            raise ProjectError(reason, file=name, place=_place(text, match)) from None

    @property
    def folder(self) -> Path:
        """The folder that paths in the file are relative to."""
        return Path(self.name).absolute().parent

    @cached_property
    def _entries(self) -> dict[KeyPath, Entry]:
        return find_places(self.text)

    def key_error(self, path: KeyPath, reason: str, hint: str | None = None) -> ProjectError:
        """The error at a key, or at the nearest table around it that is written in the file."""
        return self._error(path, reason, hint, is_key=True)

    def value_error(self, path: KeyPath, reason: str, hint: str | None = None) -> ProjectError:
        """The error at the value of a key, or at the nearest table around it."""
        return self._error(path, reason, hint, is_key=False)

    def query_error(self, path: KeyPath, query: str, error: QueryError) -> ProjectError:
        """The error of a query that stands in the file: at its place if it is written without escapes."""
        extent = self._entries[path].value
        start = self.text.find(query, extent.start, extent.end)
        if error.place is None or start < 0:
            return self.value_error(path, error.reason, error.hint)
        lines = query.splitlines(keepends=True)
        at = start + sum(map(len, lines[: error.place.line - 1])) + error.place.column - 1
        place = self._text_place(Extent(at, at + error.place.length))
        return ProjectError(error.reason, file=self.name, place=place, hint=error.hint)

    def line(self, path: KeyPath) -> int:
        """The line of a key or a table."""
        extent = self._extent(path, is_key=True)
        return 1 if extent is None else self.text.count("\n", 0, extent.start) + 1

    def _error(self, path: KeyPath, reason: str, hint: str | None, *, is_key: bool) -> ProjectError:
        extent = self._extent(path, is_key=is_key)
        place = None if extent is None else self._text_place(extent)
        return ProjectError(reason, file=self.name, place=place, hint=hint)

    def _extent(self, path: KeyPath, *, is_key: bool) -> Extent | None:
        """The key or value itself, else the first key inside of a table without a header, else the table around it."""
        if entry := self._entries.get(path):
            return entry.key if is_key else entry.value
        inside = [entry.key for known, entry in self._entries.items() if known[: len(path)] == path]
        around = (self._entries[path[:n]].key for n in range(len(path) - 1, 0, -1) if path[:n] in self._entries)
        return min(inside, key=lambda extent: extent.start) if inside else next(around, None)

    def _text_place(self, extent: Extent) -> TextPlace:
        """The extent up to the end of its first line."""
        line = self.text.count("\n", 0, extent.start) + 1
        column = extent.start - self.text.rfind("\n", 0, extent.start)
        first = self.text[extent.start : extent.end].partition("\n")[0]
        return TextPlace(line, column, self.text, max(1, len(first)))


def _place(text: str, match: re.Match[str] | None) -> TextPlace | None:
    if match is None or match[1] is None:
        lines = text.splitlines() or [""]
        return TextPlace(len(lines), len(lines[-1]) + 1, text)
    return TextPlace(int(match[1]), int(match[2]), text)
