"""From text to tokens.

Lark's own lexers reserve keywords or build one scanner per parser state. In SPARQL every bare word is a keyword or the
name of a function, so one scanner and one table of words do: nothing is reserved, misspelt words arrive whole at
the error message, and a further grammar file brings its keywords along.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from lark.common import LexerConf
from lark.lexer import Lexer, LexerState, PatternStr, TerminalDef, Token

from penstock.syntax.functions import BUILTINS

__all__ = ["SPACE", "UNKNOWN", "LexicalError", "SparqlLexer"]

UNKNOWN = "WORD"
SPACE = r"[ \t\r\n]+(?:#[^\r\n]*[ \t\r\n]*)*|#[^\r\n]*"
_WORD = r"[A-Za-z_][A-Za-z0-9_]*"


class LexicalError(Exception):
    """Nothing in the language starts like the text at this place."""

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
        """What the parser calls; its state is not needed."""
        return self.tokens(lexer_state.text.text)

    def tokens(self, text: str) -> Iterator[Token]:
        """The tokens of the text, with offsets; lines and columns are found when somebody asks for them."""
        scan, position, end = self._scan, 0, len(text)
        while position < end:
            match = scan(text, position)
            if match is None:
                raise LexicalError(position)
            kind, start, position = match.lastgroup or "", position, match.end()
            if kind != "_SPACE":
                value = match.group()
                yield Token(self._word(value) if kind == UNKNOWN else kind, value, start, end_pos=position)

    def _word(self, value: str) -> str:
        return self._exact.get(value) or self._folded.get(value.upper(), UNKNOWN)


def _is_word(terminal: TerminalDef) -> bool:
    return isinstance(terminal.pattern, PatternStr) and terminal.pattern.value.isidentifier()


def _order(terminal: TerminalDef) -> tuple[int, int, str]:
    """By priority, then longer before shorter, so that `<=` is not read as `<`."""
    return (-terminal.priority, -len(terminal.pattern.value), terminal.name)
