"""The base of sinks that are extras: options, the number of a batch, errors without secrets."""

from __future__ import annotations

from types import SimpleNamespace
from typing import cast

import pytest

from penstock.answer import Answer
from penstock.errors import OptionError, StoreError
from penstock.io.connect.secrets import Secret
from penstock.io.sinks import Sink, open_sink, sink_text
from penstock.io.sinks.connector import SinkConnector, encoder
from penstock.io.sinks.sink import Batch
from penstock.plug_ins import PlugIns


class QueueSink(SinkConnector):
    kind = "queue"
    sent: list[tuple[str, int]]

    def send(self, batch: Batch) -> None:
        if batch.number == 13:
            raise ConnectionError(f"no login with {Secret('${env:QUEUE_PASSWORD}').reveal()}")
        self.sent = [*getattr(self, "sent", []), (batch.query, batch.number)]


KINDS = PlugIns("penstock.sinks", "sink", {"queue": f"{__name__}:QueueSink"})


def batch(number: int) -> Batch:
    return cast(Batch, SimpleNamespace(query="cars", number=number))


def test_a_sink_is_made_from_a_text_or_a_mapping() -> None:
    for spec in ("queue://h/q?format=json", {"address": "queue://h/q", "format": "json"}):
        sink = open_sink(spec, "solutions", KINDS)
        assert isinstance(sink, Sink)
        assert isinstance(sink, QueueSink)
        assert (sink.options.format, sink.address.text) == ("json", "queue://h/q")
    assert sink_text({"address": "queue://h/q", "format": "json"}) == "queue://h/q?format=json"
    with pytest.raises(OptionError, match="the option format is one of ndjson, json"):
        open_sink("queue://h/q?format=avro", "solutions", KINDS)


def test_the_position_is_the_number_of_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("QUEUE_PASSWORD", "hunter2")
    sink = QueueSink("h/q")
    assert (sink.begin(), sink.deliver(batch(0)), sink.deliver(batch(1))) == (0, 1, 2)
    assert sink.sent == [("cars", 0), ("cars", 1)]
    with pytest.raises(StoreError, match=r"^queue://h/q: no login with \*\*\*$"):
        sink.deliver(batch(13))


def test_answers_in_a_format() -> None:
    answer = Answer(boolean=True)
    assert b"true" in encoder("json")(answer)
    assert b"true" in encoder("ndjson")(answer)
