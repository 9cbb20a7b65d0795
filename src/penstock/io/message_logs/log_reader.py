"""Reads logs of RDF Messages: a delimiter ends a message, and blank nodes belong to the message that they are in.

A message is found by the tokens of its syntax, and pyoxigraph parses it, with the prefixes of the messages before.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from pyoxigraph import Quad, QuadParser, parse

from penstock.io.message_logs.syntax import SYNTAXES, VERSIONS, Syntax

__all__ = ["LogMessage", "read_log"]

_DOT = re.compile(r"\s*\.")


@dataclass(frozen=True, slots=True)
class LogMessage:
    """A message of a log: its statements, which may be none, the line at which it begins, and its text."""

    quads: Sequence[Quad]
    line: int
    text: str


@dataclass(frozen=True, slots=True)
class _Piece:
    text: str
    line: int
    is_ended: bool  # by a delimiter, so that it is a message even if it is empty


def read_log(text: str, format: str, base: str | None = None) -> Iterator[LogMessage]:
    """The messages of a log in one of the formats of `SYNTAXES`, empty ones too.

    The messages before a mistake are given; then comes a `SyntaxError` with the line.
    """
    syntax, prefixes = SYNTAXES[format], dict[str, str]()
    for piece in _pieces(text, syntax):
        parser = _parser(piece, syntax, prefixes, base)
        try:
            quads = list(parser)
        except SyntaxError as error:
            error.lineno = (error.lineno or 1) + piece.line - 1
            raise
        if syntax.has_prefixes:
            prefixes, base = {**prefixes, **parser.prefixes}, parser.base_iri or base
        if quads or piece.is_ended:
            yield LogMessage(quads, piece.line, piece.text.strip())


def _parser(piece: _Piece, syntax: Syntax, prefixes: Mapping[str, str], base: str | None) -> QuadParser:
    """The parser of a message. What holds from before stands in front of its first line, so that lines are counted
    alike."""
    before = "".join(f"PREFIX {name}: <{iri}> " for name, iri in prefixes.items())
    return parse(f"{before}{piece.text}".encode(), syntax.parser, base_iri=base if syntax.has_prefixes else None)


def _pieces(text: str, syntax: Syntax) -> Iterator[_Piece]:
    """The texts between delimiters, in which the version is left out."""
    depth, begin, first, kept = 0, 0, 1, ""
    line, counted = 1, 0  # the line of a place in the text
    may_end = True  # a stream that is declared as a log needs no version
    for token in syntax.tokens.finditer(text):
        if token.lastgroup in ("version", "message"):
            line, counted = line + text.count("\n", counted, token.start()), token.start()
        match token.lastgroup:
            case "version":
                may_end = _has_messages(token["label"] or token["other"] or "", line)
                kept, begin = kept + text[begin : token.start()], _end_of_version(token, text)
            case "open":
                depth += 1
            case "close":
                depth -= 1
            case "message":
                _check(depth, may_end, line)
                yield _Piece(kept + text[begin : token.start()], first, True)
                kept, begin, first = "", token.end(), line + token[0].count("\n")
    yield _Piece(kept + text[begin:], first, False)


def _has_messages(label: str, line: int) -> bool:
    """Whether a text of that version may have delimiters; an error if the version is not known."""
    if label not in VERSIONS:
        raise _mistake(f"the version {label!r} is not known: Penstock reads {', '.join(VERSIONS)}", line)
    return VERSIONS[label]


def _end_of_version(token: re.Match[str], text: str) -> int:
    """Where the announcement ends: with @ it has a dot."""
    dot = _DOT.match(text, token.end()) if token["version"].startswith("@") else None
    return dot.end() if dot else token.end()


def _check(depth: int, may_end: bool, line: int) -> None:
    if depth:
        raise _mistake("a message cannot end inside of a graph, a list or a blank node: close it first", line)
    if not may_end:
        raise _mistake('the version has no messages: announce VERSION "1.1-messages"', line)


def _mistake(reason: str, line: int) -> SyntaxError:
    return SyntaxError(reason, (None, line, None, None))
