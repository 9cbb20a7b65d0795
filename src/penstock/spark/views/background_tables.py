"""Background tables: the triples of any store as tables that Spark reads."""

from __future__ import annotations

from pyspark.sql import SparkSession

from penstock.algebra.ops import Dataset, Query
from penstock.answer import Answer
from penstock.compile.context import Tables
from penstock.compile.entailment import EntailmentRewriter
from penstock.knowledge.store import Store, check_dataset
from penstock.model.stream_files import StreamFiles
from penstock.optimise import PredicateCounts
from penstock.spark.session.catalog import catalog
from penstock.spark.statistics import predicate_scan, stream_sample
from penstock.spark.store.entailed_triples import EntailedTriples
from penstock.spark.store.store import SparkStore
from penstock.spark.store.triples import Triples, union
from penstock.spark.views.static_views import StaticViewCache
from penstock.spark.views.stream_scans import StreamScans
from penstock.spark.views.view_cache import ViewCache
from penstock.tuning import DEFAULT, Tuning


class BackgroundTables:
    """The store's triples in Spark: the tables of a Spark store, else a copy, which is renewed when the store changes.

    All queries share the views: `static_views` of the background, `scans` of the streams, `change_instants`, the
    evaluation instants of windows that change with every element, and `window_unions`, several windows as one relation.
    """

    def __init__(self, session: SparkSession, store: Store, tuning: Tuning = DEFAULT) -> None:
        self.session, self.tuning = session, tuning
        self._store = store
        self._copy: Triples | None = None
        self._copied: int | None = None
        self._changes: dict[int, frozenset[str] | None] = {}
        self._entailed: EntailmentRewriter | None = None
        self._stream_predicates: dict[tuple[str, ...], frozenset[str] | None] = {}
        self._counted: dict[tuple[str, ...], PredicateCounts] = {}
        self.static_views, self.scans = StaticViewCache(self), StreamScans(session, tuning)
        self.change_instants = ViewCache[str]("instants", catalog(session).drop)
        self.window_unions = ViewCache[str]("windows", catalog(session).drop)

    @property
    def version(self) -> int:
        """The version of the store, which each change increments."""
        return self._store.version

    def touched(self, since: int) -> frozenset[str] | None:
        """Return the IRIs of the predicates that have changed since that version; None if any may have."""
        triples = self.triples
        if isinstance(triples, EntailedTriples) or getattr(self._store, "ontology", None) is not None:
            return None
        if self.is_spark:
            return triples.touched(since)
        return union(changed for version, changed in self._changes.items() if version > since)

    def tables(self, dataset: Dataset | None) -> Tables:
        if dataset is not None:
            check_dataset(dataset, self.triples.graph_names)
        return self.triples.tables(dataset)

    @property
    def is_spark(self) -> bool:
        """Whether the store is in Spark itself."""
        return isinstance(self._store, SparkStore)

    def answer(self, query: Query, text: str) -> Answer:
        """Return the store's own answer to a query."""
        return self._store.answer(query, text)

    @property
    def statistics(self) -> PredicateCounts:
        return self.triples.statistics

    def predicates(self) -> frozenset[str] | None:
        """Return the encoded predicates that occur in any graph; None if they are too many to list."""
        counts = self.statistics.predicates
        encoded = None if len(counts) >= self.tuning.known_predicates else frozenset(f"<{p}>" for p in counts)
        return encoded if self.entailed is None else self.entailed.predicates(encoded)

    @property
    def entailed(self) -> EntailmentRewriter | None:
        """The entailment by the current ontology; None without one."""
        ontology = getattr(self._store, "ontology", None)
        if ontology is None:
            return None
        if self._entailed is None or self._entailed.ontology is not ontology:
            if self._entailed is not None:
                self._entailed.close()
            self._entailed = EntailmentRewriter(ontology, catalog(self.session), self.tuning)
        return self._entailed if ontology.active else None

    def stream_predicates(self, stream: StreamFiles) -> frozenset[str] | None:
        """Return the predicates of a stream; a scan finds them once if they are not known."""
        if stream.predicates is not None:
            return stream.predicates
        if stream.paths not in self._stream_predicates:
            self._stream_predicates = {stream.paths: predicate_scan.predicates(self.session, stream.paths, self.tuning)}
        return self._stream_predicates[stream.paths]

    def counts(self, stream: StreamFiles) -> PredicateCounts:
        """Estimate the frequency of a stream's predicates and terms, from a sample that is read once."""
        if stream.paths not in self._counted:
            if len(self._counted) >= self.tuning.counted_streams:
                self._counted.clear()
            self._counted[stream.paths] = stream_sample.counts(stream.paths, stream.rows, self.tuning)
        return self._counted[stream.paths]

    @property
    def triples(self) -> Triples | EntailedTriples:
        """The tables that queries read, copied from the store if it has changed."""
        if isinstance(self._store, SparkStore):
            return self._store.triples
        if self._copy is None or self._copied != self._store.version:
            before, self._copy = self._copy, Triples(self.session, self.tuning)
            self._copied = self._store.version
            self._copy.add_quads(self._store.quads())
            self._copy.add_graphs(self._store.graphs())
            if before is not None:
                self._changes[self._copied] = self._copy.differing(before)
                before.clear()
        return self._copy
