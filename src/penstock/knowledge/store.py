"""The protocol of background stores, and the table of store names.

A store is a plug-in: any object with the members of `Store`. Other packages offer theirs through the entry point
group `penstock.stores`, whose values are called with the part of the spec after the colon, if any, and the options.
"""

from __future__ import annotations

from collections.abc import Container, Iterable
from difflib import get_close_matches
from importlib.metadata import EntryPoint, entry_points
from typing import Protocol, TypeAlias, cast, runtime_checkable

import pyoxigraph
from pyoxigraph import NamedNode, Quad

from penstock.algebra.ops import Dataset, Query
from penstock.answer import Answer
from penstock.errors import RefusedError, SetupError
from penstock.io.formats import Source, Target

__all__ = ["Store", "StoreSpec", "check_dataset", "is_plain", "open_store", "store_names"]

GROUP = "penstock.stores"


@runtime_checkable
class Store(Protocol):
    """Background knowledge: quads that can be loaded and asked."""

    @property
    def version(self) -> int:
        """A number that grows with each change, so that views of the store can be kept until then.

        A store that changes without notice (a remote endpoint) has a constant version.
        """

    def load(self, source: Source, graph: Target = None, base: str | None = None, format: str | None = None) -> int:
        """Add all of the source, or raise a `LoadError` and change nothing; how many statements were read.

        Naming a graph makes it exist, even where the source turns out to be empty.
        """

    def answer(self, query: Query, text: str, base: str | None = None) -> Answer:
        """The answer to a query that has been parsed and checked: `text` as written, `query` its algebra."""

    def quads(self) -> Iterable[Quad]:
        """All quads, for queries that join the background with streams."""

    def graphs(self) -> frozenset[NamedNode]:
        """The names of its named graphs."""

    def close(self) -> None:
        """Let go of files and connections. Closing twice is harmless."""


StoreSpec: TypeAlias = str | Store

# Lazy, as third parties' are: a store, or Spark, is imported only when it is used.
_BUILT_IN = {
    "oxigraph": "penstock.knowledge.oxigraph:OxigraphStore",
    "spark": "penstock.spark.store.store:SparkStore",
    "sparql": "penstock.knowledge.endpoint:EndpointStore",
}


def open_store(spec: StoreSpec, **options: object) -> Store:
    """The store of a spec: `"oxigraph"`, `"oxigraph:DIRECTORY"`, `"spark"`, `"sparql:URL"`, or a store itself."""
    if not isinstance(spec, str):
        return spec
    name, _, argument = spec.partition(":")
    factory = _find(name).load()
    return cast(Store, factory(argument, **options) if argument else factory(**options))


def store_names() -> tuple[str, ...]:
    """The names that `open_store` knows on this machine, sorted."""
    return tuple(sorted({*_BUILT_IN, *entry_points(group=GROUP).names}))


def check_dataset(dataset: Dataset | None, known: Container[object]) -> None:
    """Refuse FROM and FROM NAMED of a graph that the store does not hold: Penstock never fetches one."""
    if dataset is None:
        return
    for clause, graphs in (("FROM", dataset.default), ("FROM NAMED", dataset.named)):
        for graph in graphs:
            if graph not in known:
                raise RefusedError(
                    f"{clause} {graph} names no graph that was loaded, and Penstock does not fetch it",
                    hint=f'load it first: engine.load(…, graph="{graph.value}"), or --background {graph.value}=FILE',
                )


def is_plain(text: str, base: str | None) -> bool:
    """Whether a query is SPARQL 1.1 that other engines can read, with none of the words and freedoms of C-SPARQL.

    An engine of the same standard is asked, on no data at all.
    """
    try:
        pyoxigraph.Store().query(text, base_iri=base)
    except SyntaxError:
        return False
    return True


def _find(name: str) -> EntryPoint:
    if name in _BUILT_IN:
        return EntryPoint(name, _BUILT_IN[name], GROUP)
    for found in entry_points(group=GROUP, name=name):
        return found
    known = store_names()
    near = get_close_matches(name, known, n=1)
    guess = f"did you mean {near[0]!r}?" if near else f"known are {', '.join(known)}."
    raise SetupError(f"There is no background store {name!r}: {guess}")
