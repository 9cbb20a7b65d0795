"""Terms and triples of a logic test, in Turtle's shorthand; pyoxigraph reads them."""

from __future__ import annotations

import re
from collections.abc import Mapping

from pyoxigraph import Literal, NamedNode, Quad, RdfFormat, Triple, parse

from penstock.answer import Term
from penstock.logic.model import Cells

__all__ = ["header", "read_cells", "read_elements", "read_iri", "read_triples"]

UNBOUND = "-"
_STREAM_NAME = "urn:penstock:stream:"  # as the language has it for a stream that is called by a bare word
_PLACE = re.compile(r"^Parser error (?:at|between) .*?: ")
_STRING = r'"(?:[^"\\]|\\.)*"|' r"'(?:[^'\\]|\\.)*'"
_NAMED_GRAPH = re.compile(r"(?:graph\s+)?(?:<[^>]*>|[^\s{}<>\"'#]+)\s*\{(?!\|)", re.IGNORECASE)
_TERM = re.compile(rf"(?:<[^>]*>|(?:{_STRING})(?:@[\w-]+|\^\^(?:<[^>]*>|\S+))?|[^\s<\"']+)")


def header(prefixes: Mapping[str, str]) -> str:
    """The prefixes for a document of Turtle."""
    return "".join(f"@prefix {name}: <{iri}> . " for name, iri in prefixes.items())


def read_elements(text: str, prefixes: Mapping[str, str]) -> list[Triple] | list[Quad]:
    """Turtle, or a named graph as TriG writes it: its name and its triples in braces."""
    if not _NAMED_GRAPH.match(text.lstrip()):
        return read_triples(text, prefixes)
    return _parsed(header(prefixes) + text.strip(), RdfFormat.TRIG)


def read_triples(text: str, prefixes: Mapping[str, str]) -> list[Triple]:
    """Turtle; the last dot may be absent. Errors have no position, since the text that is parsed is not the user's."""
    body = text.strip().removesuffix(".")
    return [quad.triple for quad in _parsed(f"{header(prefixes)}{body}\n.", RdfFormat.TURTLE)]


def _parsed(text: str, format: RdfFormat) -> list[Quad]:
    try:
        return list(parse(text, format=format))
    except SyntaxError as error:
        raise ValueError(_PLACE.sub("", error.msg)) from None


def read_cells(line: str, prefixes: Mapping[str, str]) -> Cells:
    """A row: terms with spaces between them, `-` where there is none; as a triple it may end with a dot."""
    tokens = _TERM.findall(line)
    if tokens and tokens[-1] == ".":
        tokens.pop()
    return tuple(None if token == UNBOUND else read_term(token, prefixes) for token in tokens)


def read_term(token: str, prefixes: Mapping[str, str]) -> Term:
    """One term; `a` is rdf:type as in Turtle."""
    place = f"<x:s> {token} <x:o>" if token == "a" else f"<x:s> <x:p> {token}"
    triple = read_triples(place, prefixes)[0]
    term = triple.predicate if token == "a" else triple.object
    if isinstance(term, Triple):
        raise ValueError(f"{token}: a triple is no term here")
    return term


def read_iri(token: str, prefixes: Mapping[str, str]) -> str:
    """The IRI of a graph or stream; a bare word is the name of a stream."""
    if re.fullmatch(r"[\w-]+", token):
        return _STREAM_NAME + token
    term = read_term(token, prefixes)
    if not isinstance(term, NamedNode) or isinstance(term, Literal):
        raise ValueError(f"{token} is no IRI")
    return term.value
