r"""A query's text with its code-point escapes decoded, and the way back from an offset to line and column.

SPARQL decodes `\uXXXX` before anything else (https://www.w3.org/TR/sparql11-query/#codepointEscape), but errors have to
point at what the user wrote.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from itertools import accumulate

from penstock.errors import QueryError, TextPlace
from penstock.syntax.tree import Span

__all__ = ["Source"]

_ESCAPE = re.compile(r"\\(?:\\|u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8}))")
_SURROGATE = re.compile("[\ud800-\udfff]")


class Source:
    """The text as written (`text`) and as parsed (`decoded`)."""

    def __init__(self, text: str) -> None:
        self.text = text
        # the blank makes the place after a last line break a line too, and the place after the text part of its last
        self._line_starts = [0, *accumulate(map(len, (text + " ").splitlines(keepends=True)))][:-1]
        self._shifts: list[tuple[int, int]] = [(0, 0)]  # (offset from which on, characters lost by decoding)
        self._refuse_surrogates()
        self.decoded = self._decode() if "\\" in text else text

    def locate(self, offset: int) -> tuple[int, int]:
        """Line and column, both from 1, of an offset into `decoded`."""
        shift = self._shifts[bisect_right(self._shifts, (offset, len(self.text))) - 1][1]
        return self._position(offset + shift)

    def span(self, start: int, end: int) -> Span:
        return Span(*self.locate(start), *self.locate(end))

    def error(self, reason: str, start: int, end: int | None = None, hint: str | None = None) -> QueryError:
        """An error at offsets into `decoded`."""
        return self.error_at(reason, self.span(start, start + 1 if end is None else end), hint)

    def error_at(self, reason: str, span: Span, hint: str | None = None) -> QueryError:
        return span.error(QueryError, reason, self.text, hint)

    def _position(self, offset: int) -> tuple[int, int]:
        line = bisect_right(self._line_starts, offset)
        return line, offset - self._line_starts[line - 1] + 1

    def _decode(self) -> str:
        parts, done, lost = [], 0, 0
        for match in _ESCAPE.finditer(self.text):
            digits = match[1] or match[2]
            if digits is None:  # an escaped backslash: whatever follows is no escape
                continue
            parts += [self.text[done : match.start()], self._character(int(digits, 16), match)]
            done = match.end()
            lost += done - match.start() - 1
            self._shifts.append((done - lost, lost))
        return "".join([*parts, self.text[done:]])

    def _character(self, code: int, match: re.Match[str]) -> str:
        if code > 0x10FFFF or 0xD800 <= code <= 0xDFFF:
            span = Span(*self._position(match.start()), *self._position(match.end()))
            raise self.error_at(f"{match[0]} is not a Unicode character", span)
        return chr(code)

    def _refuse_surrogates(self) -> None:
        if not self.text.isascii() and (match := _SURROGATE.search(self.text)):
            place = TextPlace(*self._position(match.start()))
            raise QueryError("half of a surrogate pair is not a Unicode character", place=place)
