"""WebSockets: subscriptions, resume, acknowledgements, restarts of the server, and trouble in one sentence."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from websockets.exceptions import ConnectionClosed

from penstock.errors import OptionError, PenstockWarning
from penstock.stream.ingest import sources
from penstock.stream.ingest.sources.source import BEGINNING, Positions
from penstock.stream.ingest.sources.web.websocket import WebSocketSource
from penstock.testing import ManualClock
from tests.support.taking import Taking
from tests.support.web_server import Reply, web_server
from tests.support.websocket_server import ServerConnection, websocket_server

pytestmark = pytest.mark.filterwarnings("ignore:.*trying again:penstock.errors.PenstockWarning")
OPTIONS = {"id": "/id", "subscribe": '{"op": "subscribe"}', "resume": '{"op": "since", "id": "{id}"}'}


class Feed:
    """Messages 1 to `count`; those behind the id of a resuming client, and the one with that id first if `repeats`."""

    def __init__(self, count: int, repeats: bool = False, ends: bool = False) -> None:
        self.count, self.repeats, self.ends = count, repeats, ends
        self.said: list[dict[str, str]] = []

    def __call__(self, connection: ServerConnection) -> None:
        self._hear(connection)
        if connection.request is not None and "/resumed" in connection.request.path:
            self._hear(connection)
        last = int(self.said[-1].get("id", 1 if self.repeats else 0))
        for number in range(last if self.repeats else last + 1, self.count + 1):
            connection.send(json.dumps({"id": str(number)}))
        while not self.ends and self._hear(connection):
            pass

    def _hear(self, connection: ServerConnection) -> bool:
        try:
            self.said.append(json.loads(connection.recv()))
        except ConnectionClosed:
            return False
        return True


def opened(port: int, path: str = "", **options: str) -> WebSocketSource:
    source = sources.open({"address": f"ws://127.0.0.1:{port}/{path}", **OPTIONS, **options})
    assert isinstance(source, WebSocketSource)
    return source


@contextmanager
def started(source: WebSocketSource, position: Positions = BEGINNING) -> Iterator[tuple[Taking, ManualClock]]:
    taken, clock = Taking(), ManualClock()
    source.start(taken, clock, position)
    try:
        yield taken, clock
    finally:
        source.stop()


def numbers(taken: Taking, count: int) -> list[int]:
    return [int(json.loads(payload)["id"]) for payload in taken.wait_for(count)]


def test_it_subscribes_and_takes_messages_in_order() -> None:
    feed = Feed(3)
    with websocket_server(feed) as port, started(opened(port)) as (taken, _):
        assert numbers(taken, 3) == [1, 2, 3]
        assert taken.position == {"": "3"}
        assert feed.said == [{"op": "subscribe"}]
        first = taken.messages[0]
        assert (first.key, first.partition, first.place) == (b"1", "", f"ws://127.0.0.1:{port}/@1")


@pytest.mark.parametrize("repeats", [False, True])
def test_it_resumes_behind_its_position(repeats: bool) -> None:
    feed = Feed(5, repeats)
    with websocket_server(feed) as port, started(opened(port, "resumed"), {"": "2"}) as (taken, _):
        assert numbers(taken, 3) == [3, 4, 5]
        assert feed.said == [{"op": "subscribe"}, {"op": "since", "id": "2"}]


def test_durable_messages_are_acknowledged() -> None:
    feed = Feed(3)
    options = {"acknowledge": '{"op": "ack", "id": "{id}"}'}
    with websocket_server(feed) as port:
        with started(opened(port, **options)) as (taken, _):
            taken.wait_for(3)
            while {"op": "ack", "id": "3"} not in feed.said:
                taken.wait_for(0)
        assert [said["op"] for said in feed.said][:2] == ["subscribe", "ack"]


def test_a_server_that_is_gone_and_comes_back() -> None:
    with websocket_server(Feed(2)) as port:
        source = opened(port)
        taken, clock = Taking(), ManualClock()
        source.start(taken, clock)
        taken.wait_for(2)
    clock.await_waiter()
    feed = Feed(4)
    with websocket_server(_resumed(feed), port):
        clock.advance(10_000_000)
        assert numbers(taken, 4) == [1, 2, 3, 4]
        source.stop()
    assert feed.said[:2] == [{"op": "subscribe"}, {"op": "since", "id": "2"}]


def _resumed(feed: Feed):  # type: ignore[no-untyped-def]
    def handle(connection: ServerConnection) -> None:
        feed._hear(connection)
        feed(connection)

    return handle


def test_without_ids_every_message_counts() -> None:
    def feed(connection: ServerConnection) -> None:
        connection.send("one")
        connection.send(b"two")
        connection.recv()

    with websocket_server(feed) as port:
        source = sources.open(f"ws://127.0.0.1:{port}/")
        assert isinstance(source, WebSocketSource)
        with started(source) as (taken, _):
            assert taken.wait_for(2) == [b"one", b"two"]
            assert taken.position == {}


def test_trouble_is_one_sentence() -> None:
    clock = ManualClock()
    with web_server(lambda _: Reply(status=404)) as server:
        source = opened(server.server_port)
        with pytest.warns(PenstockWarning, match=r"^ws://127.*: the server says 404 Not Found and opens no WebSocket;"):
            _visited(source, clock)
        source.stop()
    source = opened(server.server_port)
    with pytest.warns(PenstockWarning, match=r"^ws://127.*: it cannot be reached \(.*\); trying again\.$"):
        _visited(source, clock)
    source.stop()


def _visited(source: WebSocketSource, clock: ManualClock) -> None:
    source.start(Taking(), clock)
    clock.await_waiter()


@pytest.mark.parametrize(
    ("address", "sentence"),
    [
        ("ws://h/x#id=id", "ws: the option id is a JSON Pointer"),
        ("wss://h/x#resume=since", "wss: the option resume is a message with {id} in it, and needs the option id"),
        ("wss:///x", r"wss: which resource\? Write wss://HOST/PATH"),
        ("ws://h/x#subscrib=a", "there is no option subscrib: did you mean subscribe"),
    ],
)
def test_mistakes_are_those_of_the_declaration(address: str, sentence: str) -> None:
    with pytest.raises(OptionError, match=sentence):
        sources.open(address)
