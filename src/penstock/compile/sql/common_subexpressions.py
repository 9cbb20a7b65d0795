"""Naming sub-expressions, so that what is used twice is written and computed once.

`let(text)` stands for the text by a short token. Where an expression is put into a SELECT, `lower` turns the tokens in
it into columns of the SELECT's source, layer upon layer. Without this, `?a * ?b + ?c` would copy the reading of
`?a` dozens of times, and Spark's planning time with it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field

from penstock.compile import sql

OPEN, CLOSE = sql.RESERVED
_TOKEN = re.compile(f"{OPEN}([0-9]+){CLOSE}")
_COLUMN = re.compile(r"`\.x([0-9]+)`")
_SHORT = 50
_SIMPLE = re.compile(r"([lr]\.)?`[^`]*`|'[^'\\]*'|[a-z0-9.]+|CAST\([^()]*\([0-9,]+\)\)|CAST\([^() ]+ AS [A-Z]+\)")


@dataclass(slots=True)
class _Names:
    """The texts that one query has named."""

    numbers: dict[str, int] = field(default_factory=dict)
    texts: list[str] = field(default_factory=list)

    def number(self, text: str) -> int:
        if text not in self.numbers:
            self.numbers[text] = len(self.texts)
            self.texts.append(text)
        return self.numbers[text]


_current: ContextVar[_Names] = ContextVar("names")


@contextmanager
def naming() -> Iterator[None]:
    """Where expressions are compiled: names are shared within and forgotten after."""
    reset = _current.set(_Names())
    try:
        yield
    finally:
        _current.reset(reset)


def let(text: str) -> str:
    """A token for the expression; columns and constants stand for themselves."""
    if _SIMPLE.fullmatch(text) or _TOKEN.fullmatch(text):
        return text
    return f"{OPEN}{_current.get().number(text)}{CLOSE}"


def lower(source: str, expressions: Iterable[str]) -> tuple[str, list[str]]:
    """The source with a column for what the expressions name more than once, and the expressions reading those.

    What is named once, or is short, is written where it stands: every layer of columns costs Spark's analysis a pass.
    """
    expressions = list(expressions)
    written = _Written(_uses(expressions))
    result = [written.text(e) for e in expressions]
    for level in sorted(set(written.levels.values())):
        columns = [sql.alias(written.columns[n], _column(n)) for n, at in written.levels.items() if at == level]
        source = f"SELECT *, {', '.join(columns)} FROM ({source})"
    return source, result


@dataclass(slots=True)
class _Written:
    """Expressions with tokens replaced: by a column where a longer text is used twice, else by the text."""

    uses: dict[int, int]
    columns: dict[int, str] = field(default_factory=dict)
    levels: dict[int, int] = field(default_factory=dict)

    def text(self, expression: str) -> str:
        return _TOKEN.sub(lambda match: self._token(int(match[1])), expression)

    def _token(self, n: int) -> str:
        if n not in self.columns:
            text = self.columns[n] = self.text(_current.get().texts[n])
            if self.uses[n] > 1 and len(text) > _SHORT:
                self.levels[n] = 1 + max((self.levels[int(m)] for m in _COLUMN.findall(text)), default=-1)
        return sql.name(_column(n)) if n in self.levels else self.columns[n]


def _uses(expressions: list[str]) -> dict[int, int]:
    """How often each name is used, by the expressions or by other names."""
    texts = _current.get().texts if _tokens("".join(expressions)) else []
    uses: dict[int, int] = {}
    pending = [n for e in expressions for n in _tokens(e)]
    while pending:
        n = pending.pop()
        uses[n] = uses.get(n, 0) + 1
        if uses[n] == 1:
            pending += _tokens(texts[n])
    return uses


def inline(text: str) -> str:
    """The expression written out, for where no column can be put below it."""
    while _TOKEN.search(text):
        text = _TOKEN.sub(lambda match: _current.get().texts[int(match[1])], text)
    return text


def tokens_in(text: str) -> tuple[str, ...]:
    """The tokens that an expression uses directly."""
    return tuple(f"{OPEN}{n}{CLOSE}" for n in dict.fromkeys(_tokens(text)))


def _tokens(text: str) -> list[int]:
    return [int(n) for n in _TOKEN.findall(text)]


def _column(n: int) -> str:
    return f".x{n}"
