"""Reads messages of N-Quads and N-Triples, all of a batch at once, since the parser wants long columns."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import numpy as np
import pyarrow as pa

from penstock.io.columns import ELEMENTS
from penstock.io.nquads import BadLine, Parsed, parse
from penstock.stream.ingest.dead_letters import Malformed
from penstock.stream.ingest.late_filter import Reading
from penstock.stream.ingest.messages.arrival import Arrival
from penstock.stream.ingest.messages.message import Message

__all__ = ["read_lines"]

_FROM_BROKER = -(1 << 62)  # stands for the time of the message until it is known which that is; no line has it


def read_lines(messages: Sequence[Message], arrival: Arrival) -> Reading:
    """The elements of messages of lines. Each line has its own time, or that of the broker or of the arrival."""
    messages, stamps, bad = arrival.stamps(messages)
    payloads = [message.payload if message.payload.endswith(b"\n") else message.payload + b"\n" for message in messages]
    stamp = {"broker": _FROM_BROKER, "arrival": arrival.clock}.get(arrival.time or "data")
    parsed = parse(b"".join(payloads), arrival.stream, stamp, arrival.tuning)
    elements = _with_times(parsed, payloads, stamps) if stamp == _FROM_BROKER else parsed.elements
    return Reading(elements, [*bad, *_bad(parsed.bad, payloads, messages, arrival.stream)])


def _with_times(parsed: Parsed, payloads: Sequence[bytes], stamps: Sequence[int]) -> pa.Table:
    """The elements, of which those without a time of their own have that of their message."""
    ends = np.cumsum([payload.count(b"\n") for payload in payloads])
    owners = np.searchsorted(ends, parsed.places) if parsed.places is not None else np.empty(0, np.int64)
    own = parsed.elements.column("ts").to_numpy()
    times = np.where(own == _FROM_BROKER, np.asarray(stamps, np.int64)[owners], own) if len(own) else own
    place = parsed.elements.column_names.index("ts")
    return parsed.elements.set_column(place, ELEMENTS.field("ts"), pa.array(times, pa.int64()))


def _bad(
    bad: Iterable[BadLine], payloads: Iterable[bytes], messages: Iterable[Message], stream: str
) -> Iterator[Malformed]:
    """The bad lines with their numbers in their messages."""
    remaining, before, lines, source = iter(zip(payloads, messages, strict=True)), 0, 0, stream
    for line in bad:
        while line.line > before + lines:
            payload, message = next(remaining)
            before, lines, source = before + lines, payload.count(b"\n"), message.place or stream
        yield Malformed(source, line.line - before, line.text, line.reason)
