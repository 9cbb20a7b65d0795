"""Polling: conditional requests, new items only, restarts, and trouble in one sentence."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from penstock.errors import OptionError, PenstockWarning
from penstock.stream.ingest import sources
from penstock.stream.ingest.ingest import Ingest
from penstock.stream.ingest.sources.source import BEGINNING, Positions
from penstock.stream.ingest.sources.web.poll import PollSource
from penstock.stream.ingest.stream_declaration import declare
from penstock.testing import ManualClock
from tests.support.arrivals import STREAM
from tests.support.taking import Taking
from tests.support.web_server import Asked, Reply, WebServer, web_server
from tests.unit.stream.log.test_stream_log import times

SECOND = 1_000_000
OPTIONS = "interval=10s&items=/posts&id=/id&newest=first"


class Service:
    """Posts, newest first, with an ETag."""

    def __init__(self, *ids: int) -> None:
        self.ids = list(ids)
        self.status = 200
        self.headers: dict[str, str] = {}

    def __call__(self, asked: Asked) -> Reply:
        tag = f'"{"-".join(map(str, self.ids))}"'
        if asked.headers.get("if-none-match") == tag:
            return Reply(status=304, headers={"ETag": tag})
        body = {"posts": [{"id": id, "t": id, "v": f"post {id}"} for id in reversed(self.ids)]}
        return Reply(json.dumps(body).encode(), self.status, {"ETag": tag} | self.headers)


def opened(server: WebServer, options: str = OPTIONS) -> PollSource:
    source = sources.open(f"poll+{server.url}/recent?top=5#{options}")
    assert isinstance(source, PollSource)
    return source


class Polled:
    """A started source, its clock and what it brings; `again` lets an interval pass and waits for the poll."""

    def __init__(self, source: PollSource, position: Positions) -> None:
        self.source, self.clock, self.taken = source, ManualClock(), Taking()
        source.start(self.taken, self.clock, position)
        self.clock.await_waiter()

    def again(self, by: int = 10 * SECOND) -> list[int]:
        self.clock.advance(by)
        self.clock.await_waiter()
        return self.ids

    @property
    def ids(self) -> list[int]:
        return [int(message.key or 0) for message in self.taken.messages]


@contextmanager
def polled(server: WebServer, options: str = OPTIONS, position: Positions = BEGINNING) -> Iterator[Polled]:
    source = opened(server, options)
    started = Polled(source, position)
    try:
        yield started
    finally:
        source.stop()


def test_new_items_come_once_and_oldest_first() -> None:
    service = Service(1, 2, 3)
    with web_server(service) as server, polled(server) as poll:
        assert poll.ids == [1, 2, 3]
        assert poll.again() == [1, 2, 3]
        service.ids = [2, 3, 4, 5]
        assert poll.again() == [1, 2, 3, 4, 5]
        assert server.asked[0].path == "/recent?top=5"
        assert [asked.headers.get("if-none-match") for asked in server.asked] == [None, '"1-2-3"', '"1-2-3"']
        assert poll.taken.position == {"": {"etag": '"2-3-4-5"', "ids": ["1", "2", "3", "4", "5"]}}
        first = poll.taken.messages[0]
        assert (first.key, first.partition, first.topic) == (b"1", "", f"{server.url}/recent?top=5")
        assert first.place == f"poll+{server.url}/recent?top=5@1"


def test_a_poll_without_news_stores_nothing() -> None:
    service = Service(1)
    with web_server(lambda asked: Reply(service(asked).body)) as server, polled(server) as poll:
        poll.again()
        assert (poll.ids, poll.taken.calls) == ([1], 1)


def test_it_continues_from_its_position() -> None:
    service = Service(1, 2)
    with web_server(service) as server:
        with polled(server) as first:
            position = json.loads(json.dumps(first.taken.position))
        service.ids = [2, 3]
        with polled(server, position=position) as second:
            assert second.ids == [3]
        assert server.asked[-1].headers["if-none-match"] == '"1-2"'


def test_ids_are_remembered_up_to_a_bound_and_those_of_the_last_answer_always() -> None:
    service = Service(1, 2, 3, 4)
    with web_server(service) as server, polled(server, f"{OPTIONS}&remember=2") as poll:
        assert poll.taken.position[""]["ids"] == ["1", "2", "3", "4"]  # type: ignore[index,call-overload]
        service.ids = [5]
        assert poll.again() == [1, 2, 3, 4, 5]
        assert poll.taken.position[""]["ids"] == ["4", "5"]  # type: ignore[index,call-overload]


def test_last_modified_is_a_validator_too() -> None:
    changed = "Mon, 20 Jul 2009 22:48:52 GMT"
    with (
        web_server(lambda _: Reply(b"[1]", headers={"Last-Modified": changed})) as server,
        polled(server, "items=&interval=1s") as poll,
    ):
        poll.again(SECOND)
        assert server.asked[1].headers["if-modified-since"] == changed
        assert poll.taken.payloads == [b"1", b"1"], "without an id every item of a new answer counts"


def test_a_header_can_be_the_id_of_a_whole_answer() -> None:
    numbers = iter("112")
    with (
        web_server(lambda _: Reply(b"{}", headers={"X-Version": next(numbers)})) as server,
        polled(server, "id=header:X-Version&interval=1s") as poll,
    ):
        poll.again(SECOND)
        poll.again(SECOND)
        assert [message.key for message in poll.taken.messages] == [b"1", b"2"]


def test_elements_of_xml_are_items() -> None:
    body = b'<g:recent xmlns:g="http://g/"><g:post id="a"><v>1</v></g:post> <g:post id="b"/></g:recent>'
    with web_server(lambda _: Reply(body)) as server, polled(server, "items=/recent/post&id=/@id") as poll:
        assert [message.key for message in poll.taken.messages] == [b"a", b"b"]
        assert b"<v>1</v>" in poll.taken.payloads[0]


TROUBLE: dict[str, tuple[Reply, str]] = {
    "not found": (Reply(status=404), "the server says 404 Not Found; trying again."),
    "unauthorised": (Reply(status=401), r"401 Unauthorized \(give token, or username and password\); trying again."),
    "no JSON": (Reply(b"{"), "its answer is not JSON (.*); trying again."),
    "no array": (Reply(b"{}"), "there is no array at /posts of its answer; trying again."),
    "no XML": (Reply(b"<a"), "its answer is not XML (.*); trying again."),
    "entities": (Reply(b"<!DOCTYPE a []><a/>"), "a document type, which is not read; trying again."),
}


@pytest.mark.parametrize(("reply", "sentence"), TROUBLE.values(), ids=TROUBLE)
def test_trouble_is_one_sentence_and_passes(reply: Reply, sentence: str) -> None:
    replies = iter([reply])
    service = Service(1)
    with web_server(lambda asked: next(replies, None) or service(asked)) as server:
        with pytest.warns(PenstockWarning, match=rf"^poll\+http://127.*/recent\?top=5: .*{sentence}$"):
            poll = Polled(opened(server), BEGINNING)
        assert poll.source.message is not None
        assert poll.again(100_000) == [1]
        assert poll.source.message is None
        poll.source.stop()


def test_a_server_that_is_gone_and_comes_back() -> None:
    service = Service(1)
    with web_server(service) as server:
        poll = Polled(opened(server), BEGINNING)
        port = server.server_port
    with pytest.warns(PenstockWarning, match="it cannot be reached"):
        poll.again()
    service.ids = [1, 2]
    with web_server(service, port):
        assert poll.again(SECOND) == [1, 2]
        poll.source.stop()


def test_retry_after_is_honoured() -> None:
    service = Service(1)
    service.status, service.headers = 503, {"Retry-After": "120"}
    with web_server(service) as server:
        with pytest.warns(PenstockWarning, match="503"):
            poll = Polled(opened(server), BEGINNING)
        service.status = 200
        poll.clock.advance(119 * SECOND)
        assert len(server.asked) == 1
        assert poll.again(SECOND) == [1]
        poll.source.stop()


def test_stop_does_not_wait_for_an_answer() -> None:
    clock, asked = ManualClock(), Taking()

    def never(_: Asked) -> Reply:
        asked([], {"": "asked"})
        asked.wait_for(1)
        return Reply()

    with web_server(never) as server:
        source = opened(server, f"{OPTIONS}&timeout=10m")
        source.start(Taking(), clock)
        while not asked.calls:
            source.pause(clock, 0)
        source.stop()
        asked([sources.Message(b"")])


def test_credentials_are_sent_and_never_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("API_TOKEN", "hunter2hunter2")
    secret = "token=${env:API_TOKEN}&header.X-Api-Key=${env:API_TOKEN}&header.Accept=text/x"
    with web_server(Service(1)) as server, polled(server, f"{OPTIONS}&{secret}") as poll:
        headers = server.asked[0].headers
        assert headers["authorization"] == "Bearer hunter2hunter2"
        assert (headers["x-api-key"], headers["accept"]) == ("hunter2hunter2", "text/x")
        assert "hunter2" not in f"{poll.source!r} {poll.source.options!r} {poll.source.name}"


@pytest.mark.parametrize(
    ("address", "sentence"),
    [
        ("poll+https://h/x#items=posts", "the option items is a JSON Pointer such as /items, not 'posts'"),
        ("poll+https://h/x#id=id", "the option id is a JSON Pointer"),
        ("poll+https://h/x#interval=10", "the option interval is a duration such as 10s"),
        ("poll+https://h/x#interval=0s", "more than 0"),
        ("poll+https://h/x#items=&id=header:etag", "give items or header:etag, not both"),
        ("poll+https://h/x#token=abc", "would be stored: refer to it"),
        ("poll+https://h/x#header.Authorization=abc", "would be stored: refer to its secret"),
        ("poll+https://h/x#headr.Accept=abc", "there is no option headr.Accept"),
        ("poll+ftp://h/x", r"which resource\? Write poll\+https://HOST/PATH"),
        ("poll://h/x", "which resource"),
    ],
)
def test_mistakes_are_those_of_the_declaration(address: str, sentence: str) -> None:
    with pytest.raises(OptionError, match=sentence):
        sources.open(address)


MAPPING = {"@context": {"@vocab": "http://e/", "id": None, "t": None}, "@id": "http://e/post/{id}"}


@pytest.fixture
def ingest_of(tmp_path: Path) -> Iterator[Callable[[PollSource], tuple[Ingest, ManualClock]]]:
    opened: list[Ingest] = []
    (tmp_path / "m.jsonld").write_text(json.dumps(MAPPING))

    def opener(source: PollSource) -> tuple[Ingest, ManualClock]:
        declared = declare(
            source, None, None, False, None, mapping=tmp_path / "m.jsonld", time_path="$.t", time_unit="us"
        )
        clock = ManualClock()
        opened.append(Ingest(None, tmp_path / "log", clock, {STREAM: declared}))  # type: ignore[arg-type]
        opened[-1].start()
        clock.await_waiter()
        return opened[-1], clock

    yield opener
    for ingest in opened:
        ingest.close()


def test_killed_in_the_middle_nothing_is_missing_and_nothing_comes_twice(
    ingest_of: Callable[[PollSource], tuple[Ingest, ManualClock]],
) -> None:
    service = Service(1, 2, 3)
    with web_server(service) as server:
        first, _ = ingest_of(opened(server))
        service.ids = [2, 3, 4]
        second, clock = ingest_of(opened(server))  # without stopping the first: as after a kill
        assert times(second.log) == [1, 2, 3, 4]
        service.ids = [3, 4, 5]
        clock.advance(10 * SECOND)
        clock.await_waiter()
        third, _ = ingest_of(opened(server))
        assert times(third.log) == [1, 2, 3, 4, 5]
        assert times(first.log) == [1, 2, 3]
        for ingest in (first, second, third):
            ingest.close()


def test_an_item_that_cannot_be_lifted_is_a_dead_letter_and_the_others_count(
    ingest_of: Callable[[PollSource], tuple[Ingest, ManualClock]],
) -> None:
    body = b'{"posts": [{"id": 3, "t": 3, "v": "c"}, {"id": 2, "t": "soon"}, {"id": 1, "t": 1, "v": "a"}]}'
    with web_server(lambda _: Reply(body)) as server:
        ingest, clock = ingest_of(opened(server))
        clock.advance(10 * SECOND)
        clock.await_waiter()
        assert times(ingest.log) == [1, 3]
        assert ingest.log.counts(STREAM).malformed == 1
        ingest.close()
