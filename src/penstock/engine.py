"""The engine: background knowledge in, queries in, answers out."""

from __future__ import annotations

from collections.abc import Collection
from types import TracebackType
from typing import TYPE_CHECKING

from penstock.algebra.build import translate
from penstock.answer import Answer
from penstock.errors import PenstockError, StoreError
from penstock.io.formats import Source, Target
from penstock.knowledge.store import Store, StoreSpec, open_store
from penstock.optimise import ALL_RULES

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

__all__ = ["Engine"]


class Engine:
    """Answers SPARQL over background knowledge.

        with penstock.Engine() as engine:
            engine.load("city.ttl")
            print(engine.query("SELECT * { ?s ?p ?o } LIMIT 5"))

    `background` names the store: "oxigraph" (embedded, the default), "oxigraph:DIRECTORY" (on disk), "spark" (the
    triples as DataFrames, every query compiled to Spark), "sparql:URL" (a remote endpoint), or a store of your own.
    `spark` shares a session, which is never stopped here; without one, Spark is started when it is first needed, on
    `master` or on this machine. `rules` names the optimiser's rules to use, all by default; no choice of them changes
    an answer.
    """

    def __init__(
        self,
        background: StoreSpec = "oxigraph",
        *,
        spark: SparkSession | None = None,
        master: str | None = None,
        rules: Collection[str] | None = None,
    ) -> None:
        _check_rules(rules)
        self._given, self._master = spark, master
        self._started: SparkSession | None = None
        self._closed = False
        options = {"spark": spark, "master": master, "rules": rules} if background == "spark" else {}
        self._store = open_store(background, **options)

    @property
    def spark(self) -> SparkSession:
        """The Spark session: the one given, else the embedded one, started now if it was not needed so far."""
        own = getattr(self._open(), "spark", None)
        if own is not None:
            return own  # type: ignore[no-any-return]
        if self._given is None and self._started is None:
            from penstock.spark import session

            self._started = session.start(self._master)
        return self._given or self._started  # type: ignore[return-value]

    def load(self, source: Source, graph: Target = None, base: str | None = None, format: str | None = None) -> int:
        """Add background knowledge and return how many statements were read.

        `source` is a file (Turtle, N-Triples, N-Quads, TriG, RDF/XML or JSON-LD by its extension, or `format`; also
        gzipped), bytes with `format`, or pyoxigraph triples. `graph` puts its default graph into a named one, `base`
        resolves relative IRIs. A malformed source raises `LoadError` and leaves everything as it was.
        """
        return self._open().load(source, graph, base, format)

    def query(self, text: str, base: str | None = None) -> Answer:
        """Answer one SPARQL 1.1 query. A mistake in it raises `QueryError`, which says where and what to do."""
        return self._open().answer(translate(text, base), text, base)

    def _dataframe(self, text: str, base: str | None = None) -> DataFrame:
        """The DataFrame of a SELECT on the Spark store, unexecuted; for benchmarks."""
        from penstock.spark.store import SparkStore

        store = self._open()
        if not isinstance(store, SparkStore):
            raise PenstockError('only Engine(background="spark") compiles whole queries to DataFrames')
        return store.frame(translate(text, base))

    def close(self) -> None:
        """Let go of the store, and of Spark if it was started here. Closing twice is harmless."""
        self._closed = True
        self._store.close()
        if self._started is not None:
            from penstock.spark import session

            session.stop(self._started)
            self._started = None

    def _open(self) -> Store:
        if self._closed:
            raise StoreError("This engine has been closed: make a new one.")
        return self._store

    def __enter__(self) -> Engine:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def _check_rules(rules: Collection[str] | None) -> None:
    known = {rule.name for rule in ALL_RULES}
    if rules is not None and (unknown := sorted(set(rules) - known)):
        raise ValueError(f"unknown rules: {', '.join(unknown)}; there are {', '.join(sorted(known))}")
