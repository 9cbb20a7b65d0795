"""A line of JSON an answer, so that a stream of answers is a stream of lines."""

from __future__ import annotations

import json
from datetime import datetime
from typing import TYPE_CHECKING, Any

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
    return json.dumps({**named, **_times(answer), **body}, ensure_ascii=False)


def _times(answer: Answer) -> dict[str, str | None]:
    if answer.valid_from is not None:
        end = None if answer.valid_to is None else time_text(answer.valid_to)
        return {"valid_from": time_text(answer.valid_from), "valid_to": end}
    return {} if answer.time is None else {"time": time_text(answer.time)}


def _lines(answer: Answer) -> list[str]:
    """Only a newline ends a line of N-Triples: other characters that Python takes for ends stand in literals."""
    return to_ntriples(answer).split("\n")[:-1]


def time_text(time: datetime) -> str:
    """An instant as xsd:dateTime, in UTC: a fraction only where there is one, and years of four digits."""
    fraction = f".{time.microsecond:06d}".rstrip("0") if time.microsecond else ""
    return f"{time.year:04d}-{time:%m-%dT%H:%M:%S}{fraction}Z"


def when_text(answer: Answer) -> str:
    """When the answer holds, for people: at an instant, from one to another, or since one; empty if it has no time."""
    if answer.valid_from is None:
        return "" if answer.time is None else f"at {time_text(answer.time)}"
    start = time_text(answer.valid_from)
    return f"since {start}" if answer.valid_to is None else f"from {start} to {time_text(answer.valid_to)}"


def time_literal(time: datetime) -> str:
    """The same as N-Triples has it: what stands in the fourth place of timestamped N-Quads."""
    return f'"{time_text(time)}"^^<{XSD_DATETIME.value}>'
