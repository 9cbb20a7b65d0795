"""Background knowledge as tables that Spark can read, whatever store it is in."""

from __future__ import annotations

from functools import cached_property

from pyspark.sql import SparkSession

from penstock.algebra.ops import Dataset, Query
from penstock.answer import Answer
from penstock.knowledge.store import Store, check_dataset
from penstock.optimise import PredicateCounts
from penstock.spark import sample, survey
from penstock.spark.closed import ClosedTriples
from penstock.spark.contents import Stream
from penstock.spark.context import Tables
from penstock.spark.entailed import Entailed
from penstock.spark.jobs import Jobs
from penstock.spark.scans import Scans
from penstock.spark.settled import Settled
from penstock.spark.sharing import Sharing
from penstock.spark.store import SparkStore
from penstock.spark.triples import MOST_PREDICATES, Triples, union

_STREAMS = 16  # whose counts are kept


class Background:
    """The store's triples in Spark: its own where it is one, else a copy, made anew when the store has changed."""

    def __init__(self, session: SparkSession, store: Store) -> None:
        self.session = session
        self._store = store
        self._copy: Triples | None = None
        self._copied: int | None = None
        self._changes: dict[int, frozenset[str] | None] = {}
        self._entailed: Entailed | None = None
        self._surveyed: dict[tuple[str, ...], frozenset[str] | None] = {}
        self._counted: dict[tuple[str, ...], PredicateCounts] = {}

    @property
    def version(self) -> int:
        return self._store.version

    @cached_property
    def settled(self) -> Settled:
        """What is answered once for all queries."""
        return Settled(self)

    @cached_property
    def scans(self) -> Scans:
        """The streams, as all queries read them."""
        return Scans(self.session)

    @cached_property
    def sharing(self) -> Sharing:
        """What queries have in common."""
        return Sharing(Jobs(self.session))

    def touched(self, since: int) -> frozenset[str] | None:
        """The IRIs of predicates whose triples are others than at that version; None: any may be."""
        triples = self.triples
        if isinstance(triples, ClosedTriples) or getattr(self._store, "ontology", None) is not None:
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
        """The store's own answer."""
        return self._store.answer(query, text)

    @property
    def statistics(self) -> PredicateCounts:
        return self.triples.statistics

    def predicates(self) -> frozenset[str] | None:
        """The encoded predicates that occur in any graph; None if there are too many to know."""
        counts = self.statistics.predicates
        known = None if len(counts) >= MOST_PREDICATES else frozenset(f"<{p}>" for p in counts)
        return known if self.entailed is None else self.entailed.predicates(known)

    @property
    def entailed(self) -> Entailed | None:
        """What follows from triples by the ontology as it is now; None: nothing."""
        ontology = getattr(self._store, "ontology", None)
        if ontology is None:
            return None
        if self._entailed is None or self._entailed.ontology is not ontology:
            if self._entailed is not None:
                self._entailed.close()
            self._entailed = Entailed(ontology, self.session)
        return self._entailed if ontology.active else None

    def surveyed(self, stream: Stream) -> frozenset[str] | None:
        """The predicates of a stream, looked for once where they are not known."""
        if stream.predicates is not None:
            return stream.predicates
        if stream.paths not in self._surveyed:
            self._surveyed = {stream.paths: survey.predicates(self.session, stream.paths)}
        return self._surveyed[stream.paths]

    def counts(self, stream: Stream) -> PredicateCounts:
        """About how often its predicates and terms occur, looked for once."""
        if stream.paths not in self._counted:
            if len(self._counted) == _STREAMS:
                self._counted.clear()
            self._counted[stream.paths] = sample.counts(stream.paths, stream.rows)
        return self._counted[stream.paths]

    @property
    def triples(self) -> Triples | ClosedTriples:
        """The tables themselves."""
        if isinstance(self._store, SparkStore):
            return self._store.triples
        if self._copy is None or self._copied != self._store.version:
            before, self._copy = self._copy, Triples(self.session)
            self._copied = self._store.version
            self._copy.add_quads(self._store.quads())
            self._copy.add_graphs(self._store.graphs())
            if before is not None:
                self._changes[self._copied] = self._copy.differing(before)
                before.clear()
        return self._copy
