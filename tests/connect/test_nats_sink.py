"""The sink of NATS with a server: every answer is in the stream, and a repeated batch once."""

from __future__ import annotations

from collections.abc import Iterator
from uuid import uuid4

import pytest

from penstock.errors import StoreError
from penstock.io.sinks import Sink, open_sink
from tests.connect.nats_server import NatsServer
from tests.connect.term_kinds import ANSWERS, batch

PAYLOADS = [answer.to_ndjson().encode() for answer in ANSWERS]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[NatsServer]:
    with NatsServer.running(tmp_path_factory) as running:
        yield running


@pytest.fixture
def stream(server: NatsServer) -> str:
    name = uuid4().hex
    server.create(name)
    return name


def opened(server: NatsServer, subject: str) -> Sink:
    return open_sink(f"nats://{server.place}/{subject}", "solutions")


def payloads(server: NatsServer, stream: str) -> list[bytes]:
    return [message.data for message in server.messages(stream)]


def test_terms_of_all_kinds(server: NatsServer, stream: str) -> None:
    sink = opened(server, f"{stream}.answers")
    assert (sink.deliver(batch(0)), sink.deliver(batch(1))) == (1, 2)
    sink.close()
    assert payloads(server, stream) == [*PAYLOADS, *PAYLOADS]
    headers = server.messages(stream)[-1].headers
    assert headers == {
        "Nats-Msg-Id": "cars/1/3",
        "Penstock-Query": "cars",
        "Penstock-Number": "1",
        "Penstock-Part": "3",
    }


def test_a_repeated_batch_is_there_once(server: NatsServer, stream: str) -> None:
    for _ in range(2):  # as after a crash between the delivery and the checkpoint
        sink = opened(server, f"{stream}.answers")
        sink.rewind(7)
        sink.deliver(batch(7))
        sink.close()
    assert payloads(server, stream) == PAYLOADS


def test_a_server_that_restarts(server: NatsServer, stream: str) -> None:
    sink = opened(server, f"{stream}.answers")
    sink.deliver(batch(0))
    server.stop()
    with pytest.raises(StoreError, match=rf"^nats://{server.place}/{stream}.answers: \S"):
        sink.deliver(batch(1))
    server.start()
    sink.deliver(batch(1))
    sink.close()
    assert payloads(server, stream) == [*PAYLOADS, *PAYLOADS]


def test_a_bad_address_is_one_sentence(server: NatsServer) -> None:
    sink = open_sink("nats://127.0.0.1:1/a", "solutions")
    with pytest.raises(StoreError, match=r"^nats://127.0.0.1:1/a: it cannot be reached \(Connection refused\)$"):
        sink.deliver(batch(0))
    with pytest.raises(StoreError, match=r"^nats://\S+: no stream takes the subject nosuch$"):
        opened(server, "nosuch").deliver(batch(0))
