"""Parser errors → messages in words, with a suggestion."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from itertools import pairwise, takewhile

from lark import Lark, Token
from lark.exceptions import UnexpectedToken
from lark.lexer import PatternStr

from penstock.errors import QueryError, RefusedError
from penstock.syntax.functions import BUILTINS, SPELLED
from penstock.syntax.lexer import UNKNOWN, LexicalError, SparqlLexer
from penstock.syntax.source import Source
from penstock.syntax.suggest import did_you_mean
from penstock.syntax.tree import Span
from penstock.syntax.units import UNITS

__all__ = ["diagnose_character", "diagnose_token"]

_UPDATES = ("INSERT", "DELETE", "LOAD", "CLEAR", "DROP", "CREATE", "ADD", "MOVE", "COPY", "WITH")
_AGGREGATES = ("COUNT", "SUM", "MIN", "MAX", "AVG", "SAMPLE", "GROUP_CONCAT")
_EARLIER = "{…} OPTIONALSEQ {…} has an optional event before; for one after, write {…} UNION { {…} SEQ {…} }"
_CLOSERS = {"}": "{", ")": "(", "]": "["}
_BAD_ESCAPE = re.compile(r"""\\[^tbnrf\\"']""")
_NOT_IN_IRI = re.compile(r'[<"{}|^`\\\x00-\x20]|$')

_KINDS = {
    "$END": "the end of the query",
    "A": "a",
    "BLANK_NODE_LABEL": "a blank node",
    "BUILTIN": "a function",
    "IRIREF": "an IRI",
    "LANGTAG": "a language tag",
    "NAME": "a name",
    "PNAME_LN": "an IRI",
    "PNAME_NS": "a prefix",
    "UNIT": "a unit of time (ms, s, m, h or d)",
    "VAR": "a variable",
} | {f"{kind}{suffix}": "a number" for kind in ("INTEGER", "DECIMAL", "DOUBLE") for suffix in ("", "_SIGNED")}
_KINDS |= {f"STRING_LITERAL{suffix}": "a string" for suffix in ("1", "2", "_LONG1", "_LONG2")}
_LITERALS = {"a number", "a string", "false", "true"}
_OF_WINDOWS = ("RANGE", "SLIDE", "STEP", "TRIPLES", "ELEMS", "ELEMENTS", "INTEGER", "ALL")
_RARER = {"ISO", "ELEMENTS"}  # other ways to write what is expected as well


def diagnose_token(source: Source, error: UnexpectedToken, parser: Lark) -> QueryError:
    """The error for an unexpected token, by the most specific reason that applies."""
    token, accepted = error.token, frozenset(error.accepts or error.expected)
    return (
        _update(source, token, accepted)
        or _taken_back(source, parser)
        or _bracket(source, token, parser)
        or _end(source, token, accepted, parser)
        or _iri(source, token, accepted)
        or _function(source, token, accepted)
        or _unexpected(source, token, accepted, parser)
    )


def diagnose_character(source: Source, position: int) -> QueryError:
    """The error for text that starts no token."""
    character = source.decoded[position]
    if character in "\"'":
        return _string(source, position)
    hint = "did you mean &&?" if character == "&" else None
    return source.error(f"the character {character} cannot stand here", position, hint=hint)


def _update(source: Source, token: Token, accepted: frozenset[str]) -> QueryError | None:
    if token.upper() not in _UPDATES or "CONSTRUCT" not in accepted:  # not where a query could start
        return None
    reason = f"{token.upper()} is SPARQL Update, which Penstock does not support: it answers queries"
    return _span(source, token).error(RefusedError, reason, source.text)


def _taken_back(source: Source, parser: Lark) -> QueryError | None:
    """SEQOPTIONAL, also in a pattern without braces, as query 7 of EP-SPARQL's paper has it."""
    tokens = list(_readable(SparqlLexer(parser.lexer_conf).tokens(source.decoded)))
    for last, token in pairwise(tokens):
        is_word = token.type == UNKNOWN and token.upper() == "SEQOPTIONAL"
        if is_word or (last.type, token.type) == ("SEQ", "OPTIONAL"):
            reason = "SEQOPTIONAL is not supported: a later event would retract an answer"
            return _span(source, token).error(RefusedError, reason, source.text, _EARLIER)
    return None


def _readable(tokens: Iterator[Token]) -> Iterator[Token]:
    """The tokens up to the first place where none can be read."""
    with suppress(LexicalError):
        yield from tokens


def _bracket(source: Source, token: Token, parser: Lark) -> QueryError | None:
    """The message for an unbalanced bracket."""
    if token.type != "$END" and token not in _CLOSERS:
        return None
    openers = _open_brackets(source, token, parser)
    if openers and _CLOSERS.get(token) != openers[-1]:
        return source.error(f"this {openers[-1]} is never closed", openers[-1].start_pos or 0)
    if not openers and token in _CLOSERS:
        return source.error(f"this {token} closes nothing", token.start_pos or 0)
    return None


def _open_brackets(source: Source, until: Token, parser: Lark) -> list[Token]:
    lexer = SparqlLexer(parser.lexer_conf)
    tokens = lexer.tokens(source.decoded)
    if until.type != "$END":
        tokens = takewhile(lambda token: token.start_pos != until.start_pos, tokens)
    openers: list[Token] = []
    for token in tokens:
        if token in _CLOSERS.values():
            openers.append(token)
        elif token in _CLOSERS:
            openers.pop()
    return openers


