"""Reads messages of Jelly by pyjelly, which is the extra `jelly`. Each message is a whole stream of its own."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from io import BytesIO
from typing import Any

from pyoxigraph import BlankNode, DefaultGraph, Literal, NamedNode, Quad

from penstock.io.connect.clients import client

__all__ = ["quads_of_jelly"]


def quads_of_jelly(payload: bytes) -> Sequence[Quad]:
    """The statements of a message."""
    parser = client("pyjelly.integrations.generic.parse", "jelly", "the format jelly")
    try:
        found = [one for one in parser.parse_jelly_flat(BytesIO(payload)) if not isinstance(one, parser.Prefix)]
    except Exception as error:  # protobuf and pyjelly raise many kinds
        raise ValueError(f"not Jelly: {error or type(error).__name__}") from error
    return [Quad(*map(_term, statement)) for statement in found]


@lru_cache(1 << 12)
def _term(term: Any) -> Any:
    """A term of pyjelly as pyoxigraph has it."""
    match type(term).__name__:
        case "IRI":
            return NamedNode(term._iri)
        case "BlankNode":
            return BlankNode(_label(term._identifier))
        case "Literal" if term._langtag:
            return Literal(term._lex, language=term._langtag)
        case "Literal" if term._datatype:
            return Literal(term._lex, datatype=NamedNode(term._datatype))
        case "Literal":
            return Literal(term._lex)
        case "_DefaultGraph":
            return DefaultGraph()
    raise ValueError(f"Penstock reads RDF 1.1, which has no such term: {term}")


def _label(identifier: str) -> str:
    """The label as N-Triples allows it: other characters are written by their numbers."""
    return "".join(one if one.isascii() and one.isalnum() else f"-{ord(one):x}-" for one in identifier)
