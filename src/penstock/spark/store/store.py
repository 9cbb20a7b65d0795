"""The Spark store: background knowledge as DataFrames, every query compiled and run by Spark."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from os import PathLike
from pathlib import Path

from pyoxigraph import NamedNode, Quad
from pyspark.sql import DataFrame, SparkSession

from penstock.algebra import ops
from penstock.answer import Answer
from penstock.errors import LoadError, SetupError, StoreError
from penstock.io.formats import Source, Target
from penstock.model.term_encoding import decode_quad
from penstock.reasoning import Ontology
from penstock.spark.session import arrow_functions, cancellation, session
from penstock.spark.session.catalog import catalog
from penstock.spark.store.entailed_triples import EntailedTriples
from penstock.spark.store.one_shot import OneShotQuery
from penstock.spark.store.triples import Triples
from penstock.tuning import DEFAULT, Tuning


class SparkStore:
    """Triples as DataFrames. It shares the given session; without one it starts Spark when first needed."""

    def __init__(
        self,
        *,
        spark: SparkSession | None = None,
        master: str | None = None,
        rules: Collection[str] | None = None,
        tuning: Tuning = DEFAULT,
    ) -> None:
        self._given = spark
        self._session = spark or session.start(master)
        self._rules, self._tuning = rules, tuning
        self.private_session = session.private(self._session)  # beside the user's: the tables are there
        arrow_functions.register(self.private_session)
        self._triples = Triples(self.private_session, tuning)
        self._entailed: EntailedTriples | None = None
        self._closed = False

    @property
    def spark(self) -> SparkSession:
        """The session that was given, or the embedded one."""
        return self._session

    @property
    def version(self) -> int:
        return self._triples.version

    def entail(self, regime: str) -> None:
        """Make later queries see entailed triples as well."""
        if regime != "rdfs":
            raise SetupError(f'entailment="{regime}" needs the background in memory: the Spark store has "rdfs" alone.')
        self._entailed = EntailedTriples(self._triples, self.private_session)

    @property
    def ontology(self) -> Ontology | None:
        """The ontology of the default graph as it is now; None without entailment."""
        return None if self._entailed is None else self._entailed.ontology

    def load(self, source: Source, graph: Target = None, base: str | None = None, format: str | None = None) -> int:
        """See `Store.load`. A Parquet file (columns s, p, o, perhaps g, of distinct triples) is read where it lies."""
        triples = self._open()
        if not _is_parquet(source, format):
            return triples.add(source, graph, base, format)
        path = Path(source)  # type: ignore[arg-type]
        with cancellation.one_sentence(LoadError, str(path)):
            return cancellation.cancellable(self._session, lambda: triples.add_parquet(path, graph))

    def answer(self, query: ops.Query, text: str, base: str | None = None) -> Answer:
        """See `Store.answer`."""
        self._open()
        with cancellation.one_sentence(StoreError, "Spark could not answer"):
            asked = self._one_shot()
            return cancellation.cancellable(self._session, lambda: asked.answer(query))

    @property
    def triples(self) -> Triples | EntailedTriples:
        """The tables that queries read, also those that join them with streams."""
        return self._entailed or self._open()

    def quads(self) -> Iterator[Quad]:
        """See `Store.quads`; streams read the tables instead."""
        for row in catalog(self.private_session).rows(self._open().all_quads()).toLocalIterator():
            yield decode_quad(row.s, row.p, row.o, row.g)

    def graphs(self) -> frozenset[NamedNode]:
        """See `Store.graphs`."""
        return self._open().graph_names

    def frame(self, query: ops.Query) -> DataFrame:
        """The DataFrame of a SELECT, one column of encoded terms per variable."""
        return self._one_shot().frame(query)

    def _one_shot(self) -> OneShotQuery:
        return OneShotQuery(self.private_session, self.triples, self._rules, self._tuning)

    def close(self) -> None:
        """See `Store.close`. A session that was given is not stopped."""
        if self._closed:
            return
        self._closed = True
        if session.is_running(self._session):
            self._triples.clear()
            if self._entailed is not None:
                self._entailed.clear()
        if self._given is None:
            session.stop(self._session)

    def _open(self) -> Triples:
        if self._closed:
            raise StoreError("The background store has been closed.")
        if not session.is_running(self._session):
            raise StoreError("The Spark session has been stopped, and the background store with it.")
        return self._triples


def _is_parquet(source: Source, format: str | None) -> bool:
    return isinstance(source, str | PathLike) and (format == "parquet" or Path(source).suffix == ".parquet")
