"""The protocol of background stores, and the table of store names.

A store is a plug-in: any object with the members of `Store`. Other packages offer theirs through the entry point
group `penstock.stores`, whose values are called with the part of the spec after the colon, if any, and the options.
"""

from __future__ import annotations

from collections.abc import Container, Iterable
from typing import Protocol, TypeAlias, cast, runtime_checkable

import pyoxigraph
from pyoxigraph import NamedNode, Quad

from penstock.algebra.ops import Dataset, Query
from penstock.answer import Answer
from penstock.errors import RefusedError
from penstock.io.formats import Source, Target
from penstock.plug_ins import PlugIns

__all__ = ["STORES", "Store", "StoreSpec", "check_dataset", "is_plain", "open_store"]


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

STORES = PlugIns(
    "penstock.stores",
    "background store",
    {
        "oxigraph": "penstock.knowledge.oxigraph:OxigraphStore",
        "spark": "penstock.spark.store.store:SparkStore",
        "sparql": "penstock.knowledge.endpoint:EndpointStore",
    },
)


def open_store(spec: StoreSpec, stores: PlugIns = STORES, /, **options: object) -> Store:
    """The store of a spec: `"oxigraph"`, `"oxigraph:DIRECTORY"`, `"spark"`, `"sparql:URL"`, or a store itself."""
    if not isinstance(spec, str):
        return spec
    name, _, argument = spec.partition(":")
    factory = stores.load(name)
    return cast(Store, factory(argument, **options) if argument else factory(**options))


def check_dataset(dataset: Dataset | None, existing: Container[object]) -> None:
    """Refuse FROM and FROM NAMED of a graph that the store does not hold: Penstock never fetches one."""
    if dataset is None:
        return
    for clause, graphs in (("FROM", dataset.default), ("FROM NAMED", dataset.named)):
        for graph in graphs:
            if graph not in existing:
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
