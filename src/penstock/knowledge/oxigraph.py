"""The default store: an embedded pyoxigraph, in memory or in a directory."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from os import PathLike

import pyoxigraph
from pyoxigraph import NamedNode, Quad, QueryBoolean, QuerySolutions, QueryTriples

from penstock.algebra.ops import Query
from penstock.answer import Answer
from penstock.errors import QueryError, StoreError
from penstock.io.formats import Source, Target, graph_name, read
from penstock.knowledge.store import check_dataset
from penstock.threads import interruptible

__all__ = ["OxigraphStore"]


class OxigraphStore:
    """Quads in a `pyoxigraph.Store`, which also answers the queries.

    It keeps numbers and dates as values: `"05"^^xsd:integer` comes back as `5`, and an `xsd:negativeInteger` as an
    `xsd:integer`.
    """

    def __init__(self, path: str | PathLike[str] | None = None) -> None:
        self._version = 0
        with _one_sentence(f"opening {path}"):
            self._store: pyoxigraph.Store | None = pyoxigraph.Store(path)

    @property
    def version(self) -> int:
        return self._version

    def load(self, source: Source, graph: Target = None, base: str | None = None, format: str | None = None) -> int:
        """See `Store.load`. The bulk loader is fast, and commits only once the source has come to its end."""
        store = self._open()
        counted = _Counter(read(source, graph, base, format))
        with _one_sentence("loading"):
            store.bulk_extend(counted)
            if graph is not None:
                store.add_graph(graph_name(graph))
        self._version += 1
        return counted.count

    def answer(self, query: Query, text: str, base: str | None = None) -> Answer:
        """See `Store.answer`."""
        store = self._open()
        if query.dataset is not None:
            check_dataset(query.dataset, set(store.named_graphs()))
        with _one_sentence("answering"):
            return interruptible(lambda: _answer(query, store.query(text, base_iri=base)))

    def quads(self) -> Iterable[Quad]:
        """See `Store.quads`."""
        return self._open()

    def graphs(self) -> frozenset[NamedNode]:
        """See `Store.graphs`."""
        return frozenset(g for g in self._open().named_graphs() if isinstance(g, NamedNode))

    def close(self) -> None:
        """See `Store.close`. A directory's lock is let go with the last reference."""
        self._store = None

    def _open(self) -> pyoxigraph.Store:
        if self._store is None:
            raise StoreError("The background store has been closed.")
        return self._store


class _Counter:
    """Counts the quads that pass, without holding them."""

    def __init__(self, quads: Iterator[Quad]) -> None:
        self.count = 0
        self._quads = quads

    def __iter__(self) -> Iterator[Quad]:
        for quad in self._quads:
            self.count += 1
            yield quad


def _answer(query: Query, results: QuerySolutions | QueryBoolean | QueryTriples) -> Answer:
    if isinstance(results, QueryBoolean):
        return Answer.ask(bool(results))
    if isinstance(results, QueryTriples):
        return Answer.graph(results)
    # pyoxigraph sorts the variables of SELECT * by its own lights; the algebra has them as written.
    names = tuple(var.name for var in query.variables)
    return Answer.solutions(names, ({n: t for n in names if (t := row[n]) is not None} for row in results))


@contextmanager
def _one_sentence(doing: str) -> Iterator[None]:
    """pyoxigraph's errors as ours. A syntax error here means that its parser and ours disagree."""
    try:
        yield
    except SyntaxError as error:
        raise QueryError(f"oxigraph cannot run this query: {error.msg}") from error
    except OSError as error:
        raise StoreError(f"The oxigraph store failed in {doing}: {error}.") from error
