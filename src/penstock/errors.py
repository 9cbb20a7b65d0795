"""Everything Penstock raises on purpose.

PenstockError
├── QueryError          the query's text is wrong; knows line, column and what to do
│   └── RefusedError    valid SPARQL that Penstock will not run (SERVICE, LOAD, fetching FROM IRIs)
├── MappingError        a mapping that lifts messages is wrong; knows file, line, column and what to do
├── ProjectError        a project file (`penstock run city.toml`) is wrong; knows file, line, column and what to do
├── OptionError         an option has a value that it cannot have; a ValueError as well
├── LoadError           background data could not be read; names file, line and reason
├── OverloadError       a push was refused, since more comes than can be evaluated; nothing of it was kept
├── StoreError          a background store failed to answer, or a checkpoint is damaged, cannot be opened (it is in use,
│                       say), or cannot be written (no space is left, say)
└── SetupError          the machine lacks something (Java, a free port); says how to get it

PenstockWarning         a query or checkpoint that works, but perhaps not as it was meant
"""

from __future__ import annotations

from dataclasses import dataclass

__all__ = [
    "LoadError", "MappingError", "OptionError", "OverloadError", "PenstockError", "PenstockWarning", "ProjectError",
    "QueryError", "RefusedError", "SetupError", "StoreError", "TextPlace",
]  # fmt: skip


@dataclass(frozen=True, slots=True)
class TextPlace:
    """A place in the text of a query, mapping or project, of so many characters; lines and columns count from 1."""

    line: int
    column: int
    text: str | None = None
    length: int = 1

    def marked(self, sentence: str) -> str:
        """Return the sentence, and below it the line with a caret at this place, if there is a text."""
        lines = [] if self.text is None else self.text.splitlines()
        if not 1 <= self.line <= len(lines):
            return sentence
        source = lines[self.line - 1].replace("\t", " ")
        caret = "^" * max(1, min(self.length, len(source) - self.column + 1))
        return f"{sentence}\n  {source}\n  {' ' * (self.column - 1)}{caret}"


class PenstockError(Exception):
    """Base of all errors that Penstock raises on purpose."""


class QueryError(PenstockError):
    """A query that cannot be run, with the place in its text and, where there is one, a suggestion.

    `str(error)` is the whole message: reason, the line with a caret below the place, and the hint.
    """

    def __init__(self, reason: str, *, place: TextPlace | None = None, hint: str | None = None) -> None:
        self.reason, self.place = reason, place
        self.line = None if place is None else place.line
        self.column = None if place is None else place.column
        self.hint = hint
        first = reason if place is None else place.marked(f"line {place.line}, column {place.column}: {reason}")
        super().__init__(_with_hint(first, hint))


class RefusedError(QueryError):
    """Valid SPARQL that Penstock does not run, by decision."""


class _FileError(PenstockError):
    """A file that cannot be used, with the place in it and, where there is one, a suggestion."""

    def __init__(self, reason: str, *, file: str, place: TextPlace | None = None, hint: str | None = None) -> None:
        self.reason, self.file, self.hint = reason, file, hint
        self.line = None if place is None else place.line
        self.column = None if place is None else place.column
        where = "" if place is None else f", line {place.line}, column {place.column}"
        sentence = f"{file}{where}: {reason}"
        super().__init__(_with_hint(sentence if place is None else place.marked(sentence), hint))


class MappingError(_FileError):
    """A mapping that cannot be used, with the place in its file and, where there is one, a suggestion."""


class ProjectError(_FileError):
    """A project file that cannot be used, with the place in it and, where there is one, a suggestion."""


class OptionError(PenstockError, ValueError):
    """An option, of Python or of the command line, with a value that it cannot have; the message says which it can."""


class OverloadError(PenstockError):
    """A push that was refused since its stream is full, as its declaration asks; it can be repeated later."""


class LoadError(PenstockError):
    """Background data that could not be read; the store is as it was before."""


class StoreError(PenstockError):
    """A background store that failed to answer, or a checkpoint that cannot be opened or written, or is damaged."""


class SetupError(PenstockError):
    """Something is missing on this machine; the message says how to get it."""


class PenstockWarning(UserWarning):
    """A query or checkpoint that works, but perhaps not as it was meant; a caret may show the place in a query's text.

    `str(warning)` is the sentence, the line with a caret below the place, and the hint.
    """

    def __init__(self, sentence: str, *, place: TextPlace | None = None, hint: str | None = None) -> None:
        self.line = None if place is None else place.line
        self.column = None if place is None else place.column
        self.hint = hint
        super().__init__(_with_hint(sentence if place is None else place.marked(sentence), hint))


def _with_hint(sentence: str, hint: str | None) -> str:
    return f"{sentence}\nhint: {hint}" if hint else sentence