def _end(source: Source, token: Token, accepted: frozenset[str], parser: Lark) -> QueryError | None:
    if token.type != "$END":
        return None
    *_, last = [None, *SparqlLexer(parser.lexer_conf).tokens(source.decoded)]
    if last is None:
        return QueryError("the query is empty")
    reason = "the query ends too early"
    return source.error(reason, last.end_pos or 0, hint=_expected(accepted, parser))


def _iri(source: Source, token: Token, accepted: frozenset[str]) -> QueryError | None:
    if token.type not in ("LT", "LE") or "IRIREF" not in accepted:
        return None
    start = token.start_pos or 0
    match = _NOT_IN_IRI.search(source.decoded, start + 1)
    end = match.start() if match else len(source.decoded)
    if end == len(source.decoded) or source.decoded[end] in "\r\n":
        return source.error("this IRI is never closed", start, end, "an IRI ends with >")
    reason = f"an IRI cannot contain {_shown(source.decoded[end])}"
    return source.error(reason, end, hint="an IRI ends with >; other characters are written as %20 and the like")


def _function(source: Source, token: Token, accepted: frozenset[str]) -> QueryError | None:
    if token.type != UNKNOWN or "BUILTIN" not in accepted:
        return None
    if not source.decoded[token.end_pos :].lstrip().startswith("("):
        return None
    hint = did_you_mean(token, [*(SPELLED.get(name, name) for name in BUILTINS), *_AGGREGATES])
    return _span(source, token).error(QueryError, f"there is no function {token}", source.text, hint)


def _unexpected(source: Source, token: Token, accepted: frozenset[str], parser: Lark) -> QueryError:
    keywords = _keywords(parser)
    hint = None
    if token.type == UNKNOWN and "UNIT" in accepted:
        hint = did_you_mean(token, UNITS) or _expected({"UNIT"}, parser)
    elif token.type == UNKNOWN:
        possible = [*(word for word, name in keywords.items() if name in accepted), *(accepted & {"NOW"})]
        hint = did_you_mean(token, possible) or _expected(accepted, parser) or did_you_mean(token, keywords)
    elif accepted == {"LSQB"} or (token.type in _OF_WINDOWS and accepted >= {"LSQB", "WINDOW"}):
        hint = "a stream needs a window, as in [RANGE 10m STEP 1m]"
    elif "AS" in accepted and token == ")":
        hint = "an expression needs a name here: (… AS ?name)"
    elif accepted == {"AS"} and token.type in ("FROM", "WHERE", "LBRACE"):
        hint = "a window needs a name here, as in FROM NAMED <stream> [RANGE 10s] AS ?w"
    elif token.type in ("BUILTIN", *_AGGREGATES) and {"LPAR", "VAR"} <= accepted:
        hint = f"put it in brackets and name it: ({token}(…) AS ?name)"
    return _span(source, token).error(
        QueryError, _refusal(token, accepted), source.text, hint or _expected(accepted, parser)
    )


def _refusal(token: Token, accepted: frozenset[str]) -> str:
    if token.type != UNKNOWN:
        return f"{_shown(token)} cannot stand here"
    return f"{token} is no unit of time" if "UNIT" in accepted else "this word is not part of SPARQL"


def _string(source: Source, start: int) -> QueryError:
    quote = source.decoded[start]
    if source.decoded.endswith(quote * 2, 0, start):  # what looked like an empty string was the start of a long one
        start -= 2
    long = source.decoded.startswith(quote * 3, start)
    quotes = quote * 3 if long else quote
    closed = re.compile(rf"{quotes}(?:\\.|{'(?s:.)' if long else '.'})*?{quotes}").match(source.decoded, start)
    if closed and (escape := _BAD_ESCAPE.search(closed[0])):
        reason, place = f"{escape[0]} is not an escape of SPARQL", start + escape.start()
        return source.error(reason, place, place + 2, "a backslash itself is written \\\\")
    hint = None if long else f"a string over several lines stands between {quote * 3} and {quote * 3}"
    return source.error("this string is never closed", start, start + len(quotes), hint)


def _keywords(parser: Lark) -> dict[str, str]:
    """Word → name of its terminal."""
    patterns = {t.pattern.value: t.name for t in parser.terminals if isinstance(t.pattern, PatternStr)}
    return {value: name for value, name in patterns.items() if value.isidentifier()}


def _expected(accepted: Iterable[str], parser: Lark, limit: int = 8) -> str | None:
    """The expected tokens, if they are few enough to help."""
    signs = {t.name: t.pattern.value for t in parser.terminals if isinstance(t.pattern, PatternStr)}
    names = set(accepted) - _RARER
    if {"VAR", "SAMPLE"} <= names and "BUILTIN" not in names:  # SELECT takes an aggregate, but better with a name
        names -= set(_AGGREGATES)
    kinds = {_KINDS.get(name) or signs.get(name, name) for name in names}
    if "INTEGER" in names and "DECIMAL" not in names:
        kinds = kinds - {"a number"} | {"a whole number"}
    if kinds >= _LITERALS:
        kinds = kinds - _LITERALS | {"a literal"}
    phrases = sorted(kinds - {"a prefix"} if "an IRI" in kinds else kinds, key=str.lower)
    if not phrases or len(phrases) > limit:
        return None
    return f"expected {phrases[0]}" if len(phrases) == 1 else f"expected {', '.join(phrases[:-1])} or {phrases[-1]}"


def _shown(text: str) -> str:
    return {" ": "a space", "\t": "a tab"}.get(text, text)


def _span(source: Source, token: Token) -> Span:
    return source.span(token.start_pos or 0, token.end_pos or 0)
