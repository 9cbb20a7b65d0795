"""Event streams: the fields and line ends of the HTML standard, in pieces of every size."""

from __future__ import annotations

import pytest

from penstock.stream.ingest.sources.web.event_stream import Event, EventStream

TEXT = (
    b"\xef\xbb\xbf: a comment\n\ndata: one\nid: 1\n\nevent: add\r\ndata:two\r\ndata:  2\r\nid\r\n\r\n"
    b"id: 3\rretry: 1500\rretry: x\r\rdata\n\nid: n\0o\ndata: four\nnosuch: field\n\ndata: without an end"
)
EVENTS = [Event(b"one", "message", "1"), Event(b"two\n 2", "add", ""), Event(b"", "message", "3")]
EVENTS += [Event(b"four", "message", "3")]


@pytest.mark.parametrize("size", [1, 2, 3, 7, 1000])
def test_events_in_pieces(size: int) -> None:
    stream = EventStream("0")
    events = [event for at in range(0, len(TEXT), size) for event in stream.add(TEXT[at : at + size])]
    assert (events, stream.id, stream.retry) == (EVENTS, "3", 1_500_000)


def test_an_event_that_was_cut_off_moves_no_id() -> None:
    stream = EventStream("7")
    assert (stream.add(b"id: 8\ndata: half"), stream.id) == ([], "7")


def test_an_event_without_an_end_is_refused() -> None:
    stream = EventStream()
    for _ in range(63):
        stream.add(b"data: " + b"x" * (1 << 20) + b"\n")
    with pytest.raises(ValueError, match="an event of more than 64 MiB"):
        stream.add(b"x" * (1 << 20))
