"""Everything Penstock raises on purpose.

PenstockError
├── QueryError          the query's text is wrong; knows line, column and what to do
│   └── RefusedError    valid SPARQL that Penstock will not run (SERVICE, LOAD, fetching FROM IRIs)
├── OptionError         an option has a value that it cannot have; a ValueError as well
├── LoadError           background data could not be read; names file, line and reason
├── StoreError          a background store failed to answer, or a checkpoint is damaged, cannot be opened (it is in use,
│                       say), or cannot be written (no space is left, say)
└── SetupError          the machine lacks something (Java, a free port); says how to get it

PenstockWarning         what runs, but perhaps not as it was meant
"""

from __future__ import annotations

__all__ = [
    "LoadError", "OptionError", "PenstockError", "PenstockWarning", "QueryError", "RefusedError", "SetupError",
    "StoreError",
]  # fmt: skip


class PenstockError(Exception):
    """Base of all errors that Penstock raises on purpose."""


class QueryError(PenstockError):
    """A query that cannot be run, with the place in its text and, where there is one, a suggestion.

    `str(error)` is the whole message: reason, the line with a caret below the place, and the hint.
    """

    def __init__(
        self,
        reason: str,
        *,
        text: str | None = None,
        line: int | None = None,
        column: int | None = None,
        length: int = 1,
        hint: str | None = None,
    ) -> None:
        self.reason = reason
        self.line = line
        self.column = column
        self.hint = hint
        first = reason if line is None else f"line {line}, column {column}: {reason}"
        super().__init__(_with_caret(first, text, line, column, length, hint))


class RefusedError(QueryError):
    """Valid SPARQL that Penstock does not run, by decision."""


class OptionError(PenstockError, ValueError):
    """An option, of Python or of the command line, with a value that it cannot have; the message says which it can."""


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

    def __init__(
        self,
        sentence: str,
        *,
        text: str | None = None,
        line: int | None = None,
        column: int | None = None,
        length: int = 1,
        hint: str | None = None,
    ) -> None:
        self.line = line
        self.column = column
        self.hint = hint
        super().__init__(_with_caret(sentence, text, line, column, length, hint))


def _with_caret(
    first: str, text: str | None, line: int | None, column: int | None, length: int, hint: str | None
) -> str:
    parts = [first]
    lines = text.splitlines() if text is not None else []
    if line is not None and column is not None and 1 <= line <= len(lines):
        source = lines[line - 1].replace("\t", " ")
        caret = "^" * max(1, min(length, len(source) - column + 1))
        parts += [f"  {source}", f"  {' ' * (column - 1)}{caret}"]
    if hint:
        parts.append(f"hint: {hint}")
    return "\n".join(parts)
