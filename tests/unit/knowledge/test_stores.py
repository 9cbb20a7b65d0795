"""The background stores that need no Spark, and the way from a spec to a store."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from importlib.metadata import EntryPoint, EntryPoints
from pathlib import Path

import httpx
import pyoxigraph
import pytest
from pyoxigraph import Literal, NamedNode, Quad, QueryResultsFormat, QueryTriples, RdfFormat, Triple
from pytest_httpserver import HTTPServer
from werkzeug import Request, Response

from penstock.algebra.expressions import Var
from penstock.algebra.ops import UNIT, Ask, Construct, Dataset, Query, Select
from penstock.errors import LoadError, QueryError, RefusedError, SetupError, StoreError
from penstock.knowledge.endpoint import EndpointStore
from penstock.knowledge.oxigraph import OxigraphStore
from penstock.knowledge.store import STORES, Store, check_dataset, open_store

A, B, P = (NamedNode(f"http://e/{name}") for name in "abp")
DATA = b"<http://e/a> <http://e/p> 1 . <http://e/b> <http://e/p> 2 ."


def select(*names: str, dataset: Dataset | None = None) -> Query:
    return Query(Select(), UNIT, tuple(map(Var, names)), dataset)


ASK, CONSTRUCT = Query(Ask(), UNIT), Query(Construct(()), UNIT)
ALL = "SELECT * { ?s ?p ?o } ORDER BY ?s"


def objects(store: Store, text: str = ALL, base: str | None = None, dataset: Dataset | None = None) -> list[str]:
    return [row["o"].value for row in store.answer(select("s", "p", "o", dataset=dataset), text, base)]


@pytest.fixture
def store() -> Iterator[OxigraphStore]:
    opened = OxigraphStore()
    opened.load(DATA, format="turtle")
    yield opened
    opened.close()


# The embedded store


def test_three_forms_of_answer(store: OxigraphStore) -> None:
    solutions = store.answer(select("s", "o", "free"), "SELECT ?s ?o ?free { ?s ?p ?o } ORDER BY ?s LIMIT 1")
    assert solutions.variables == ("s", "o", "free")
    assert solutions.rows == [{"s": A, "o": Literal(1)}]
    assert store.answer(ASK, "ASK { <http://e/a> ?p ?o }").boolean is True
    assert store.answer(ASK, "ASK { <http://e/z> ?p ?o }").boolean is False
    assert store.answer(CONSTRUCT, "CONSTRUCT { ?s ?p 7 } { ?s ?p 1 }").triples == [Triple(A, P, Literal(7))]


def test_variables_come_in_the_order_of_the_query(store: OxigraphStore) -> None:
    assert store.answer(select("s", "p", "o"), ALL).variables == ("s", "p", "o")


def test_base_of_the_query(store: OxigraphStore) -> None:
    assert objects(store, "SELECT ?s ?p ?o { BIND (<b> AS ?s) ?s ?p ?o }", base="http://e/") == ["2"]


def test_load_counts_and_moves_the_version(store: OxigraphStore) -> None:
    before = store.version
    assert store.load([Quad(A, P, Literal(3)), Triple(A, P, Literal(3))]) == 2
    assert store.version > before


@pytest.mark.parametrize("on_disk", [False, True])
def test_a_failed_load_leaves_the_store_unchanged(tmp_path: Path, on_disk: bool) -> None:
    store = OxigraphStore(tmp_path / "db" if on_disk else None)
    store.load(DATA, format="turtle")
    version = store.version
    good = b"".join(b"<http://e/s%d> <http://e/p> <http://e/o> .\n" % number for number in range(20_000))
    with pytest.raises(LoadError, match="line 20001, column 1"):
        store.load(good + b"oops", graph="http://e/g", format="nt")
    assert objects(store) == ["1", "2"]
    assert store.version == version
    assert not store.answer(ASK, "ASK { GRAPH ?g {} }")


def test_a_failing_iterable_leaves_the_store_as_it_was(store: OxigraphStore) -> None:
    def broken() -> Iterator[Triple]:
        yield Triple(A, P, Literal(9))
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        store.load(broken())
    assert objects(store) == ["1", "2"]


def test_directory_keeps_the_data(tmp_path: Path) -> None:
    first = open_store(f"oxigraph:{tmp_path / 'db'}")
    first.load(DATA, format="turtle")
    with pytest.raises(StoreError, match=r"opening .*db"):
        OxigraphStore(tmp_path / "db")
    first.close()
    assert objects(OxigraphStore(tmp_path / "db")) == ["1", "2"]


def test_from_restricts_to_loaded_graphs(store: OxigraphStore) -> None:
    graph = NamedNode("http://e/g")
    store.load([Triple(A, P, Literal(5))], graph=graph)
    text = "SELECT * FROM <http://e/g> { ?s ?p ?o }"
    assert objects(store, text, dataset=Dataset((graph,), ())) == ["5"]
    text = "SELECT * FROM NAMED <http://e/g> { ?s ?p ?o }"
    assert objects(store, text, dataset=Dataset((), (graph,))) == []


def test_from_of_an_empty_but_loaded_graph(store: OxigraphStore) -> None:
    store.load([], graph="http://e/empty")
    dataset = Dataset((NamedNode("http://e/empty"),), ())
    assert objects(store, "SELECT * FROM <http://e/empty> { ?s ?p ?o }", dataset=dataset) == []


def test_from_is_never_fetched(store: OxigraphStore) -> None:
    with pytest.raises(RefusedError, match=r"FROM <http://e/none> names no graph .* does not fetch"):
        objects(store, "SELECT * FROM <http://e/none> { ?s ?p ?o }", dataset=Dataset((NamedNode("http://e/none"),), ()))


def test_check_dataset() -> None:
    check_dataset(None, ())
    check_dataset(Dataset((A,), (B,)), {A, B})
    with pytest.raises(RefusedError, match="FROM NAMED <http://e/b> names no graph"):
        check_dataset(Dataset((A,), (B,)), {A})


def test_a_query_that_only_oxigraph_rejects_is_a_query_error(store: OxigraphStore) -> None:
    with pytest.raises(QueryError, match="oxigraph cannot run this query"):
        store.answer(ASK, "ASK { nonsense")


def test_closed(store: OxigraphStore) -> None:
    store.close()
    store.close()
    with pytest.raises(StoreError, match="closed"):
        store.answer(ASK, "ASK {}")


# From a spec to a store


def test_names_and_instances(store: OxigraphStore) -> None:
    assert {"oxigraph", "spark", "sparql"} <= set(STORES.names())
    assert isinstance(open_store("oxigraph"), OxigraphStore)
    assert isinstance(open_store("sparql:http://localhost:1/query"), EndpointStore)
    assert open_store(store) is store
    assert isinstance(store, Store)
    assert isinstance(open_store("sparql:http://localhost:1/"), Store)


def test_unknown_name_suggests() -> None:
    with pytest.raises(SetupError, match=r"'oxigraf': did you mean 'oxigraph'\?"):
        open_store("oxigraf")
    with pytest.raises(SetupError, match=r"'xyz': installed are .*oxigraph, spark, sparql; .* penstock\.stores"):
        open_store("xyz:1")


def test_plug_in() -> None:
    offered = EntryPoints([EntryPoint("mine", f"{OxigraphStore.__module__}:OxigraphStore", STORES.group)])
    stores = replace(STORES, entry_points=offered.select)
    assert "mine" in stores.names()
    assert isinstance(open_store("mine", stores, path=None), OxigraphStore)


# The remote store, against a server that speaks the protocol and answers through pyoxigraph


class Server:
    """A SPARQL endpoint on loopback that remembers what it was asked."""

    def __init__(self, server: HTTPServer, accepts: Iterable[str] = ("application/sparql-query",)) -> None:
        self.store = pyoxigraph.Store()
        self.store.load(DATA, RdfFormat.TURTLE)
        self.accepts = set(accepts)
        self.results = QueryResultsFormat.JSON
        self.content_types: list[str] = []
        self.url = server.url_for("/query")
        server.expect_request("/query", method="POST").respond_with_handler(self.respond)

    def respond(self, request: Request) -> Response:
        self.content_types.append(request.mimetype)
        if request.mimetype not in self.accepts:
            return Response("no such type here", status=415)
        form = request.mimetype == "application/x-www-form-urlencoded"
        text = request.form["query"] if form else request.get_data().decode()
        try:
            found = self.store.query(text)
        except SyntaxError as error:
            return Response(f"\n{error.msg}\nand a long trace", status=400)
        if isinstance(found, QueryTriples):
            assert "application/n-triples" in request.headers["Accept"]
            return Response(found.serialize(format=RdfFormat.N_TRIPLES), content_type="application/n-triples")
        assert self.results.media_type in request.headers["Accept"]
        return Response(found.serialize(format=self.results), content_type=f"{self.results.media_type}; charset=utf-8")


@pytest.fixture
def server(httpserver: HTTPServer) -> Server:
    return Server(httpserver)


@pytest.fixture
def remote(server: Server) -> Iterator[EndpointStore]:
    opened = EndpointStore(server.url)
    yield opened
    opened.close()


@pytest.mark.parametrize("results", [QueryResultsFormat.JSON, QueryResultsFormat.XML])
def test_remote_round_trip(server: Server, remote: EndpointStore, results: QueryResultsFormat) -> None:
    server.results = results
    solutions = remote.answer(select("s", "p", "o"), ALL)
    assert solutions.rows == [{"s": A, "p": P, "o": Literal(1)}, {"s": B, "p": P, "o": Literal(2)}]
    assert remote.answer(ASK, "ASK { ?s ?p 'é' }").boolean is False
    assert remote.answer(CONSTRUCT, "CONSTRUCT { ?s ?p '漢' } { ?s ?p 1 }").triples == [Triple(A, P, Literal("漢"))]


def test_remote_unbound_variables_are_absent(remote: EndpointStore) -> None:
    answer = remote.answer(select("s", "free"), "SELECT ?s ?free { ?s ?p 1 }")
    assert answer.variables == ("s", "free")
    assert answer.rows == [{"s": A}]


def test_remote_base(remote: EndpointStore) -> None:
    assert objects(remote, "SELECT ?s ?p ?o { BIND (<b> AS ?s) ?s ?p ?o }", base="http://e/") == ["2"]
    with pytest.raises(QueryError, match="base='x> y'"):
        remote.answer(ASK, "ASK {}", "x> y")


def test_remote_that_wants_forms_is_asked_in_forms(server: Server, remote: EndpointStore) -> None:
    form = "application/x-www-form-urlencoded"
    server.accepts = {form}
    assert objects(remote) == objects(remote) == ["1", "2"]
    assert server.content_types == ["application/sparql-query", form, form]


def test_remote_error_in_one_sentence(remote: EndpointStore) -> None:
    with pytest.raises(StoreError, match=r"/query answered 400 BAD REQUEST error at 1:9: .*") as caught:
        remote.answer(ASK, "ASK oops")
    assert "trace" not in str(caught.value)


def test_remote_redirection_is_told_not_followed(httpserver: HTTPServer) -> None:
    httpserver.expect_request("/old").respond_with_data("", status=301, headers={"Location": "http://e/new"})
    with pytest.raises(StoreError, match=r"answered 301 MOVED PERMANENTLY \(see http://e/new\)"):
        EndpointStore(httpserver.url_for("/old")).answer(ASK, "ASK {}")


@pytest.mark.parametrize(
    ("body", "media_type"),
    [
        ("<html>login</html>", "text/html"),
        ('{"head": {"vars": ["s"]}, "results": {"bindings": [', "application/sparql-results+json"),
        ("", "application/sparql-results+xml"),
    ],
)
def test_remote_nonsense(httpserver: HTTPServer, body: str, media_type: str) -> None:
    httpserver.expect_request("/query").respond_with_data(body, content_type=media_type)
    with pytest.raises(StoreError, match="cannot be read"):
        EndpointStore(httpserver.url_for("/query")).answer(select("s"), "SELECT ?s {}")


def test_an_unreachable_endpoint_is_an_error(httpserver: HTTPServer) -> None:
    httpserver.stop()
    with pytest.raises(StoreError, match=r"did not answer: .*refused"):
        EndpointStore(httpserver.url_for("/query")).answer(ASK, "ASK {}")
    httpserver.start()


def test_remote_that_is_too_slow() -> None:
    def slow(request: httpx.Request) -> httpx.Response:
        raise httpx.ReadTimeout("timed out", request=request)

    client = httpx.Client(transport=httpx.MockTransport(slow))
    with pytest.raises(StoreError, match="did not answer: timed out"):
        EndpointStore("http://e/query", client=client).answer(ASK, "ASK {}")


def test_remote_is_only_read(remote: EndpointStore) -> None:
    with pytest.raises(LoadError, match="is only read"):
        remote.load(DATA, format="turtle")


def test_remote_closed(remote: EndpointStore) -> None:
    remote.close()
    with pytest.raises(StoreError, match="closed"):
        remote.answer(ASK, "ASK {}")


def test_remote_leaves_a_given_client_open(server: Server) -> None:
    with httpx.Client() as client:
        EndpointStore(server.url, client=client).close()
        assert objects(EndpointStore(server.url, client=client)) == ["1", "2"]


@pytest.mark.parametrize("spec", ["sparql", "sparql:", "sparql:localhost/query", "sparql:ftp://e/"])
def test_remote_needs_a_url(spec: str) -> None:
    with pytest.raises(SetupError, match="needs a URL"):
        open_store(spec)
