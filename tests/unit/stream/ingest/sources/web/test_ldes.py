"""Linked Data Event Streams: order across pages, pages that are final, restarts, hosts, and trouble in one sentence."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Event

import pytest

from penstock.errors import OptionError, PenstockWarning
from penstock.stream.ingest import sources
from penstock.stream.ingest.ingest import Ingest
from penstock.stream.ingest.sources.source import BEGINNING, Message, Positions
from penstock.stream.ingest.sources.web.ldes import LdesSource
from penstock.stream.ingest.stream_declaration import Declared, declare
from penstock.testing import ManualClock
from tests.support.arrivals import STREAM
from tests.support.taking import Taking
from tests.support.web_server import Asked, Reply, WebServer, web_server
from tests.unit.stream.log.test_stream_log import times

SECOND = 1_000_000
HEAD = """@prefix tree: <https://w3id.org/tree#> . @prefix ldes: <https://w3id.org/ldes#> . @prefix e: <http://e/> .
<http://e/s> a ldes:EventStream ; ldes:timestampPath e:at ; ldes:versionOfPath e:of .
"""
Relation = tuple[str, int | None]


def moment(number: int) -> str:
    return f'"1970-01-01T00:00:00.{number:06d}Z"^^<http://www.w3.org/2001/XMLSchema#dateTime>'


def member(number: int) -> str:
    return f"<http://e/s> tree:member e:m{number} . e:m{number} e:at {moment(number)} ."


def relation(node: str, bound: int | None) -> str:
    if bound is None:
        return f"<> tree:relation [ a tree:Relation ; tree:node <{node}> ] ."
    return (
        f"<> tree:relation [ a tree:GreaterThanOrEqualToRelation ; tree:node <{node}> ; tree:path e:at ; "
        f"tree:value {moment(bound)} ] ."
    )


class Pages:
    """Pages by path: members, relations, and whether they are final."""

    def __init__(self) -> None:
        self.bodies: dict[str, str] = {}
        self.replies: dict[str, Reply] = {}
        self.final: set[str] = set()

    def put(self, path: str, *numbers: int, to: tuple[Relation, ...] = (), more: str = "", final: bool = False) -> None:
        self.bodies[path] = "\n".join([HEAD, *map(member, numbers), *(relation(*one) for one in to), more])
        if final:
            self.final.add(path)

    def __call__(self, asked: Asked) -> Reply:
        if asked.path in self.replies:
            return self.replies[asked.path]
        if asked.path not in self.bodies:
            return Reply(status=404)
        body = self.bodies[asked.path].encode()
        tag = f'"{hash(body)}"'
        if asked.headers.get("if-none-match") == tag:
            return Reply(status=304)
        control = {"Cache-Control": "public, immutable"} if asked.path in self.final else {}
        return Reply(body, headers={"Content-Type": "text/turtle; charset=utf-8", "ETag": tag} | control)


class Followed:
    """A started source, its clock and what it brings."""

    def __init__(self, server: WebServer, options: str = "", position: Positions = BEGINNING) -> None:
        source = sources.open(f"ldes+{server.url}/0#interval=10s{options}")
        assert isinstance(source, LdesSource)
        self.source, self.clock, self.taken = source, ManualClock(), Taking()
        source.start(self.taken, self.clock, position)
        self.clock.await_waiter()

    def again(self, by: int = 10 * SECOND) -> list[int]:
        self.clock.advance(by)
        self.clock.await_waiter()
        return self.ids

    @property
    def ids(self) -> list[int]:
        return ids_of(self.taken.messages)


def ids_of(messages: list[Message]) -> list[int]:
    return [int((message.key or b"").rpartition(b"m")[2]) for message in messages]


@contextmanager
def followed(server: WebServer, options: str = "", position: Positions = BEGINNING) -> Iterator[Followed]:
    started = Followed(server, options, position)
    try:
        yield started
    finally:
        started.source.stop()


def paths(server: WebServer) -> list[str]:
    return [asked.path for asked in server.asked]


def test_members_come_in_the_order_of_their_times_across_pages() -> None:
    pages = Pages()
    pages.put("/0", 4, 1, to=(("/b", 6), ("/a", 2)))
    pages.put("/a", 5, 3)
    pages.put("/b", 7, 6)
    with web_server(pages) as server, followed(server) as stream:
        assert stream.ids == [1, 3, 4, 5, 6, 7]
        assert paths(server) == ["/0", "/a", "/b"]
        assert stream.taken.payloads[0] == f"<http://e/m1> <http://e/at> {moment(1)} {moment(1)} .\n".encode()


def test_a_member_waits_for_pages_that_may_hold_an_earlier_one() -> None:
    pages = Pages()
    pages.put("/0", 3, to=(("/a", None), ("/b", 5)))
    pages.put("/a", 1)
    pages.put("/b", 5)
    with web_server(pages) as server, followed(server) as stream:
        assert stream.ids == [1, 3, 5]


def test_final_pages_are_read_once_and_others_with_their_etag() -> None:
    pages = Pages()
    pages.put("/0", 1, to=(("/a", 2),), final=True)
    pages.put("/a", 2, to=(("/b", 3),), more="<> ldes:immutable true .")
    pages.put("/b", 3)
    with web_server(pages) as server, followed(server) as stream:
        assert stream.again() == [1, 2, 3]
        pages.put("/b", 3, 4)
        assert stream.again() == [1, 2, 3, 4]
        assert paths(server) == ["/0", "/a", "/b", "/b", "/b"]
        assert "if-none-match" in server.asked[3].headers
        calls = stream.taken.calls
        stream.again()
        assert stream.taken.calls == calls, "a look without news stores nothing"
        position = json.loads(json.dumps(stream.taken.position))
    with web_server(pages, server.server_port) as again, followed(again, position=position) as stream:
        assert (stream.ids, paths(again)) == ([], ["/b"])
        pages.put("/b", 3, 4, 5)
        assert stream.again() == [5]


def test_it_continues_from_every_position() -> None:
    pages = Pages()
    pages.put("/0", 2, 4, to=(("/a", 3), ("/b", 5)))
    pages.put("/a", 3, 6)
    pages.put("/b", 5, 7)
    kept: list[tuple[list[int], Positions]] = []

    class Keeping(Taking):
        def __call__(self, messages: object, position: Positions = BEGINNING) -> int:
            taken = super().__call__(messages, position)  # type: ignore[arg-type]
            kept.append((ids_of(self.messages), json.loads(json.dumps(self.position))))
            return taken

    with web_server(pages) as server:
        first = sources.open(f"ldes+{server.url}/0#interval=10s")
        clock = ManualClock()
        assert isinstance(first, LdesSource)
        first.start(Keeping(), clock)
        clock.await_waiter()
        first.stop()
        assert len(kept) == 3
        for ids, position in kept:
            with followed(server, position=position) as second:
                assert ids + second.ids == [2, 3, 4, 5, 6, 7]


def test_a_member_is_its_description_and_the_graph_of_its_name() -> None:
    body = f"""{HEAD} <http://e/s> tree:member e:m1 . e:m1 e:at {moment(1)} ; e:of e:thing ; e:has [ e:v 1 ] .
