"""Lifts messages of JSON, CSV and XML to elements by a mapping, all of a batch at once."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from penstock.io.nquads import scope
from penstock.lift.event_time import TimeUnit
from penstock.lift.lifting import Lifting
from penstock.lift.plan import RmlPlan
from penstock.stream.ingest.late_filter import Reading
from penstock.stream.ingest.messages.arrival import Arrival, no_element
from penstock.stream.ingest.messages.message import Message

__all__ = ["compiled", "labels_of", "read_lifted"]


@lru_cache(64)
def compiled(
    name: str, text: str, path: str | None, unit: TimeUnit, properties: tuple[str, ...], header: str | None
) -> Lifting:
    """The lifting by the text of a mapping, compiled once; a `MappingError` shows the place of a mistake in it."""
    times = {"time": path, "time_unit": unit, "time_properties": properties}
    return Lifting.from_text(text, name=name, **times, header=header)  # type: ignore[arg-type]


def read_lifted(messages: Sequence[Message], arrival: Arrival, lifting: Lifting) -> Reading:
    """The elements of messages, which are lifted whole or not at all."""
    messages, stamps, bad = arrival.stamps(messages)
    payloads = [message.payload for message in messages]
    lifted = lifting.apply(payloads, labels=labels_of(lifting, arrival), origins=messages)
    bad += [no_element(messages[failure.message], arrival.stream, failure.reason) for failure in lifted.failures]
    return Reading(lifted.elements(np.asarray(stamps, np.int64)), bad)


def labels_of(lifting: Lifting, arrival: Arrival) -> str:
    """The prefix of blank nodes' labels. RML makes the same node of the same value, everywhere in the stream; those of
    a context are of their message."""
    return scope(arrival.stream) if isinstance(lifting.plan, RmlPlan) else arrival.labels(0)
