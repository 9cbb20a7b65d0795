"""Background data with its entailed triples.

A store that can reason has a method `entail`. Around any other there is a copy of the closed graphs, made anew when the
store has changed: background knowledge changes seldom, and is asked often. Streams are never copied: their patterns are
rewritten against the `ontology` (`spark/entailed.py`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from threading import RLock
from typing import get_args

from pyoxigraph import DefaultGraph, NamedNode, Quad, Triple

from penstock.algebra.ops import Query
from penstock.answer import Answer
from penstock.errors import OptionError
from penstock.io.formats import Source, Target
from penstock.knowledge.oxigraph import OxigraphStore
from penstock.knowledge.store import Store
from penstock.options import Entailment
from penstock.reasoning import Ontology, closed_ontology
from penstock.reasoning.owl import need_owlrl, owl_closure

__all__ = ["REGIMES", "EntailedStore", "entailing"]

REGIMES: tuple[str, ...] = get_args(Entailment)


def entailing(store: Store, regime: str) -> Store:
    """The store with entailment: itself, if it can reason, else inside an `EntailedStore`."""
    if regime not in REGIMES:
        raise OptionError(f"entailment is {' or '.join(REGIMES)}, not {regime!r}")
    able = getattr(store, "entail", None)
    if able is None:
        if regime == "owl-rl":
            need_owlrl()
        return EntailedStore(store, regime)
    able(regime)
    return store


class EntailedStore:
    """A store and the closure of its graphs, which answers."""

    def __init__(self, store: Store, regime: str = "rdfs") -> None:
        self._store, self._regime = store, regime
        self._lock = RLock()
        self._version: int | None = None
        self._ontology = Ontology()
        self._copy = OxigraphStore()

    @property
    def version(self) -> int:
        return self._store.version

    @property
    def ontology(self) -> Ontology:
        """The ontology of the default graph in its current version."""
        self._closed()
        return self._ontology

    def load(self, source: Source, graph: Target = None, base: str | None = None, format: str | None = None) -> int:
        """See `Store.load`."""
        with self._lock:
            return self._store.load(source, graph, base, format)

    def answer(self, query: Query, text: str, base: str | None = None) -> Answer:
        """See `Store.answer`."""
        return self._closed().answer(query, text, base)

    def quads(self) -> Iterable[Quad]:
        """See `Store.quads`: the entailed ones included."""
        return self._closed().quads()

    def graphs(self) -> frozenset[NamedNode]:
        """See `Store.graphs`."""
        return self._store.graphs()

    def close(self) -> None:
        """See `Store.close`."""
        self._store.close()
        self._copy.close()

    def _closed(self) -> OxigraphStore:
        with self._lock:
            if self._version != self._store.version:
                self._close_graphs()
                self._version = self._store.version
            return self._copy

    def _close_graphs(self) -> None:
        copy, quads = OxigraphStore(), list(self._store.quads())
        if self._regime == "owl-rl":
            own = (q.triple for q in quads if isinstance(q.graph_name, DefaultGraph))
            others = [q for q in quads if not isinstance(q.graph_name, DefaultGraph)]
            quads = [*others, *(Quad(*t) for t in owl_closure(own))]
        self._ontology = closed_ontology(lambda wanted: _default(quads, wanted))
        copy.load(_following(self._ontology, quads))
        for graph in self._store.graphs():
            copy.load((), graph=graph)
        self._copy.close()
        self._copy = copy


def _default(quads: Iterable[Quad], predicates: frozenset[NamedNode]) -> Iterator[Triple]:
    return (q.triple for q in quads if q.predicate in predicates and isinstance(q.graph_name, DefaultGraph))


def _following(ontology: Ontology, quads: Iterable[Quad]) -> Iterator[Quad]:
    """The quads of each graph with the entailed ones, and of the default graph with the closed axioms."""
    for quad in quads:
        if quad.predicate in ontology.active:
            yield from (Quad(t.subject, t.predicate, t.object, quad.graph_name) for t in ontology.entailed(quad.triple))
        else:
            yield quad
    for axiom in ontology.axioms():
        yield from (Quad(*t) for t in ontology.entailed(axiom))