e:other e:v 2 . e:m1 {{ e:thing e:v 3 }}"""
    reply = Reply(body.encode(), headers={"Content-Type": "application/trig"})
    with web_server(lambda _: reply) as server, followed(server) as stream:
        (message,) = stream.taken.messages
        assert message.headers == (("version-of", b"http://e/thing"),)
        assert len(message.payload.splitlines()) == 5
        assert b"http://e/other" not in message.payload
        assert b"<http://e/thing> <http://e/v>" in message.payload


def test_pages_of_json_ld() -> None:
    context = {"at": {"@id": "http://e/at", "@type": "http://www.w3.org/2001/XMLSchema#dateTime"}}
    path = {"https://w3id.org/ldes#timestampPath": {"@id": "http://e/at"}}
    one = {"@id": "http://e/m1", "at": "1970-01-01T00:00:01Z"}
    document = {"@context": context, "@id": "http://e/s", **path, "https://w3id.org/tree#member": [one]}
    reply = Reply(json.dumps(document).encode(), headers={"Content-Type": "application/ld+json"})
    with web_server(lambda _: reply) as server, followed(server) as stream:
        assert (stream.ids, stream.taken.messages[0].time) == ([1], SECOND)


def test_relations_in_a_circle_end() -> None:
    pages = Pages()
    pages.put("/0", 1, to=(("/a", 2),))
    pages.put("/a", 2, to=(("/0", None), ("/a", None)))
    with web_server(pages) as server, followed(server) as stream:
        assert (stream.ids, paths(server)) == ([1, 2], ["/0", "/a"])


def test_the_description_of_a_stream_leads_to_its_view_and_redirects_are_followed() -> None:
    pages = Pages()
    pages.put("/0", more="<http://e/s> tree:view <v> .")
    pages.replies["/v"] = Reply(status=302, headers={"Location": "/w"})
    pages.put("/w", 1)
    with web_server(pages) as server, followed(server) as stream:
        assert (stream.ids, paths(server)) == ([1], ["/0", "/v", "/w"])


def test_a_page_that_is_gone_is_empty() -> None:
    pages = Pages()
    pages.put("/0", 2, to=(("/a", 1),))
    pages.replies["/a"] = Reply(status=410)
    with web_server(pages) as server, followed(server) as stream:
        assert stream.again() == [2]
        assert paths(server) == ["/0", "/a", "/0"]


TURTLE = {"Content-Type": "text/turtle"}
TROUBLE: dict[str, tuple[Reply, str]] = {
    "not found": (Reply(status=404), "the server says 404 Not Found"),
    "failed": (Reply(status=500), "the server says 500 Internal Server Error"),
    "no type": (Reply(b"", headers={"Content-Type": "text/html"}), "is of the type text/html; Penstock reads text/tu"),
    "no Turtle": (Reply(b"<", headers=TURTLE), "/0 cannot be read"),
    "no path": (Reply(b"<s> <https://w3id.org/tree#member> <m> .", headers=TURTLE), "no ldes:timestampPath"),
    "a circle": (Reply(status=302, headers={"Location": "/0"}), "it redirects in circles"),
    "too large": (Reply([b" " * (1 << 20)] * 65, headers=TURTLE), "has more than 64 MiB"),
}


@pytest.mark.parametrize(("reply", "sentence"), TROUBLE.values(), ids=TROUBLE)
def test_trouble_is_one_sentence_and_passes(reply: Reply, sentence: str) -> None:
    pages = Pages()
    pages.put("/0", 1)
    pages.replies["/0"] = reply
    with web_server(pages) as server:
        with pytest.warns(PenstockWarning, match=rf"^ldes\+http://127.*{sentence}.*; trying again.$"):
            stream = Followed(server)
        pages.replies.clear()
        assert stream.again(SECOND) == [1]
        assert stream.source.message is None
        stream.source.stop()


@pytest.mark.parametrize("by", ["relation", "redirect"])
def test_a_page_makes_it_call_no_other_host(by: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("API_TOKEN", "hunter2hunter2")
    pages, other = Pages(), Pages()
    other.put("/x", 2)
    with web_server(other) as elsewhere, web_server(pages) as server:
        pages.put("/0", 1, to=((f"{elsewhere.url}/x", 2),))
        if by == "redirect":
            pages.replies["/0"] = Reply(status=302, headers={"Location": f"{elsewhere.url}/x"})
        host = elsewhere.url.removeprefix("http://")
        with pytest.warns(PenstockWarning, match=f"it leads to {elsewhere.url}, .* not allowed: give hosts={host}"):
            refused = Followed(server)
        refused.source.stop()
        assert (refused.ids, elsewhere.asked) == ([], [])
        with followed(server, f"&hosts={host}&token=${{env:API_TOKEN}}") as allowed:
            assert allowed.ids[-1] == 2
        assert "authorization" in server.asked[-1].headers
        assert "authorization" not in elsewhere.asked[0].headers, "credentials are for the host of the address"


def test_a_server_that_is_restarted_in_the_middle() -> None:
    pages = Pages()
    pages.put("/0", 1, to=(("/a", 2),))
    with web_server(pages) as server:
        with pytest.warns(PenstockWarning, match="404 Not Found to .*/a; trying again"):
            stream = Followed(server)
        assert stream.ids == [1], "what no other page can precede is there"
    with pytest.warns(PenstockWarning, match="it cannot be reached"):
        stream.again(SECOND)
    pages.put("/a", 2)
    with web_server(pages, server.server_port):
        assert stream.again(SECOND) == [1, 2]
        stream.source.stop()


def test_no_page_is_read_while_the_stream_is_full() -> None:
    pages = Pages()
    pages.put("/0", 1, to=(("/a", 2),))
    pages.put("/a", 2)
    entered, free = Event(), Event()

    class Full(Taking):
        def __call__(self, messages: object, position: Positions = BEGINNING) -> int:
            entered.set()
            assert free.wait(60)
            return super().__call__(messages, position)  # type: ignore[arg-type]

    with web_server(pages) as server:
        source, taken = sources.open(f"ldes+{server.url}/0"), Full()
        assert isinstance(source, LdesSource)
        source.start(taken, ManualClock())
        assert entered.wait(60)
        assert paths(server) == ["/0"]
        free.set()
        taken.wait_for(2)
        source.stop()


@pytest.mark.parametrize(
    ("address", "sentence"),
    [
        ("ldes+https://h/x#interval=0s", "more than 0"),
        ("ldes+https://h/x#host=a", "did you mean hosts"),
        ("ldes+ftp://h/x", r"which resource\? Write ldes\+https://HOST/PATH"),
    ],
)
def test_mistakes_are_those_of_the_declaration(address: str, sentence: str) -> None:
    with pytest.raises(OptionError, match=sentence):
        sources.open(address)


def test_the_log_has_the_elements_of_a_file_with_the_same_lines_and_a_dead_letter(tmp_path: Path) -> None:
    pages = Pages()
    pages.put("/0", 2, 1, more="<http://e/s> tree:member e:m9 . e:m9 e:v 1 .", to=(("/a", 3),))
    pages.put("/a", 3)
    clock = ManualClock()
    with web_server(pages) as server:
        declared = declare(f"ldes+{server.url}/0", None, None, False, None)
        ingest = Ingest(None, tmp_path / "a", clock, {STREAM: declared})  # type: ignore[arg-type]
        ingest.start()
        clock.await_waiter()
        other = Ingest(None, tmp_path / "b", clock, {STREAM: Declared(None)})  # type: ignore[arg-type]
        lines = [f"<http://e/m{number}> <http://e/at> {moment(number)} {moment(number)} ." for number in (1, 2, 3)]
        other.push(STREAM, "\n".join(lines).encode() + b"\n")
        assert times(ingest.log) == times(other.log) == [1, 2, 3]
        assert ingest.log.counts(STREAM).malformed == 1
        ingest.close()
        other.close()
