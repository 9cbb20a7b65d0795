"""Reads messages that are documents: each is one of RDF, and is taken whole or not at all.

By "data" the time of a graph is that of a time property inside of it or said of its name, else that of the first time
property of the message.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Iterator, Sequence
from typing import TypeAlias

from pyoxigraph import DefaultGraph, Quad, RdfFormat, parse

from penstock.io.columns import slim
from penstock.io.graphs_times import Graphs, Properties, Rows, When, when_of
from penstock.io.nquads_slow import moment_of
from penstock.stream.ingest.late_filter import Reading
from penstock.stream.ingest.messages.arrival import Arrival, no_element
from penstock.stream.ingest.messages.message import Message

__all__ = ["FORMATS", "QuadReader", "add_elements", "quads_of", "read_documents", "reason_of", "timed"]

QuadReader: TypeAlias = Callable[[bytes], Sequence[Quad]]
FORMATS = {
    "nquads": RdfFormat.N_QUADS,
    "ntriples": RdfFormat.N_TRIPLES,
    "turtle": RdfFormat.TURTLE,
    "trig": RdfFormat.TRIG,
    "jsonld": RdfFormat.JSON_LD,
}
_PLACE = re.compile(r"^Parser error at line (\d+) (?:column \d+|between [^:]*): | \(line \d+\)$")
_CLEARER = {
    "No scheme found in an absolute IRI": "{}; a relative IRI needs a base in the message",
    "No LoadDocumentCallback": "the @context is elsewhere, and Penstock does not fetch it",
}


def quads_of(format: str) -> QuadReader:
    """The reader of a format, which raises an error for a payload of another."""
    kind = FORMATS[format]
    return lambda payload: list(parse(payload, kind))


def read_documents(messages: Sequence[Message], arrival: Arrival, read: QuadReader) -> Reading:
    """The elements of messages that are documents."""
    messages, stamps, bad = arrival.stamps(messages)
    rows = Rows()
    for place, (message, stamp) in enumerate(zip(messages, stamps, strict=True)):
        length = len(rows)
        try:
            add_elements(rows, read(message.payload), arrival, arrival.labels(place), stamp)
        except (SyntaxError, ValueError, MemoryError) as error:
            rows.cut(length)
            bad.append(no_element(message, arrival.stream, reason_of(error), getattr(error, "lineno", None) or 1))
    return Reading(slim(rows.take().elements), bad)


def add_elements(rows: Rows, quads: Sequence[Quad], arrival: Arrival, labels: str, stamp: int) -> None:
    """Add the elements of a message; a `ValueError` says why it has none."""
    graphs = Graphs(labels, rows, arrival.properties)
    if arrival.time is None:
        for quad in quads:
            graphs.add(quad, 1)
        graphs.end()
    else:
        pairs = (
            timed(quads, arrival.properties) if arrival.time == "data" else ((quad, (stamp, None)) for quad in quads)
        )
        for quad, when in pairs:
            graphs.element(quad, when, 1)
    if rows.bad:
        raise ValueError(rows.bad[0].reason)


def timed(quads: Sequence[Quad], properties: Properties) -> Iterator[tuple[Quad, When]]:
    """The statements of a message with their times; a `ValueError` says why it has none.

    A time that the default graph says of the name of a graph is no element.
    """
    roles, default = properties.roles(), DefaultGraph()
    named = {quad.graph_name for quad in quads} - {default}
    said: dict[Hashable, dict[str, int]] = {}
    anywhere: dict[str, int] = {}
    for quad in quads:
        if (role := roles.get(quad.predicate)) is not None:
            time = moment_of(quad.object)
            about = quad.subject if quad.subject in named else quad.graph_name
            for times in (anywhere, said.setdefault(about, {})):
                times.setdefault(role, time)
    if quads and not anywhere:
        raise ValueError(f"the message has no time: no triple has {' or '.join(map(str, roles))}")
    for quad in quads:
        if quad.predicate not in roles or quad.graph_name != default or quad.subject not in named:
            yield quad, _when(said.get(quad.graph_name, anywhere))


def _when(times: dict[str, int]) -> When:
    when = when_of(times)
    if isinstance(when, str):
        raise ValueError(when)
    return when


def reason_of(error: Exception) -> str:
    """The reason without the place, in the words of a user."""
    reason = _PLACE.sub("", error.msg if isinstance(error, SyntaxError) else str(error))
    for mark, clearer in _CLEARER.items():
        if mark in reason:
            reason = clearer.format(reason)
    return reason
