"""A store that speaks SPARQL 1.1 Update: the graphs of a CONSTRUCT are written into named graphs.

    sparql+https://example.org/update#graph=http://example.org/{query}/{time}&token=${env:TOKEN}

A graph is a set, so a batch that comes again, also one that has grown, adds only what is not there yet. For that its
blank nodes are IRIs, made of the query, the instant and the node's label in RDFC-1.0, which equal graphs share.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal
from urllib.parse import quote

import httpx
from pyoxigraph import BlankNode, CanonicalizationAlgorithm, Dataset, NamedNode, Quad, Triple

from penstock.answer import Answer
from penstock.errors import OptionError
from penstock.io.connect.http import HttpOptions, check_request, failure_of, http_client, reason_of
from penstock.io.results import time_text
from penstock.io.sinks.connector import SinkConnector
from penstock.io.sinks.sink import Batch

__all__ = ["SparqlOptions", "SparqlSink"]

_BOOK = "urn:penstock:batches"
_WORDS = "urn:penstock:words:"
_INTEGER = "http://www.w3.org/2001/XMLSchema#integer"
_GRAPHS = {"append": "urn:penstock:{query}/{time}", "replace": "urn:penstock:{query}"}
_UPDATE = {"Content-Type": "application/sparql-update; charset=utf-8"}


@dataclass(frozen=True, slots=True)
class SparqlOptions(HttpOptions):
    """`graph` is the IRI of the named graph, in which {query} and {time} are filled in; with `mode=replace` it has the
    latest answer only. `key` goes before the query's name, so that several engines may share a store. `largest` is the
    number of bytes of a request, unless one triple has more."""

    graph: str | None = None
    mode: Literal["append", "replace"] = "append"
    key: str = ""
    largest: int = 1 << 20


class SparqlSink(SinkConnector):
    """One request a batch, or several for a large one: the last notes its number in the graph urn:penstock:batches."""

    kind = "sparql"
    Options = SparqlOptions
    kinds = ("graph",)
    _client: httpx.Client | None = None

    def check(self) -> None:
        check_request(self.kind, self.address.resource, self.options)
        if self.options.largest < 1:
            raise OptionError("sparql: largest is a number of bytes, more than 0")
        self._graph = self.options.graph or _GRAPHS[self.options.mode]
        if self.options.mode == "replace" and "{time}" in self._graph:
            raise OptionError("sparql: with mode=replace a graph has the latest answer: leave {time} out of graph")
        try:
            NamedNode(self._named("q", "t"))
        except ValueError:
            raise OptionError(f"sparql: the option graph is an IRI, not {self._graph!r}") from None

    def send(self, batch: Batch) -> None:
        query = quote(self.options.key + batch.query, safe="-._~")
        answers = list(batch.answers)
        written = answers[-1:] if self.options.mode == "replace" else answers
        steps = [step for answer in written for step in self._steps(query, answer)]
        for some in _pieces([*steps, _noted(query, batch.number, len(answers))], self.options.largest):
            self._post(" ;\n".join(some), batch)

    def close(self) -> None:
        if self._client is not None:
            self._client.close()
            self._client = None

    def _steps(self, query: str, answer: Answer) -> Iterator[str]:
        """The updates for one answer."""
        time = _instant(answer)
        stamp = "" if time is None else time_text(time)
        graph = self._named(query, stamp)
        if self.options.mode == "replace":
            yield f"CLEAR SILENT GRAPH <{graph}>"
        triples = _skolemised(answer, f"urn:penstock:blank:{query}:{stamp}:")
        for lines in _pieces((f"{triple} .\n" for triple in triples), self.options.largest):
            yield f"INSERT DATA {{ GRAPH <{graph}> {{\n{''.join(lines)}}} }}"

    def _named(self, query: str, time: str) -> str:
        return self._graph.replace("{query}", query).replace("{time}", time)

    def _post(self, update: str, batch: Batch) -> None:
        if self._client is None:
            self._client = http_client(self.options, redirects=False)
        try:
            response = self._client.post(self.address.resource, content=update.encode(), headers=_UPDATE)
        except httpx.HTTPError as error:
            raise ConnectionError(reason_of(error)) from None
        if reason := failure_of(response) or (None if response.is_success else "the server says 304 Not Modified"):
            raise ConnectionError(f"{reason} to the batch {batch.query}/{batch.number}")


def _instant(answer: Answer) -> datetime | None:
    return next(iter(answer.when.values()), None)


def _noted(query: str, number: int, answers: int) -> str:
    """The update that notes the newest batch of a query, in place of the one before."""
    subject = f"<urn:penstock:query:{query}>"
    facts = " ; ".join(f'<{_WORDS}{word}> "{n}"^^<{_INTEGER}>' for word, n in (("batch", number), ("answers", answers)))
    return (
        f"DELETE WHERE {{ GRAPH <{_BOOK}> {{ {subject} ?p ?o }} }} ;\n"
        f"INSERT DATA {{ GRAPH <{_BOOK}> {{ {subject} {facts} }} }}"
    )


def _pieces(texts: Iterable[str], most: int) -> Iterator[list[str]]:
    """The texts in lists of at most so many bytes; a longer text has a list of its own."""
    some: list[str] = []
    size = 0
    for text in texts:
        length = len(text.encode())
        if some and size + length > most:
            yield some
            some, size = [], 0
        some.append(text)
        size += length
    if some:
        yield some


def _skolemised(answer: Answer, prefix: str) -> Iterator[Triple]:
    """The triples, with IRIs in the place of blank nodes; equal graphs get equal ones."""
    triples = answer.triples or []
    if any(isinstance(term, BlankNode) for triple in triples for term in (triple.subject, triple.object)):
        graph = Dataset(Quad(*triple) for triple in triples)
        graph.canonicalize(CanonicalizationAlgorithm.RDFC_1_0)
        triples = [quad.triple for quad in graph]
    for triple in triples:
        yield Triple(_named(triple.subject, prefix), triple.predicate, _named(triple.object, prefix))


def _named(term: Any, prefix: str) -> Any:
    return NamedNode(prefix + term.value) if isinstance(term, BlankNode) else term
