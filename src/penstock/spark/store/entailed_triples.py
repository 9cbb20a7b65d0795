"""The tables of the Spark store with entailed triples, as SELECTs on the stored tables."""

from __future__ import annotations

from collections.abc import Iterator

from pyoxigraph import NamedNode, Triple
from pyspark.sql import SparkSession

from penstock.algebra.ops import Dataset
from penstock.compile import sql
from penstock.compile.context import Tables
from penstock.compile.entailment import EntailmentRewriter
from penstock.compile.sql import Derived, Query, Select, Table
from penstock.model.term_encoding import decode_triple, encode
from penstock.optimise import PredicateCounts
from penstock.reasoning import Ontology, closed_ontology
from penstock.spark.session.catalog import catalog
from penstock.spark.store.triples import Triples

_G, *_SPO = _GSPO = [sql.name(c) for c in "gspo"]


class EntailedTriples:
    """The interface of `Triples` for the entailed graphs: each triple is in a graph once."""

    def __init__(self, own: Triples, session: SparkSession) -> None:
        self._own, self._session = own, session
        self._entailed: EntailmentRewriter | None = None
        self._axioms = ""
        self._version: int | None = None

    @property
    def statistics(self) -> PredicateCounts:
        """The statistics of the loaded triples, without entailed ones: good enough for an estimate."""
        return self._own.statistics

    @property
    def known_rows(self) -> int | None:
        """The number of loaded triples: see `Triples.known_rows`."""
        return self._own.known_rows

    @property
    def graph_names(self) -> frozenset[NamedNode]:
        return self._own.graph_names

    @property
    def ontology(self) -> Ontology:
        """The ontology of the default graph as it is now."""
        return self._current().ontology

    def tables(self, dataset: Dataset | None) -> Tables:
        """Return the tables of a query: see `Triples.tables`. Entailed axioms are in the default graph."""
        own, entailed = self._own.tables(dataset), self._current()
        if not entailed.ontology.active:
            return own
        stated: list[Query] = [Select(_SPO, own.default)]
        if dataset is None or dataset.adds:
            stated.append(Select(_SPO, Table(self._axioms)))
        named = Select(_GSPO, own.named)
        return Tables(
            Derived(Select(_SPO, entailed.triples(sql.union_all(stated)), distinct=True)),
            Derived(Select(_GSPO, entailed.triples(named), distinct=True)),
            own.graphs,
        )

    def clear(self) -> None:
        if self._entailed is not None:
            self._entailed.close()
        self._entailed, self._version = None, None

    def _current(self) -> EntailmentRewriter:
        if self._entailed is None or self._version != self._own.version:
            self.clear()
            self._version = self._own.version
            self._entailed = EntailmentRewriter(closed_ontology(self._fetch), catalog(self._session), self._own.tuning)
            self._axioms = self._entailed.view(self._entailed.ontology.axioms())
        return self._entailed

    def _fetch(self, predicates: frozenset[NamedNode]) -> Iterator[Triple]:
        among = sql.name("p").among(sql.texts(map(encode, predicates)))
        query = Select(_SPO, self._own.tables(None).default, among)
        for row in catalog(self._session).rows(query).toArrow().to_pylist():
            yield decode_triple(row["s"], row["p"], row["o"])
