"""The formats of answers in messages: one table for all sinks that send messages.

Graphs with a time are named graphs, of whose names it is said: see `penstock.io.results.timed_graph`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, TypeAlias

from penstock.answer import Answer
from penstock.errors import QueryError
from penstock.io.message_logs.log_writer import log_text
from penstock.io.message_logs.syntax import VERSION
from penstock.io.results import to_jsonld, to_trig, to_turtle
from penstock.io.results.jelly import check_jelly, to_jelly
from penstock.io.sinks.arrow_stream import arrow_stream
from penstock.io.sinks.files import nquads_text

__all__ = ["ENCODINGS", "AnswerFormat", "Encoding", "check_kind", "encoder"]

AnswerFormat: TypeAlias = Literal[
    "ndjson", "json", "csv", "tsv", "xml", "arrow",
    "ntriples", "nquads", "turtle", "trig", "jsonld", "jelly", "nquads-messages", "trig-messages",
]  # fmt: skip
"""The format of the answer at an instant: NDJSON has its time, and fits answers of all kinds."""


@dataclass(frozen=True, slots=True)
class Encoding:
    """How an answer is written, the media type of that, and the kinds of answers that it can hold."""

    encode: Callable[[Answer], str | bytes]
    media_type: str
    kinds: tuple[str, ...]


_ALL, _ROWS, _RESULTS, _GRAPH = ("solutions", "boolean", "graph"), ("solutions",), ("solutions", "boolean"), ("graph",)
ENCODINGS: dict[str, Encoding] = {
    "ndjson": Encoding(Answer.to_ndjson, "application/x-ndjson", _ALL),
    "json": Encoding(Answer.to_json, "application/sparql-results+json", _RESULTS),
    "csv": Encoding(Answer.to_csv, "text/csv; charset=utf-8", _ROWS),
    "tsv": Encoding(Answer.to_tsv, "text/tab-separated-values; charset=utf-8", _ROWS),
    "xml": Encoding(Answer.to_xml, "application/sparql-results+xml", _RESULTS),
    "arrow": Encoding(lambda answer: b"".join(arrow_stream([answer])), "application/vnd.apache.arrow.stream", _ROWS),
    "ntriples": Encoding(Answer.to_ntriples, "application/n-triples", _GRAPH),
    "nquads": Encoding(lambda answer: "".join(nquads_text([answer])), "application/n-quads", _GRAPH),
    "turtle": Encoding(to_turtle, "text/turtle; charset=utf-8", _GRAPH),
    "trig": Encoding(to_trig, "application/trig", _GRAPH),
    "jsonld": Encoding(to_jsonld, "application/ld+json", _GRAPH),
    "jelly": Encoding(to_jelly, "application/x-jelly-rdf", _GRAPH),
    "nquads-messages": Encoding(
        lambda answer: "".join(log_text("nquads-messages", [answer])), f"application/n-quads; version={VERSION}", _GRAPH
    ),
    "trig-messages": Encoding(
        lambda answer: "".join(log_text("trig-messages", [answer])), f"application/trig; version={VERSION}", _GRAPH
    ),
}


def encoder(format: AnswerFormat) -> Callable[[Answer], bytes]:
    """A function that writes an answer in a format."""
    encode = ENCODINGS[format].encode

    def encoded(answer: Answer) -> bytes:
        written = encode(answer)
        return written.encode() if isinstance(written, str) else written

    return encoded


def check_kind(sink: object, kind: str) -> None:
    """Raise a `QueryError` if a sink, or the format of its messages, cannot hold answers of that kind."""
    if kind not in getattr(sink, "kinds", (kind,)):
        raise QueryError(f"{sink}: this sink takes graphs only: write the query as a CONSTRUCT")
    format = getattr(getattr(sink, "options", None), "format", None)
    if format == "jelly":
        check_jelly()
    encoding = ENCODINGS.get(format or "")
    if encoding is not None and kind not in encoding.kinds:
        fitting = ", ".join(name for name, one in ENCODINGS.items() if kind in one.kinds)
        raise QueryError(f"{sink}: the format {format} cannot hold these answers", hint=f"format is one of {fitting}")
