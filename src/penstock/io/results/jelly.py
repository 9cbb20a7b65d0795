"""Graphs as Jelly, which pyjelly writes (the extra `jelly`): a frame an answer.

Each frame defines all names that it refers to, by their numbers, so that frames can be appended to a file, or cut off
it, by somebody who has not read those before.
"""

from __future__ import annotations

from io import BytesIO
from typing import TYPE_CHECKING, Any

from pyoxigraph import BlankNode, Literal, NamedNode

from penstock.io.connect.clients import check_client, client
from penstock.io.results.timed_graph import timed_quads
from penstock.io.results.vocabulary import XSD_STRING

if TYPE_CHECKING:
    from penstock.answer import Answer

__all__ = ["check_jelly", "to_jelly"]

_WHAT = "the format jelly"


def check_jelly() -> None:
    """Raise an error that names the extra, if pyjelly is missing."""
    check_client("pyjelly", "jelly", _WHAT)


def to_jelly(answer: Answer, *, fresh: bool = True) -> bytes:
    """The answer as a frame behind its length. One that begins a file, or is a message, has the stream's options.

    An empty answer is an empty frame: its time would be an element for whoever reads the frame as a message."""
    quads, out = timed_quads(answer, "Jelly"), BytesIO()
    terms = client("pyjelly.integrations.generic.generic_sink", "jelly", _WHAT)
    stream = _stream()
    stream.enroll()
    for quad in quads if answer.triples else ():
        stream.quad(terms.Quad(*(_term(terms, term) for term in quad)))
    rows = [row for row in stream.flow if fresh or not row.HasField("options")]
    frame = client("pyjelly.jelly", "jelly", _WHAT).RdfStreamFrame(rows=rows)
    client("pyjelly.serialize.ioutils", "jelly", _WHAT).write_delimited(frame, out)
    return out.getvalue()


def _stream() -> Any:
    """A stream of datasets, a frame each. Its numbers begin as if another had been used before, so that none is left
    out as being the next."""
    streams = client("pyjelly.serialize.streams", "jelly", _WHAT)
    encoders = client("pyjelly.integrations.generic.serialize", "jelly", _WHAT)
    logical = client("pyjelly.jelly", "jelly", _WHAT).LOGICAL_STREAM_TYPE_DATASETS
    options = streams.SerializerOptions(logical_type=logical)
    encoder = encoders.GenericSinkTermEncoder(lookup_preset=options.lookup_preset)
    for lookup in (encoder.names, encoder.prefixes, encoder.datatypes):
        lookup.last_assigned_index = lookup.last_reused_index = -1
    return streams.QuadStream(encoder=encoder, options=options)


def _term(terms: Any, term: object) -> Any:
    """A term of pyoxigraph as pyjelly has it."""
    match term:
        case NamedNode():
            return terms.IRI(term.value)
        case BlankNode():
            return terms.BlankNode(term.value)
        case Literal():
            datatype = None if term.language or term.datatype == XSD_STRING else term.datatype.value
            return terms.Literal(term.value, term.language, datatype)
    return terms.DefaultGraph
