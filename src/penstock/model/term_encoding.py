"""The encoding of a term as a column value; no other module knows it.

A term is one string: N-Triples without its escapes.

    <http://example.org/a>      _:b0      "text"      "text"@en      "5"^^<http://www.w3.org/2001/XMLSchema#integer>

Neither a language tag nor an IRI can hold a quotation mark, so the last one in the string always ends the lexical form,
whatever that holds: nothing is escaped and nothing has to be unescaped. Equal strings are `sameTerm`. The *tail* is the
text after the last quotation mark (the whole string for IRIs and blank nodes): it determines the kind of term.
"""

from __future__ import annotations

from typing import cast

from pyoxigraph import BlankNode, DefaultGraph, Literal, NamedNode, Quad, Triple

from penstock.algebra.expressions import Term, terms_of, triple_of

__all__ = [
    "INTEGER_TYPES",
    "LANG_STRING",
    "STRING",
    "XSD",
    "decode",
    "decode_quad",
    "decode_triple",
    "encode",
    "encode_triple",
    "tail_of",
]

XSD = "http://www.w3.org/2001/XMLSchema#"
LANG_STRING = "http://www.w3.org/1999/02/22-rdf-syntax-ns#langString"
STRING = XSD + "string"
INTEGER_TYPES = (
    "integer", "int", "long", "short", "byte", "nonNegativeInteger", "positiveInteger", "nonPositiveInteger",
    "negativeInteger", "unsignedLong", "unsignedInt", "unsignedShort", "unsignedByte",
)  # fmt: skip


def encode(term: Term) -> str:
    """Return the column value of a term."""
    if isinstance(term, Literal):
        return f'"{term.value}"{_tail(term)}'
    return f"<{term.value}>" if isinstance(term, NamedNode) else f"_:{term.value}"


def _tail(literal: Literal) -> str:
    if literal.language:
        return f"@{literal.language}"
    return "" if literal.datatype.value == STRING else f"^^<{literal.datatype.value}>"


def decode(value: str) -> Term:
    """Return the term of a column value."""
    if value[0] == "<":
        return NamedNode(value[1:-1])
    if value[0] == "_":
        return BlankNode(value[2:])
    lexical, _, tail = value[1:].rpartition('"')
    if not tail:
        return Literal(lexical)
    if tail[0] == "@":
        return Literal(lexical, language=tail[1:])
    return Literal(lexical, datatype=NamedNode(tail[3:-1]))


def encode_triple(triple: Triple | Quad) -> tuple[str, str, str]:
    """Return the column values of a triple, or of a quad without its graph."""
    subject, predicate, object = terms_of(triple)
    return encode(subject), encode(predicate), encode(object)


def decode_triple(subject: str, predicate: str, object: str) -> Triple:
    """Return the triple of three column values."""
    return triple_of(decode(subject), decode(predicate), decode(object))


def decode_quad(subject: str, predicate: str, object: str, graph: str | None) -> Quad:
    """Return the quad of its column values; without a graph, or with an empty one, it is in the default graph."""
    name = cast(NamedNode | BlankNode, decode(graph)) if graph else DefaultGraph()
    return Quad(*terms_of(decode_triple(subject, predicate, object)), name)


def tail_of(datatype: str) -> str:
    """Return the tail of literals with this datatype (a local name of XML Schema)."""
    return f"^^<{XSD}{datatype}>"
