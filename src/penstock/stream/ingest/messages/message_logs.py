"""Reads messages that are logs of RDF Messages: each message of a log is taken whole or not at all."""

from __future__ import annotations

from collections.abc import Sequence

from penstock.io.columns import slim
from penstock.io.graphs_times import Rows
from penstock.io.message_logs.log_reader import LogMessage, read_log
from penstock.stream.ingest.dead_letters import Malformed
from penstock.stream.ingest.late_filter import Reading
from penstock.stream.ingest.messages.arrival import Arrival, no_element
from penstock.stream.ingest.messages.documents import add_elements, reason_of
from penstock.stream.ingest.messages.message import Message

__all__ = ["read_logs"]


def read_logs(messages: Sequence[Message], arrival: Arrival, format: str) -> Reading:
    """The elements of logs. The messages before a mistake count; from there on nothing can be read of that log."""
    messages, stamps, bad = arrival.stamps(messages)
    rows = Rows()
    for place, (message, stamp) in enumerate(zip(messages, stamps, strict=True)):
        try:
            for number, found in enumerate(read_log(message.payload.decode(), format)):
                if (reason := _add(rows, found, arrival, f"{place}.{number}", stamp)) is not None:
                    bad.append(Malformed(message.place or arrival.stream, found.line, found.text, reason))
        except (SyntaxError, ValueError, MemoryError) as error:
            line = getattr(error, "lineno", None) or 1
            bad.append(no_element(message, arrival.stream, reason_of(error), line))
    return Reading(slim(rows.take().elements), bad)


def _add(rows: Rows, found: LogMessage, arrival: Arrival, place: str, stamp: int) -> str | None:
    """Add the elements of a message, or say why it has none."""
    length = len(rows)
    try:
        add_elements(rows, found.quads, arrival, arrival.labels(place), stamp)
    except ValueError as error:
        rows.cut(length)
        return reason_of(error)
    return None
