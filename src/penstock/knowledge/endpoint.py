"""A remote SPARQL 1.1 endpoint as a store: https://www.w3.org/TR/sparql11-protocol/."""

from __future__ import annotations

from collections.abc import Iterator
from typing import cast

import httpx
from pyoxigraph import (
    DefaultGraph,
    NamedNode,
    Quad,
    QueryBoolean,
    QueryResultsFormat,
    QuerySolution,
    RdfFormat,
    Triple,
    parse,
    parse_query_results,
)

from penstock.algebra.build import translate
from penstock.algebra.ops import Construct, Describe, Query
from penstock.answer import Answer, Row
from penstock.errors import LoadError, QueryError, SetupError, StoreError
from penstock.io.formats import Source, Target

__all__ = ["EndpointStore"]

_RESULTS = "application/sparql-results+json, application/sparql-results+xml;q=0.8"
_GRAPHS = "application/n-triples, text/turtle;q=0.8, application/rdf+xml;q=0.6"


class EndpointStore:
    """A store whose data is on a server, which answers the queries and is only read."""

    version = 0

    def __init__(self, url: str = "", *, timeout: float = 60.0, client: httpx.Client | None = None) -> None:
        """`client` is for what else httpx can do: authentication, proxies, certificates. It is not closed here."""
        if not url.startswith(("http://", "https://")):
            raise SetupError(f'A remote store needs a URL, as in "sparql:https://…/query", not {url!r}.')
        self._url = url
        self._owns_client = client is None
        self._client = client or httpx.Client(timeout=timeout)
        self._send = self._post_query

    def load(self, source: Source, graph: Target = None, base: str | None = None, format: str | None = None) -> int:
        """Refused: the data is the server's own."""
        raise LoadError(f"{self._url} is only read: load the data there, or into an oxigraph or spark background.")

    def answer(self, query: Query, text: str, base: str | None = None) -> Answer:
        """See `Store.answer`. The server decides which graphs FROM can name."""
        is_graph = isinstance(query.form, Construct | Describe)
        response = self._ask(_with_base(text, base), _GRAPHS if is_graph else _RESULTS)
        try:
            return _graph(response) if is_graph else _solutions(query, response)
        except (SyntaxError, ValueError) as error:
            raise StoreError(f"{self._url} sent an answer that cannot be read: {error}.") from error

    def quads(self) -> Iterator[Quad]:
        """See `Store.quads`. The server's data is copied as it is now: changes on the server are not noticed."""
        for text in ("SELECT ?s ?p ?o { ?s ?p ?o }", "SELECT ?s ?p ?o ?g { GRAPH ?g { ?s ?p ?o } }"):
            for row in self.answer(translate(text), text):
                yield Quad(row["s"], row["p"], row["o"], row.get("g", DefaultGraph()))

    def graphs(self) -> frozenset[NamedNode]:
        """See `Store.graphs`."""
        text = "SELECT DISTINCT ?g { GRAPH ?g { ?s ?p ?o } }"
        return frozenset(row["g"] for row in self.answer(translate(text), text))

    def close(self) -> None:
        """See `Store.close`."""
        if self._owns_client:
            self._client.close()

    def _ask(self, text: str, accept: str) -> httpx.Response:
        try:
            response = self._send(text, accept)
            if response.status_code == httpx.codes.UNSUPPORTED_MEDIA_TYPE:
                self._send = self._post_form
                response = self._send(text, accept)
        except (httpx.HTTPError, httpx.InvalidURL, RuntimeError) as error:  # RuntimeError: the client is closed
            raise StoreError(f"{self._url} did not answer: {error or type(error).__name__}.") from error
        if not response.is_success:
            raise StoreError(f"{self._url} answered {_status(response)}.")
        return response

    def _post_query(self, text: str, accept: str) -> httpx.Response:
        headers = {"Accept": accept, "Content-Type": "application/sparql-query; charset=utf-8"}
        return self._client.post(self._url, content=text.encode(), headers=headers)

    def _post_form(self, text: str, accept: str) -> httpx.Response:
        """Send the query as a form, for servers that accept no other request."""
        return self._client.post(self._url, data={"query": text}, headers={"Accept": accept})


def _with_base(text: str, base: str | None) -> str:
    if base is None:
        return text
    try:
        return f"BASE {NamedNode(base)}\n{text}"
    except ValueError as error:
        raise QueryError(f"base={base!r} is not an absolute IRI: {error}") from error


def _status(response: httpx.Response) -> str:
    """Status, reason, where a redirection leads, and the first line of the server's message."""
    said = next((line.strip() for line in response.text.splitlines() if line.strip()), "")
    target = response.headers.get("Location")
    parts = [f"{response.status_code} {response.reason_phrase}", f"(see {target})" if target else "", said[:200]]
    return " ".join(filter(None, parts)).rstrip(".")


def _media_type(response: httpx.Response) -> str:
    return str(response.headers.get("Content-Type", "")).partition(";")[0].strip()


def _graph(response: httpx.Response) -> Answer:
    format = RdfFormat.from_media_type(_media_type(response)) or RdfFormat.N_TRIPLES
    return Answer.graph(quad.triple for quad in parse(response.content, format, base_iri=str(response.url)))


def _solutions(query: Query, response: httpx.Response) -> Answer:
    format = QueryResultsFormat.from_media_type(_media_type(response)) or QueryResultsFormat.JSON
    results = parse_query_results(response.content, format)
    if isinstance(results, QueryBoolean):
        return Answer.ask(bool(results))
    names = tuple(var.name for var in query.variables)
    sent = {variable.value for variable in results.variables}
    return Answer.solutions(names, (_row([name for name in names if name in sent], row) for row in results))


def _row(names: list[str], solution: QuerySolution) -> Row:
    row = {name: term for name in names if (term := solution[name]) is not None}
    for term in row.values():
        if isinstance(term, Triple):
            raise ValueError(f"triple terms are not RDF 1.1: {term}")
    return cast(Row, row)
