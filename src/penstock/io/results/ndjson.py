"""A line of JSON an answer, so that a stream of answers is a stream of lines."""

from __future__ import annotations

import json
from datetime import datetime
from typing import TYPE_CHECKING, Any

from penstock.io.nquads_grammar import INTERVAL
from penstock.io.results.json import json_object
from penstock.io.results.rdf import to_ntriples
from penstock.io.results.vocabulary import XSD_DATETIME

if TYPE_CHECKING:
    from penstock.answer import Answer

__all__ = ["time_literal", "time_text", "to_ndjson", "when_text"]


def to_ndjson(answer: Answer) -> str:
    """See `Answer.to_ndjson`."""
    graph = answer.triples is not None
    body: dict[str, Any] = {"triples": _lines(answer)} if graph else json_object(answer)
    named = {} if answer.query is None else {"query": answer.query}
    times = {name: None if time is None else time_text(time) for name, time in answer.when.items()}
    return json.dumps({**named, **times, **body}, ensure_ascii=False)


def _lines(answer: Answer) -> list[str]:
    """Only a newline ends a line of N-Triples: other characters that Python takes for ends stand in literals."""
    return to_ntriples(answer).split("\n")[:-1]


def time_text(time: datetime) -> str:
    """An instant as xsd:dateTime, in UTC: a fraction only where there is one, and years of four digits."""
    fraction = f".{time.microsecond:06d}".rstrip("0") if time.microsecond else ""
    return f"{time.year:04d}-{time:%m-%dT%H:%M:%S}{fraction}Z"


def when_text(answer: Answer) -> str:
    """The time of the answer, for people: at an instant, from one to another, or since one; empty if it has no time."""
    match [None if time is None else time_text(time) for time in answer.when.values()]:
        case [start, None]:
            return f"since {start}"
        case [start, end] if start != end:
            return f"from {start} to {end}"
        case [time, *_]:
            return f"at {time}"
    return ""


def time_literal(time: datetime, start: datetime | None = None) -> str:
    """The fourth term of timestamped N-Quads: an instant, or an interval that ends there."""
    if start is None or start == time:
        return f'"{time_text(time)}"^^<{XSD_DATETIME.value}>'
    return f'"{time_text(start)}/{time_text(time)}"^^<{INTERVAL}>'
