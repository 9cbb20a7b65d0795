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

from penstock.spark import sql

OPEN, CLOSE = sql.RESERVED
_TOKEN = re.compile(f"{OPEN}([0-9]+){CLOSE}")
_SIMPLE = re.compile(r"([lr]\.)?`[^`]*`|'[^'\\]*'|[a-z0-9.]+|CAST\([^()]*\([0-9,]+\)\)|CAST\([^() ]+ AS [A-Z]+\)")


@dataclass(slots=True)
class _Names:
    """The texts that one query has named."""

    numbers: dict[str, int] = field(default_factory=dict)
    texts: list[str] = field(default_factory=list)
    levels: list[int] = field(default_factory=list)

    def number(self, text: str) -> int:
        if text not in self.numbers:
            self.numbers[text] = len(self.texts)
            self.texts.append(text)
            self.levels.append(1 + max((self.levels[n] for n in _tokens(text)), default=-1))
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
    """The source with a column for everything named in the expressions, and the expressions reading those."""
    expressions = list(expressions)
    needed = _needed(expressions)
    if not needed:
        return source, expressions
    names = _current.get()
    for level in range(1 + max(names.levels[n] for n in needed)):
        columns = [sql.alias(_read(names.texts[n]), _column(n)) for n in needed if names.levels[n] == level]
        source = f"SELECT *, {', '.join(columns)} FROM ({source})" if columns else source
    return source, [_read(e) for e in expressions]


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


def _needed(expressions: Iterable[str]) -> list[int]:
    """Everything that the expressions name, directly or through other names, in the order of naming."""
    found: set[int] = set()
    pending = [n for e in expressions for n in _tokens(e)]
    while pending:
        n = pending.pop()
        if n not in found:
            found.add(n)
            pending += _tokens(_current.get().texts[n])
    return sorted(found)


def _column(n: int) -> str:
    return f".x{n}"


def _read(text: str) -> str:
    return _TOKEN.sub(lambda match: sql.name(_column(int(match[1]))), text)
