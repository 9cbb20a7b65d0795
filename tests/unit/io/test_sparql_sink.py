"""SPARQL Update: graphs in a store, whatever is repeated, and failures in one sentence."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from datetime import UTC, datetime

import pytest
from pyoxigraph import BlankNode, Literal, NamedNode, Quad, Store, Triple

from penstock.answer import Answer, Term
from penstock.errors import OptionError, QueryError, StoreError
from penstock.io.sinks import Sink, open_sink
from tests.support.batches import TERMS, batch_of
from tests.support.web_server import Asked, Reply, web_server

P = NamedNode("http://e/p")
BOOK = NamedNode("urn:penstock:batches")


class Endpoint:
    """A store of pyoxigraph behind HTTP. An update that cannot be read is a 400."""

    def __init__(self) -> None:
        self.store = Store()

    def __call__(self, asked: Asked) -> Reply:
        assert asked.headers["content-type"].startswith("application/sparql-update")
        try:
            self.store.update(asked.body.decode())
        except SyntaxError:
            return Reply(status=400)
        return Reply(status=204)

    def objects(self, graph: str) -> list[str]:
        return sorted(_value(quad.object) for quad in self.store.quads_for_pattern(None, P, None, NamedNode(graph)))

    def noted(self) -> list[str]:
        return sorted(_value(quad.object) for quad in self.store.quads_for_pattern(None, None, None, BOOK))


def _value(term: object) -> str:
    assert isinstance(term, NamedNode | Literal)
    return term.value


def graph_at(second: int, values: Iterable[Term], subject: NamedNode | BlankNode = P) -> Answer:
    answer = Answer.graph(Triple(subject, P, value) for value in values)
    return replace(answer, time=datetime.fromtimestamp(second, UTC), query="cars")


def opened(url: str, options: str = "") -> Sink:
    return open_sink(f"sparql+{url}/update{options}", "graph")


A, B = graph_at(60, [Literal("a")]), graph_at(120, [Literal("b")])


def test_all_kinds_of_terms_arrive() -> None:
    endpoint = Endpoint()
    with web_server(endpoint) as server:
        assert opened(server.url).deliver(batch_of(0, graph_at(60, [*TERMS, Literal("\\u0022")]))) == 1
        sent = server.asked[0].body.decode()
    graph = NamedNode("urn:penstock:cars/1970-01-01T00:01:00Z")
    found = {quad.object for quad in endpoint.store.quads_for_pattern(None, P, None, graph)}
    named = {
        term for term in found if isinstance(term, NamedNode) and term.value.startswith("urn:penstock:blank:cars:")
    }
    assert len(named) == 1
    stored = Store()  # which writes 1.50 as 1.5: the store's own doing
    stored.extend(Quad(P, P, term, graph) for term in (*TERMS, Literal("\\u0022")) if not isinstance(term, BlankNode))
    assert found - named == {quad.object for quad in stored}
    assert all(str(term) in sent for term in TERMS if isinstance(term, Literal))


def test_a_repeated_batch_that_has_grown_is_there_once() -> None:
    endpoint = Endpoint()
    with web_server(endpoint) as server:
        for answers in ((A,), (A,), (A, B)):
            opened(server.url, "#graph=http://e/g").deliver(batch_of(3, *answers))
    assert endpoint.objects("http://e/g") == ["a", "b"]
    assert endpoint.noted() == ["2", "3"]


def test_blank_nodes_with_other_labels_are_not_doubled() -> None:
    endpoint = Endpoint()
    with web_server(endpoint) as server:
        for label in ("x", "y"):
            opened(server.url).deliver(batch_of(0, graph_at(60, [Literal("a")], BlankNode(label))))
    assert endpoint.objects("urn:penstock:cars/1970-01-01T00:01:00Z") == ["a"]


@pytest.mark.parametrize("mode", ["append", "replace"])
def test_a_large_batch_is_several_requests_and_the_last_notes_it(mode: str) -> None:
    endpoint, large = Endpoint(), graph_at(60, [Literal(f"{number:03d}") for number in range(100)])
    with web_server(endpoint) as server:
        opened(server.url, f"#graph=http://e/g&mode={mode}&largest=1000").deliver(batch_of(0, large))
        bodies = [asked.body for asked in server.asked]
    assert endpoint.objects("http://e/g") == [f"{number:03d}" for number in range(100)]
    assert len(bodies) > 3
    assert all(len(body) < 1100 for body in bodies)
    assert [b"urn:penstock:batches" in body for body in bodies] == [False] * (len(bodies) - 1) + [True]


def test_replace_has_the_latest_answer() -> None:
    endpoint = Endpoint()
    with web_server(endpoint) as server:
        sink = opened(server.url, "#mode=replace")
        sink.deliver(batch_of(0, A, B))
        assert endpoint.objects("urn:penstock:cars") == ["b"]
        sink.deliver(batch_of(1, graph_at(180, [])))
    assert endpoint.objects("urn:penstock:cars") == []


def test_a_server_that_is_gone_and_comes_back() -> None:
    endpoint = Endpoint()
    with web_server(endpoint) as server:
        sink, port = opened(server.url, "#graph=http://e/g"), server.server_port
        sink.deliver(batch_of(0, A))
    with pytest.raises(StoreError, match=r"^sparql\+http.*: it cannot be reached \(.*\)$"):
        sink.deliver(batch_of(1, B))
    with web_server(endpoint, port):
        assert sink.deliver(batch_of(1, B)) == 2
    assert endpoint.objects("http://e/g") == ["a", "b"]


@pytest.mark.parametrize("status", [301, 400, 401, 500, 503])
def test_all_but_2xx_is_a_failure_in_one_sentence(status: int) -> None:
    with (
        web_server(lambda _: Reply(status=status)) as server,
        pytest.raises(StoreError, match=rf"^sparql\+http.*: the server says {status} .* to the batch cars/0$"),
    ):
        opened(server.url).deliver(batch_of(0, A))


def test_solutions_are_refused() -> None:
    with pytest.raises(QueryError, match="this sink takes graphs only: write the query as a CONSTRUCT"):
        open_sink("sparql+http://h/update", "solutions")


@pytest.mark.parametrize(
    ("address", "sentence"),
    [
        ("sparql://h/x", r"which resource\? Write sparql\+https://HOST/PATH"),
        ("sparql+https://h/x#mode=replace&graph=http://e/{time}", "leave {time} out of graph"),
        ("sparql+https://h/x#graph=no iri", "the option graph is an IRI"),
        ("sparql+https://h/x#largest=0", "more than 0"),
        ("sparql+https://h/x#mode=merge", "the option mode is one of append, replace"),
    ],
)
def test_mistakes_are_those_of_the_registration(address: str, sentence: str) -> None:
    with pytest.raises(OptionError, match=sentence):
        open_sink(address, "graph")
