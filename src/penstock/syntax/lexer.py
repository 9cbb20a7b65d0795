"""Query text → tokens.

Lark's own lexers reserve keywords or build one scanner per parser state. In SPARQL every bare word is a keyword or the
name of a function, so one scanner and one table of words do: nothing is reserved, misspelt words arrive whole at
the error message, and a further grammar file brings its keywords along. Only three things depend on what stands around
them: names of queries and streams, times (units, ISO durations, NOW), and hyphens in variables.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from lark.common import LexerConf
from lark.lexer import Lexer, LexerState, PatternStr, TerminalDef, Token

from penstock.syntax.functions import BUILTINS
from penstock.syntax.units import UNITS

__all__ = ["SPACE", "UNKNOWN", "LexicalError", "SparqlLexer"]

UNKNOWN = "WORD"
SPACE = r"[ \t\r\n]+(?:#[^\r\n]*[ \t\r\n]*)*|#[^\r\n]*"
_WORD = r"[A-Za-z_][A-Za-z0-9_]*"

# After these a bare name may stand, whatever word it is.
_NAMING = frozenset(("QUERY", "STREAM", "RSTREAM", "ISTREAM", "DSTREAM", "RULE"))
_TIMING = frozenset(("RANGE", "STEP", "SLIDE", "EVERY"))
_ISO = re.compile(r"P(?=[\dT])[\w.]*", re.IGNORECASE)
_BEFORE_NOW = frozenset(("LSQB", "FROM", "TO"))
_NAME = re.compile(r"\w[\w-]*+(?![\w.-]*:)")
_HYPHENATED = re.compile(r"-([^\W\d_]\w*)")
_OPERAND = re.compile(r"-(?:(?:true|false)\b|(?:not\s+)?exists\s*\{|\w+\(|[\w-]*:)", re.IGNORECASE)
_CALLED = re.compile(rf"(?:{SPACE})\(")


class LexicalError(Exception):
    """No token starts at this place of the text."""

    def __init__(self, position: int) -> None:
        super().__init__(position)
        self.position = position


class SparqlLexer(Lexer):
    """The terminals of a grammar as one regular expression and one table of words."""

    __future_interface__ = 2

    def __init__(self, conf: LexerConf) -> None:
        terminals = [t for t in conf.terminals if isinstance(t, TerminalDef)]
        words = [t for t in terminals if _is_word(t)]
        self._exact = {t.pattern.value: t.name for t in words if "i" not in t.pattern.flags}
        self._folded = {t.pattern.value.upper(): t.name for t in words if "i" in t.pattern.flags}
        self._folded.update(dict.fromkeys(BUILTINS, "BUILTIN"))
        signs = sorted((t for t in terminals if t not in words), key=_order)
        alternatives = [f"(?P<_SPACE>{SPACE})", *(f"(?P<{t.name}>{t.pattern.to_regexp()})" for t in signs)]
        self._scan = re.compile("|".join([*alternatives, f"(?P<{UNKNOWN}>{_WORD})"])).match

    def lex(self, lexer_state: LexerState, parser_state: Any) -> Iterator[Token]:
        """The tokens, as Lark asks for them; its parser state is not needed."""
        return self.tokens(lexer_state.text.text)

    def tokens(self, text: str) -> Iterator[Token]:
        """The tokens of the text, with offsets; lines and columns are computed on demand."""
        position, before, last, depth = 0, "", "", 0
        while position < len(text):
            kind, end = self._special(text, position, before, last) or self._next(text, position)
            if kind == "VAR" and text.startswith("-", end):
                end = self._with_hyphens(text, end, in_brackets=depth > 0)
            value = text[position:end]
            if kind == UNKNOWN:
                kind = self._word_after(last, value)
            if kind != "_SPACE":
                yield Token(kind, value, position, end_pos=end)
                depth += (value == "(") - (value == ")")
                before, last = last, kind
            position = end

    def _special(self, text: str, position: int, before: str, last: str) -> tuple[str, int] | None:
        """A token that depends on the tokens before it: a name, an ISO duration, the minus of `NOW-2h`."""
        if last in _NAMING and (name := _NAME.match(text, position)):
            return "NAME", name.end()
        timing = last in _TIMING or (before, last) == ("NOW", "DASH")
        if timing and (duration := _ISO.match(text, position)):
            return "ISO", duration.end()
        return ("DASH", position + 1) if last == "NOW" and text.startswith("-", position) else None

    def _word_after(self, last: str, value: str) -> str:
        if last == "INTEGER" and value.lower() in UNITS:
            return "UNIT"
        return "NOW" if last in _BEFORE_NOW and value.upper() == "NOW" else self._word(value)

    def _next(self, text: str, position: int) -> tuple[str, int]:
        match = self._scan(text, position)
        if match is None:
            raise LexicalError(position)
        return match.lastgroup or "", match.end()

    def _with_hyphens(self, text: str, end: int, in_brackets: bool) -> int:
        """The end of a variable, given its end in SPARQL: a word after a hyphen belongs to it, as in ?total-sensor.

        What SPARQL reads as a difference stays one: `?x-?y`, `?x-1`, `?x-STRLEN(?y)`, `?x-xsd:double(?y)`. Differences
        stand only in brackets, so outside there is no doubt.
        """
        while word := _HYPHENATED.match(text, end):
            called = self._word(word[1]) != UNKNOWN and _CALLED.match(text, word.end())
            if in_brackets and (called or _OPERAND.match(text, end)):
                break
            end = word.end()
        return end

    def _word(self, value: str) -> str:
        return self._exact.get(value) or self._folded.get(value.upper(), UNKNOWN)


def _is_word(terminal: TerminalDef) -> bool:
    return isinstance(terminal.pattern, PatternStr) and terminal.pattern.value.isidentifier()


def _order(terminal: TerminalDef) -> tuple[int, int, str]:
    """The sort key of a terminal: by priority, then longer before shorter, so that `<=` is not read as `<`."""
    return (-terminal.priority, -len(terminal.pattern.value), terminal.name)
