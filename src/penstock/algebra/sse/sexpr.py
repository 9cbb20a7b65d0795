"""S-expressions: text ↔ nested lists of tokens, and tokens ↔ RDF terms. `reader` and `writer` give them a meaning."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TypeAlias

from pyoxigraph import BlankNode, Literal, NamedNode

from penstock.algebra.expressions import PatternTerm, Term, Var

__all__ = ["Sexpr", "SexprError", "layout", "parse", "term", "token"]

Sexpr: TypeAlias = str | list["Sexpr"]

PREFIX = "http://example.org/"
XSD = "http://www.w3.org/2001/XMLSchema#"
WIDTH = 100

_TOKEN = re.compile(
    r"""(?P<skip>\s+|;[^\n]*)
      | (?P<paren>[()])
      | (?P<token>"(?:[^"\\]|\\.)*"(?:@[\w-]+|\^\^<[^>]*>)? | <[^<>\s]*> | [^\s()"]+)""",
    re.VERBOSE,
)
_LITERAL = re.compile(r'"((?:[^"\\]|\\.)*)"(?:@([\w-]+)|\^\^<([^>]*)>)?', re.DOTALL)
_ESCAPE = re.compile(r"\\(?:u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8})|(.))")
_ESCAPED = {"t": "\t", "b": "\b", "n": "\n", "r": "\r", "f": "\f", '"': '"', "'": "'", "\\": "\\"}

# The shorthands that a literal may be written in, and the datatype each stands for.
_SHORT = {
    "integer": re.compile(r"[+-]?[0-9]+"),
    "decimal": re.compile(r"[+-]?[0-9]*\.[0-9]+"),
    "double": re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)[eE][+-]?[0-9]+"),
    "boolean": re.compile(r"true|false"),
}


class SexprError(ValueError):
    """An s-expression that cannot be read."""


def parse(text: str) -> Sexpr:
    """The one s-expression in the text."""
    tokens = _tokens(text)
    expression = _expression(next(tokens, ")"), tokens)
    if (rest := next(tokens, None)) is not None:
        raise SexprError(f"nothing should follow the expression, but {rest!r} does")
    return expression


def _tokens(text: str) -> Iterator[str]:
    position = 0
    while position < len(text):
        match = _TOKEN.match(text, position)
        if match is None:
            raise SexprError(f"cannot read {text[position : position + 20]!r}")
        position = match.end()
        if match.lastgroup != "skip":
            yield match.group()


def _expression(first: str, tokens: Iterator[str]) -> Sexpr:
    if first == ")":
        raise SexprError("an expression is missing")
    if first != "(":
        return first
    items: list[Sexpr] = []
    for token in tokens:
        if token == ")":
            return items
        items.append(_expression(token, tokens))
    raise SexprError("a closing parenthesis is missing")


def layout(expression: Sexpr, operators: frozenset[str] = frozenset(), indent: int = 0) -> str:
    """The text, on one line where it fits; otherwise each operand (a list that starts with an operator) on its own."""
    flat = _flat(expression)
    if isinstance(expression, str) or indent + len(flat) <= WIDTH:
        return flat
    count = next((i for i, item in enumerate(expression) if _starts(item, operators)), len(expression))
    if indent + len(_flat(expression[:count])) > WIDTH:
        count = 1
    below = (" " * (indent + 2) + layout(item, operators, indent + 2) for item in expression[count:])
    return "\n".join([_flat(expression[:count])[:-1], *below]) + ")"


def _starts(expression: Sexpr, operators: frozenset[str]) -> bool:
    return isinstance(expression, list) and bool(expression) and str(expression[0]) in operators


def _flat(expression: Sexpr) -> str:
    return expression if isinstance(expression, str) else f"({' '.join(map(_flat, expression))})"


def token(value: PatternTerm) -> str:
    """A term or variable as it is written."""
    match value:
        case Var(name):
            return f"?{name}"
        case NamedNode():
            local = value.value.removeprefix(PREFIX)
            return f":{local}" if local != value.value and re.fullmatch(r"\w*", local) else str(value)
        case Literal():
            kind = value.datatype.value.removeprefix(XSD)
            short = kind in _SHORT and _SHORT[kind].fullmatch(value.value)
            return value.value if short else str(value)
    return str(value)


def term(written: Sexpr) -> PatternTerm:
    """The term or variable that a token stands for."""
    if isinstance(written, list):
        raise SexprError(f"a term or variable is wanted, not {_flat(written)}")
    match written[0]:
        case "?":
            return Var(written[1:])
        case "<":
            return NamedNode(written[1:-1])
        case ":":
            return NamedNode(PREFIX + written[1:])
        case '"':
            return _literal(written)
    return BlankNode(written[2:]) if written.startswith("_:") else _shorthand(written)


def _literal(written: str) -> Term:
    match = _LITERAL.fullmatch(written)
    if match is None:
        raise SexprError(f"{written} is no literal")
    value = _ESCAPE.sub(_unescaped, match[1])
    if match[2]:
        return Literal(value, language=match[2])
    return Literal(value, datatype=NamedNode(match[3])) if match[3] else Literal(value)


def _unescaped(escape: re.Match[str]) -> str:
    code = escape[1] or escape[2]
    return chr(int(code, 16)) if code else _ESCAPED[escape[3]]


def _shorthand(written: str) -> Term:
    for kind, pattern in _SHORT.items():
        if pattern.fullmatch(written):
            return Literal(written, datatype=NamedNode(XSD + kind))
    raise SexprError(f"{written!r} is neither a term nor a variable")
