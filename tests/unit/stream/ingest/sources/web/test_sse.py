"""Server-Sent Events: resume by Last-Event-ID, retry, restarts of the server, and trouble in one sentence."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from threading import Event, Thread

import pytest

from penstock.errors import OptionError, PenstockWarning
from penstock.stream.ingest import sources
from penstock.stream.ingest.ingest import Ingest
from penstock.stream.ingest.sources.web.sse import SseSource
from penstock.stream.ingest.stream_declaration import Declared
from penstock.testing import ManualClock
from tests.support.arrivals import STREAM, text
from tests.support.taking import Taking
from tests.support.web_server import Asked, Reply, WebServer, web_server
from tests.unit.stream.log.test_stream_log import times

pytestmark = pytest.mark.filterwarnings("ignore:.*closed the connection:penstock.errors.PenstockWarning")


class Feed:
    """Elements with the times 1, 2, …, whose ids are these; at most `most` a connection, which then ends, or waits."""

    def __init__(self, count: int, most: int = 100, retry: int | None = None, waits: bool = False) -> None:
        self.count, self.most, self.retry = count, most, retry
        self.waits, self.over = waits, Event()

    def __call__(self, asked: Asked) -> Reply:
        assert asked.headers["accept"] == "text/event-stream"
        after = int(asked.headers.get("last-event-id", 0))
        return Reply(self._pieces(after), headers={"Content-Type": "text/event-stream; charset=utf-8"})

    def _pieces(self, after: int) -> Iterator[bytes]:
        yield b": welcome\n\n" if self.retry is None else b"retry: %d\n\n" % self.retry
        for number in range(after + 1, min(self.count, after + self.most) + 1):
            yield b"id: %d\nevent: reading\ndata: %s\n\n" % (number, text([number]).strip())
        yield b"id: 1000\ndata: half of an event"
        if self.waits:
            self.over.wait(60)


def opened(server: WebServer, options: str = "") -> SseSource:
    source = sources.open(f"sse+{server.url}/events{options}")
    assert isinstance(source, SseSource)
    return source


def test_it_continues_behind_the_last_event() -> None:
    clock, taken = ManualClock(), Taking()
    with web_server(Feed(5, most=2)) as server:
        source = opened(server)
        source.start(taken, clock)
        for _ in range(3):
            clock.await_waiter()
            clock.advance(10_000_000)
        assert taken.wait_for(5) == [text([stamp]).strip() for stamp in range(1, 6)]
        clock.await_waiter()
        source.stop()
        ids = [asked.headers.get("last-event-id") for asked in server.asked[:4]]
        assert ids == [None, "2", "4", "5"]
        assert taken.position == {"": "5"}
        assert {(message.topic, message.partition) for message in taken.messages} == {("reading", "")}
        assert taken.messages[0].place == f"sse+{server.url}/events@1"


def test_the_server_says_how_long_to_wait() -> None:
    clock, taken = ManualClock(), Taking()
    with web_server(Feed(2, most=1, retry=7_000)) as server:
        source = opened(server)
        source.start(taken, clock)
        clock.await_waiter()
        clock.advance(6_999_999)
        assert len(server.asked) == 1
        clock.advance(1)
        taken.wait_for(2)
        source.stop()


def test_types_can_be_chosen_and_all_move_the_position() -> None:
    clock, taken = ManualClock(), Taking()
    with web_server(Feed(3)) as server:
        source = opened(server, "#events=other&start=1")
        source.start(taken, clock)
        clock.await_waiter()
        source.stop()
        assert server.asked[0].headers["last-event-id"] == "1"
        assert (taken.payloads, taken.position) == ([], {"": "3"})


def test_stop_ends_a_silent_connection() -> None:
    feed, taken = Feed(1, waits=True), Taking()
    with web_server(feed) as server:
        source = opened(server)
        source.start(taken, ManualClock())
        taken.wait_for(1)
        source.stop()
        feed.over.set()
    assert source.message is None


def test_no_content_means_that_all_is_over() -> None:
    with web_server(lambda _: Reply(status=204)) as server:
        source = opened(server)
        source.start(Taking(), ManualClock())
        assert isinstance(source._thread, Thread)
        source._thread.join(60)
        assert not source._thread.is_alive()
        assert len(server.asked) == 1


@pytest.mark.parametrize(
    ("reply", "sentence"),
    [
        (Reply(status=404), "the server says 404 Not Found"),
        (Reply(b"{}", headers={"Content-Type": "application/json"}), "it sends application/json, and no event stream"),
    ],
)
def test_trouble_is_one_sentence(reply: Reply, sentence: str) -> None:
    clock = ManualClock()
    with web_server(lambda _: reply) as server:
        source = opened(server)
        with pytest.warns(PenstockWarning, match=rf"^sse\+http://127.*/events: {sentence}.*; trying again\.$"):
            _visited(source, clock)
        source.stop()


def _visited(source: SseSource, clock: ManualClock) -> None:
    source.start(Taking(), clock)
    clock.await_waiter()


def test_a_server_that_is_gone_and_comes_back() -> None:
    clock, taken = ManualClock(), Taking()
    with web_server(Feed(2, waits=True)) as server:
        source, port = opened(server), server.server_port
        source.start(taken, clock)
        taken.wait_for(2)
    clock.await_waiter()
    with web_server(Feed(4, waits=True), port):
        clock.advance(10_000_000)
        assert taken.wait_for(4) == [text([stamp]).strip() for stamp in range(1, 5)]
        source.stop()


def test_mistakes_are_those_of_the_declaration() -> None:
    with pytest.raises(OptionError, match=r"which resource\? Write sse\+https://HOST/PATH"):
        sources.open("sse://h/x")
    with pytest.raises(OptionError, match="there is no option event: did you mean events"):
        sources.open("sse+https://h/x#event=a")


@pytest.fixture
def ingest_of(tmp_path: Path) -> Iterator[Callable[[SseSource, ManualClock], Ingest]]:
    opened: list[Ingest] = []

    def opener(source: SseSource, clock: ManualClock) -> Ingest:
        opened.append(Ingest(None, tmp_path, clock, {STREAM: Declared(source)}))  # type: ignore[arg-type]
        opened[-1].start()
        return opened[-1]

    yield opener
    for ingest in opened:
        ingest.close()


def test_killed_in_the_middle_nothing_is_missing_and_nothing_comes_twice(
    ingest_of: Callable[[SseSource, ManualClock], Ingest],
) -> None:
    for count, clock in ((2, ManualClock()), (5, ManualClock()), (6, ManualClock())):
        with web_server(Feed(count)) as server:
            source = opened(server)
            source.name = "sse:the same"  # the port is another one each time
            ingest = ingest_of(source, clock)
            clock.await_waiter()
            assert times(ingest.log) == list(range(1, count + 1))
            assert len(server.asked) == 1
