"""The sink of Redis with a server: every answer is in the stream once."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from uuid import uuid4

import pytest

from penstock.answer import Answer
from penstock.errors import StoreError
from penstock.io.sinks import Sink, open_sink
from tests.connect.redis_server import RedisServer
from tests.connect.term_kinds import ANSWERS, batch

PAYLOADS = [answer.to_ndjson().encode() for answer in ANSWERS]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RedisServer]:
    with RedisServer.running(tmp_path_factory) as running:
        yield running


@pytest.fixture
def key() -> str:
    return f"answers:{uuid4().hex}"


def opened(server: RedisServer, key: str, options: str = "") -> Sink:
    return open_sink(f"redis://{server.place}/{key}{options}", "solutions")


def answers(server: RedisServer, key: str) -> list[bytes]:
    return [fields[b"answer"] for fields in server.entries(key)]


def test_terms_of_all_kinds(server: RedisServer, key: str) -> None:
    sink = opened(server, key)
    assert sink.begin() == "0-0"
    sink.deliver(batch(0))
    sink.deliver(batch(1))
    sink.close()
    assert answers(server, key) == [*PAYLOADS, *PAYLOADS]
    fields = server.entries(key)[-1]
    assert (fields[b"query"], fields[b"number"], fields[b"part"]) == (b"cars", b"1", b"3")


def test_a_repeated_batch_is_there_once(server: RedisServer, key: str) -> None:
    first = opened(server, key)
    before = first.deliver(batch(0))
    after = first.deliver(batch(1))
    opened(server, key).deliver(batch(1, query="others"))  # of another query, in the same stream
    again = opened(server, key)
    again.rewind(before)  # as after a crash between the delivery and the checkpoint
    assert again.deliver(batch(1)) == after
    again.deliver(batch(2))
    mine = [(one[b"query"], one[b"number"], one[b"part"]) for one in server.entries(key) if one[b"query"] == b"cars"]
    assert mine == [(b"cars", b"%d" % number, b"%d" % part) for number in range(3) for part in range(len(ANSWERS))]


@pytest.mark.parametrize("count", [3, 700, 1200])
def test_the_rest_of_a_batch_is_added(server: RedisServer, key: str, count: int) -> None:
    many = [Answer.ask(number % 2 == 0) for number in range(1300)]
    sink = opened(server, key)
    before = sink.begin()
    sink.rewind(before)

    def broken() -> Iterator[Any]:
        yield from many[:count]
        raise OSError("the disk of the answers is gone")

    failing = batch(0)
    failing.answers = broken()  # type: ignore[misc]
    with pytest.raises(StoreError, match="the disk of the answers is gone"):
        sink.deliver(failing)
    there = len(answers(server, key))
    assert there == count // 500 * 500, "what was sent is there"
    sink.rewind(before)
    sink.deliver(batch(0, many))
    sink.close()
    assert answers(server, key) == [answer.to_ndjson().encode() for answer in many]


def test_begin_is_behind_the_entries_of_others(server: RedisServer, key: str) -> None:
    opened(server, key).deliver(batch(0))
    sink = opened(server, key)
    sink.rewind(sink.begin())  # a query of the same name, registered anew
    sink.deliver(batch(0))
    assert len(answers(server, key)) == 2 * len(ANSWERS)


def test_a_server_that_restarts(server: RedisServer, key: str) -> None:
    sink = opened(server, key)
    before = sink.deliver(batch(0))
    server.stop()
    with pytest.raises(StoreError, match=rf"^redis://{server.place}/{key}: \S"):
        sink.deliver(batch(1))
    server.start()
    sink.rewind(before)
    sink.deliver(batch(1))
    sink.close()
    assert answers(server, key) == [*PAYLOADS, *PAYLOADS]


def test_a_stream_of_a_length(server: RedisServer, key: str) -> None:
    sink = opened(server, key, "?max_length=100")
    sink.deliver(batch(0, [Answer.ask(True)] * 1000))
    sink.close()
    assert 100 <= len(answers(server, key)) < 1000


def test_a_bad_address_is_one_sentence(server: RedisServer) -> None:
    sink = open_sink("redis://127.0.0.1:1/k", "solutions")
    said = r"^redis://127.0.0.1:1/k: it cannot be reached \(Connection refused\)$"
    with pytest.raises(StoreError, match=said):
        sink.begin()
    with pytest.raises(StoreError, match=said):
        sink.deliver(batch(0))
    with server.client() as client:
        client.set("a-text", "no stream")
    with pytest.raises(StoreError, match="the key a-text holds no stream"):
        opened(server, "a-text").deliver(batch(0))
