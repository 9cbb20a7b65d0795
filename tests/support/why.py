"""Facts of a query, for the tests of `why`."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from penstock.algebra.build import translate
from penstock.stream.base.watermark import Position
from penstock.stream.log.stream_log import Counts
from penstock.stream.runtime.progress import QueryStatus
from penstock.stream.runtime.query_facts import QueryFacts, StreamFacts
from penstock.why.reasons import Reason

GATES, ROOMS = "http://example.org/gates", "http://example.org/rooms"
MINUTE = 60_000_000
EIGHT = round(datetime(2009, 7, 20, 8, tzinfo=UTC).timestamp()) * 1_000_000
ONE_STREAM = f"SELECT * FROM STREAM <{GATES}> [RANGE 10m STEP 1m] {{ ?s ?p ?o }}"
TWO_STREAMS = (
    f"SELECT * FROM STREAM <{GATES}> [RANGE 10m STEP 1m] FROM STREAM <{ROOMS}> [RANGE 10m STEP 1m] {{ ?s ?p ?o }}"
)


def stream(iri: str = GATES, elements: int = 0, late: int = 0, malformed: int = 0, **others: Any) -> StreamFacts:
    """A stream with these counts."""
    return StreamFacts(iri, counts=Counts(elements, late, malformed), **others)


def reached(since: int, newest: int, iri: str = GATES, **others: Any) -> StreamFacts:
    """A stream of ten elements between two times, which are in minutes after eight."""
    ends: dict[str, Any] = {
        "first": EIGHT + since * MINUTE,
        "watermark": EIGHT + newest * MINUTE - 1,
        "position": Position(EIGHT + newest * MINUTE, last_arrival=EIGHT),
    }
    return stream(iri, 10, **{**ends, **others})


def facts(*streams: StreamFacts, text: str = ONE_STREAM, state: str = "running", **others: Any) -> QueryFacts:
    """A query on these streams, at five minutes after eight."""
    status = replace(QueryStatus("cars", state), **others.pop("status", {}))
    return QueryFacts(translate(text), text, status, "rstream", streams, EIGHT + 5 * MINUTE, **others)


def said(reason: Reason) -> tuple[str, str]:
    """The kind and the sentences of a reason."""
    return reason.kind, str(reason)
