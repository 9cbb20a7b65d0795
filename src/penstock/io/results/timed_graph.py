"""Graphs with their time, as statements: each answer is a named graph, of whose name the default graph says when.

    <urn:penstock:answer:cars:2009-07-20T22:50:00Z> prov:generatedAtTime "2009-07-20T22:50:00Z"^^xsd:dateTime .
    <urn:penstock:answer:cars:2009-07-20T22:50:00Z> { … }

So a stream is read from it again: `penstock.io.graphs`. What has lasted, an event say, has prov:startedAtTime too.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, cast
from urllib.parse import quote

from pyoxigraph import Literal, NamedNode, Quad, RdfFormat, serialize

from penstock.io.results.ndjson import time_text
from penstock.io.results.rdf import to_ntriples
from penstock.io.results.require import require_graph
from penstock.io.results.vocabulary import GENERATED_AT, STARTED_AT, XSD_DATETIME

if TYPE_CHECKING:
    from datetime import datetime

    from penstock.answer import Answer

__all__ = ["timed_quads", "to_jsonld", "to_nquads", "to_trig"]


def timed_quads(answer: Answer, what: str = "N-Quads") -> list[Quad]:
    """The statements of an answer: its time first, then its triples in their graph. Without a time, triples alone."""
    triples, times = require_graph(answer, what), list(_times(answer))
    if not times:
        return [Quad(*triple) for triple in triples]
    name = _name(answer)
    return [
        *(Quad(name, about, _literal(time)) for about, time in times),
        *(Quad(s, p, o, name) for s, p, o in triples),
    ]


def to_trig(answer: Answer) -> str:
    """The answer as TriG, with IRIs written out, so that texts can follow each other in one document."""
    triples, times = to_ntriples(answer, "TriG"), list(_times(answer))
    if not times:
        return triples
    name = _name(answer)
    said = "".join(f"{name} {about} {_literal(time)} .\n" for about, time in times)
    return f"{said}{name} {{\n{triples}}}\n" if triples else said


def to_nquads(answer: Answer) -> str:
    """The answer as N-Quads of the W3C: a line a statement, and the graph's name is the fourth part."""
    return cast(bytes, serialize(timed_quads(answer), format=RdfFormat.N_QUADS)).decode()


def to_jsonld(answer: Answer) -> str:
    """The answer as JSON-LD, expanded, on one line."""
    return cast(bytes, serialize(timed_quads(answer, "JSON-LD"), format=RdfFormat.JSON_LD)).decode()


def _times(answer: Answer) -> Iterator[tuple[NamedNode, datetime]]:
    """What is said of when. The time is the end of events, and the beginning where something was true for a time."""
    time = answer.ends or answer.valid_from or answer.time
    if time is not None:
        yield GENERATED_AT, time
        if answer.starts is not None and answer.starts != time:
            yield STARTED_AT, answer.starts


def _literal(time: datetime) -> Literal:
    return Literal(time_text(time), datatype=XSD_DATETIME)


def _name(answer: Answer) -> NamedNode:
    """The name of the graph, which answers of another query or time do not have."""
    when = "/".join(time_text(time) for time in answer.when.values() if time is not None)
    return NamedNode(f"urn:penstock:answer:{quote(answer.query or '', safe='')}:{when}")
