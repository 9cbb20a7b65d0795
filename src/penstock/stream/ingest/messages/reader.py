"""Reads messages as elements, by the format of their stream."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import groupby
from typing import TypeAlias

from penstock.io.columns import ELEMENTS
from penstock.io.graphs import parse_documents
from penstock.io.message_logs.contexts import with_contexts
from penstock.io.message_logs.syntax import SYNTAXES
from penstock.stream.ingest.dead_letters import Malformed
from penstock.stream.ingest.late_filter import Reading
from penstock.stream.ingest.messages.arrival import Arrival, by_line, no_element
from penstock.stream.ingest.messages.cloud_events import format_of, unwrap
from penstock.stream.ingest.messages.documents import FORMATS, quads_of, read_documents
from penstock.stream.ingest.messages.jelly import quads_of_jelly
from penstock.stream.ingest.messages.lift_messages import read_lifted
from penstock.stream.ingest.messages.lines import read_lines
from penstock.stream.ingest.messages.message import Message
from penstock.stream.ingest.messages.message_logs import read_logs

__all__ = ["read_messages"]

_Reader: TypeAlias = Callable[[Sequence[Message], Arrival], Iterator[Reading]]


def read_messages(messages: Sequence[Message], format: str, arrival: Arrival) -> Iterator[Reading]:
    """The elements of messages of one partition, which are in that format."""
    partition = messages[0].partition if messages else None
    for reading in _reader(format, arrival)(messages, arrival):
        yield replace(reading, partition=partition)


def _reader(format: str, arrival: Arrival) -> _Reader:
    if format == "cloudevents":
        return _events
    if arrival.lifting is not None:
        return _lifted_lines if format == "ndjson" else _lifted
    if format in SYNTAXES:
        return lambda messages, arrival: iter([read_logs(messages, arrival, format)])
    if format in ("nquads", "ntriples") and not (arrival.time == "data" and arrival.declared):
        return lambda messages, arrival: iter([read_lines(messages, arrival)])
    if format in ("trig", "jsonld", "ndjsonld") and arrival.time is None:
        return lambda messages, arrival: _graphs(messages, arrival, format)
    if format == "ndjsonld":
        return lambda messages, arrival: _documents(_json_lines(messages), arrival, "jsonld")
    return lambda messages, arrival: _documents(messages, arrival, format)


def _documents(messages: Sequence[Message], arrival: Arrival, format: str) -> Iterator[Reading]:
    read = quads_of(format) if format in FORMATS else quads_of_jelly
    yield read_documents(messages, arrival, read)


def _json_lines(messages: Sequence[Message]) -> list[Message]:
    """A message for each line, with the context that holds for it."""
    lines = [(message, line) for message in messages for line in with_contexts(enumerate(message.payload.split(b"\n")))]
    return [message._replace(payload=line) for message, (_, line) in lines if line.strip()]


def _graphs(messages: Sequence[Message], arrival: Arrival, format: str) -> Iterator[Reading]:
    """Documents of graphs that have a time each; what stands before a mistake counts."""
    for place, message in enumerate(messages):
        source = message.place or arrival.stream
        for parsed in parse_documents([message.payload], format, arrival.labels(place), arrival.properties):
            yield Reading(parsed.elements, [Malformed(source, bad.line, bad.text, bad.reason) for bad in parsed.bad])


def _lifted(messages: Sequence[Message], arrival: Arrival) -> Iterator[Reading]:
    assert arrival.lifting is not None
    yield read_lifted(messages, arrival, arrival.lifting)


def _lifted_lines(messages: Sequence[Message], arrival: Arrival) -> Iterator[Reading]:
    return _lifted(by_line(messages), arrival)


def _events(messages: Sequence[Message], arrival: Arrival) -> Iterator[Reading]:
    """The data of CloudEvents, of which those of one format that follow each other are read together."""
    arrival = replace(arrival, time=arrival.time or "broker")
    opened, bad = list[tuple[str, Message]](), list[Malformed]()
    for message in messages:
        try:
            media_type, inner = unwrap(message)
            opened.append((format_of(media_type, lifted=arrival.lifting is not None), inner))
        except ValueError as error:
            bad.append(no_element(message, arrival.stream, str(error)))
    yield Reading(ELEMENTS.empty_table(), bad)
    for number, (format, together) in enumerate(groupby(opened, key=lambda pair: pair[0])):
        some = [message for _, message in together]
        by_format = arrival if format in ("json", "ndjson", "csv", "xml") else replace(arrival, lifting=None)
        yield from _reader(format, by_format)(some, replace(by_format, batch=f"{arrival.batch}.{number}"))
