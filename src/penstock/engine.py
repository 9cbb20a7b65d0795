"""The engine: background knowledge and streams in, queries in, answers out.

PySpark and the parts that need it are imported when they are first used: `import penstock` is quick, and an embedded
store needs no JVM.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import ExitStack
from os import PathLike
from pathlib import Path
from threading import RLock
from types import TracebackType
from typing import TYPE_CHECKING

from pyoxigraph import NamedNode

from penstock.algebra.build import translate
from penstock.answer import Answer
from penstock.errors import OptionError, PenstockError, QueryError, StoreError
from penstock.io.formats import Source, Target
from penstock.knowledge.store import Store, StoreSpec, is_plain, open_store
from penstock.optimise import enabled
from penstock.query import Query
from penstock.syntax.parser import too_long
from penstock.tuning import DEFAULT, Tuning

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from penstock.io.sinks import SinkSpec
    from penstock.lift.event_time import TimeUnit
    from penstock.options import Duplicates, Emit, Entailment, Overload, Rounds, StreamFormat, StreamTime, WhenFull
    from penstock.stream.base.checkpoint_lock import CheckpointLock
    from penstock.stream.base.clock import Clock
    from penstock.stream.base.dead_letter import DeadLetter
    from penstock.stream.base.time_values import Duration, Moment
    from penstock.stream.ingest.elements import Elements, When
    from penstock.stream.ingest.stream_declaration import SourceSpec
    from penstock.stream.runtime.progress import EngineStatus, Progress
    from penstock.stream.runtime.runtime import Runtime

__all__ = ["Engine", "iri_option"]


class Engine:
    """Answers SPARQL over background knowledge, and continuous SPARQL over streams joined with it.

        with penstock.Engine() as engine:
            engine.load("city.ttl")
            engine.stream("http://streams.org/citytollgates.trdf", "gates.nq")
            query = engine.register(open("cars.rq").read())
            engine.run()
            for answer in query.answers():
                print(answer.time, answer, sep="\\n")

    `background` names the store: "oxigraph" (embedded, the default), "oxigraph:DIRECTORY" (on disk), "spark" (the
    triples as DataFrames, every query compiled to Spark), "sparql:URL" (a remote endpoint), or a store of your own.
    `spark` shares a session, which is never stopped here; without one, Spark is started when it is first needed, on
    `master` or on this machine. `rules` names the rules and physical choices of the optimiser to use, or with a minus
    before each name those to leave out ("-hash_join"); all are used by default, and none changes an answer.

    `entailment` lets queries match entailed triples of the background and of the streams: "rdfs" by
    subclasses, subproperties, domains and ranges, which the background's default graph states; "owl-rl" by OWL 2 RL in
    the background (the extra `reasoning`), and in the streams by those four.

    `retention` is how long elements are kept for queries of events (EP-SPARQL) that have no bound of their own. It may
    change their answers: those that need older elements. Without it such elements are kept for ever. It is a duration
    such as "1h" or "PT1H"; a warning at registration says which patterns it is for, and the FILTER that bounds them.

    `checkpoint` is a folder for streams, queries and their progress: an engine on the same folder continues where the
    last one stopped, or was stopped. Background knowledge is not in it. One engine owns the folder, from its first use
    of streams to `close()` or the end of its process; another that uses it meanwhile gets a `StoreError`.

    `clock` is what tells the time, and `on_progress` is called with a `Progress` now and then while streams are read
    and answered. `tuning` has the thresholds by which it is chosen how to work; none of them changes the answer at an
    instant.

    By default each round is a job of Spark's. With `rounds` "auto" this process evaluates a round of a few elements
    itself, with the same kernel that Spark's tasks run: an answer then comes some milliseconds after its elements, and
    `run()` over small files starts Spark only if a query needs it.
    """

    def __init__(
        self,
        background: StoreSpec = "oxigraph",
        *,
        spark: SparkSession | None = None,
        master: str | None = None,
        rules: Collection[str] | None = None,
        entailment: Entailment | None = None,
        retention: Duration | None = None,
        checkpoint: str | PathLike[str] | None = None,
        clock: Clock | None = None,
        on_progress: Callable[[Progress], None] | None = None,
        tuning: Tuning = DEFAULT,
        rounds: Rounds = "spark",
    ) -> None:
        enabled(rules)
        if rounds not in ("spark", "auto"):
            raise OptionError(f'rounds is "spark" or "auto", not {rounds!r}')
        self._rounds = rounds
        self._given, self._master, self._rules = spark, master, rules
        self._started: SparkSession | None = None
        self._closed = False
        options = {"spark": spark, "master": master, "rules": rules, "tuning": tuning} if background == "spark" else {}
        self._store = _reasoning(open_store(background, **options), entailment)
        self._retention = _retention(retention)
        self._checkpoint = None if checkpoint is None else Path(checkpoint).absolute()
        self._clock, self._on_progress, self._tuning = clock, on_progress, tuning
        self._made: Runtime | None = None
        self._lock: CheckpointLock | None = None
        self._making = RLock()

    @property
    def spark(self) -> SparkSession:
        """The Spark session: the one given, else the embedded one, started now if it was not needed so far."""
        own: SparkSession | None = getattr(self._open(), "spark", None)
        if own is not None:
            return own
        if self._given is None and self._started is None:
            from penstock.spark.session import session

            self._started = session.start(self._master)
        return self._given or self._started  # type: ignore[return-value]

    # Background knowledge

    def load(self, source: Source, graph: Target = None, base: str | None = None, format: str | None = None) -> int:
        """Add background knowledge and return how many statements were read.

        `source` is a file (Turtle, N-Triples, N-Quads, TriG, RDF/XML or JSON-LD by its extension, or `format`; also
        gzipped), bytes with `format`, or pyoxigraph triples. `graph` puts its default graph into a named one, `base`
        resolves relative IRIs. A malformed source raises `LoadError` and leaves everything as it was.
        """
        return self._open().load(source, graph, base, format)

    def query(self, text: str, base: str | None = None) -> Answer:
        """Answer one SPARQL 1.1 query. A mistake in it raises `QueryError`, which says where and what to do."""
        query = translate(text, None if base is None else iri_option("base", base), self._tuning)
        if query.streams:
            raise QueryError("this query reads streams", hint="register it: engine.register(text), then engine.run()")
        try:
            if is_plain(text, base):
                return self._open().answer(query, text, base)
            return self._runtime.plans.answer(query, text, base)
        except RecursionError:
            raise too_long(text) from None

    # Streams and continuous queries

    def stream(
        self,
        iri: str,
        source: SourceSpec = None,
        *,
        lateness: Duration | None = None,
        idle: Duration | None = None,
        advance: bool = False,
        max_ahead: Duration | None = "1d",
        when_full: WhenFull = "block",
        format: StreamFormat | None = None,
        time: StreamTime | None = None,
        mapping: str | PathLike[str] | None = None,
        time_path: str | None = None,
        time_unit: TimeUnit = "iso",
        header: str | None = None,
        time_property: str | NamedNode | Sequence[str | NamedNode] | None = None,
        start_property: str | NamedNode | None = None,
        end_property: str | NamedNode | None = None,
    ) -> None:
        """Declare a stream.

        `source` is a file of timestamped N-Quads (also gzipped) or Parquet with columns s, p, o, ts (and te: the end of
        what began at ts); a folder of such files (`run` reads them all, `start` watches it); "tcp://HOST:PORT", to read
        lines from; "listen://HOST:PORT", to let producers connect; an iterable of lines, of pairs of a triple and its
        time, or of a triple, its start and its end; None: elements are pushed.

        It may as well consist of documents in TriG or JSON-LD: files by their endings .trig, .jsonld and .ndjsonld (a
        document in each line), else `format` says it, and sockets bring JSON-LD by the line. Each triple of a named
        graph is an element, and its time is the graph's `time_property`, prov:generatedAtTime unless given. With a
        `start_property` and an `end_property`, a graph that has both lasts from the one to the other, and one that has
        either is a point of time there. Logs of RDF Messages end in .messages.trig, .messages.nq and so on, Jelly in
        .jelly: docs/connect/formats.md has the formats.

        A connector brings messages: "kafka://HOST:9092/TOPIC?start=earliest" and so on, with its options in the address
        or in a mapping beside it, {"address": …, "start": "earliest"}; docs/connect/ has each. Secrets are references,
        "${env:NAME}" or "${file:PATH}". A message is in the `format`, or a CloudEvent with such data, and taken whole
        or not at all. `time` "data" means the first `time_property` in the message, or the one in its graph; "broker"
        the broker's time, and "arrival" the clock's. `mapping` is a file by which JSON, CSV or XML is lifted: the time
        is at `time_path` in the message (a JSONPath, an XPath or a column), in the `time_unit`, or that of one of the
        properties; `header` names the columns of rows of CSV.

        `lateness` is the allowed lateness: an element that is further behind the newest one is a dead letter. A stream
        that is silent for `idle` does not hold back the watermark of a query. With `advance` its event time follows
        the clock, also without elements. On a live engine an element that is further ahead of the clock than
        `max_ahead` is a dead letter too, and does not move the watermark; None lets all of them in. While too much of
        the stream waits to be evaluated, `push` waits, or with `when_full` "refuse" raises an `OverloadError`; sources
        are not read meanwhile. Durations are "10s", "500ms", "2 minutes", timedeltas or microseconds.
        """
        from penstock.stream.ingest.stream_declaration import declare

        declared = declare(
            source,
            lateness,
            idle,
            advance,
            format,
            max_ahead,
            when_full,
            time=time,
            mapping=mapping,
            time_path=time_path,
            time_unit=time_unit,
            header=header,
            time_property=time_property,
            start_property=start_property,
            end_property=end_property,
        )
        self._runtime.declare(iri_option("iri", iri), declared)

    def register(
        self,
        text: str,
        *,
        name: str | None = None,
        sink: SinkSpec = None,
        duplicates: Duplicates = "keep",
        emit: Emit | None = None,
        overload: Overload = "catch-up",
        retry: int = 0,
        base: str | None = None,
    ) -> Query:
        """Register a continuous query, to be answered by `run()`, or from now on if the engine is live.

        Its name is the given one, else that in the text, else a number. `sink` is a function that is called with each
        answer, a path (.ndjson, .csv, .trig, …, or a folder for Parquet), or your own object (`penstock.io.sinks`);
        without one the answers are kept for `query.answers()`. Two equal triples are two elements, unless `duplicates`
        is "merge": then the latest stands for all. `emit` is the report, by default that of the query or of its
        language: "rstream" (the whole answer at each instant), "istream" (solutions when they become true), "dstream"
        (when they cease to be) or "intervals" (each solution once, with its validity interval).
        When evaluation falls behind, it catches up in larger spans ("catch-up"); with `overload` "stretch" it sheds
        load: it skips every other instant and so on, until it keeps up (for queries with a fixed evaluation period).
        A sink that raises an error is tried again `retry` times, after 0.1 s, 0.2 s and so on up to 10 s, before the
        query fails; other queries go on meanwhile, and the sink is first rewound, so that it gets each answer once.
        The same name and text again, also after a restart, is the same query, and continues.
        """
        options = duplicates, emit, None if base is None else iri_option("base", base), overload, retry
        return Query(self._runtime.register(text, name, sink, *options), self._runtime)

    @property
    def queries(self) -> list[Query]:
        """The registered queries."""
        return [Query(task, self._runtime) for task in self._runtime.catalogue]

    def __getitem__(self, name: str) -> Query:
        try:
            return Query(self._runtime.catalogue[name], self._runtime)
        except KeyError:
            raise KeyError(f"there is no query {name}") from None

    def run(self) -> None:
        """Read all sources to their end and answer every query at every instant. Ctrl-C stops it cleanly.

        A query that fails does not keep the others from being answered; the failure is raised at the end.
        """
        self._runtime.run()

    def start(self) -> None:
        """Go live: elements come from the sources and from `push`, and answers as soon as an instant is complete."""
        self._runtime.start()

    def stop(self) -> None:
        """Answer all due instants, then stop. `start` may follow.

        A sink that does not return is given up after some seconds (`stop_patience_us` of the tuning), with a warning;
        its query stays behind, and continues when the sink returns or the next engine delivers its batch again.
        """
        self._runtime.stop()

    def push(
        self, iri: str, elements: Elements, time: When | None = None, *, format: StreamFormat | None = None
    ) -> int:
        """Give elements to a stream; they are durable when this returns, with their number.

        Lines of timestamped N-Quads, or pyoxigraph triples or quads, alone (then with `time`, or now), as tuples with a
        time, or as tuples with a start and an end (which, as a pair, `time` may be too); or a document of graphs that
        have times: text with `format` "trig" or "jsonld" (or that of the stream), "ndjsonld" for one in each line, or a
        pyoxigraph `Dataset`. Of documents, the number is that of the documents.
        """
        from penstock.stream.ingest.elements import pushed

        return self._runtime.push(iri, *pushed(elements, time, self._runtime.arrival_time(iri), format))

    def advance(self, iri: str, time: Moment) -> None:
        """Advance the watermark of a stream: nothing before `time` will come any more. An element that does is late."""
        from penstock.stream.base.time_values import moment

        self._runtime.advance(iri, moment(time))

    def flush(self) -> None:
        """Wait until all pushed elements are in the log and every due instant has been answered."""
        self._runtime.flush()

    def dead_letters(self, iri: str) -> Iterator[DeadLetter]:
        """The late elements, those too far ahead, and malformed lines of a stream so far, each with the reason.

        They are kept in the checkpoint; without one, until the engine is closed. A late element can be pushed again as
        `engine.push(iri, letter.text, format="nquads")`, a malformed line once it is corrected. `flush` waits until
        all that was pushed has been judged.
        """
        return self._runtime.dead_letters(iri)

    @property
    def status(self) -> EngineStatus:
        """The status of the streams and queries."""
        return self._runtime.status

    # The rest

    def _dataframe(self, text: str, base: str | None = None) -> DataFrame:
        """The DataFrame of a SELECT on the Spark store, unexecuted; for benchmarks."""
        from penstock.spark.store.store import SparkStore

        store = self._open()
        if not isinstance(store, SparkStore):
            raise PenstockError('only Engine(background="spark") compiles whole queries to DataFrames')
        return store.frame(translate(text, base, self._tuning))

    def close(self) -> None:
        """Stop, and let go of the store, and of Spark if it was started here. Closing twice is harmless."""
        with self._making:
            made, self._made, self._closed = self._made, None, True
            lock, self._lock = self._lock, None
        with ExitStack() as closing:  # from the last to the first: while something runs, the checkpoint has its owner
            if lock is not None:
                closing.callback(lock.release)
            closing.callback(self._stop_spark)
            closing.callback(self._store.close)
            if made is not None:
                closing.callback(made.close)

    def _stop_spark(self) -> None:
        if self._started is not None:
            from penstock.spark.session import session

            session.stop(self._started)
            self._started = None

    @property
    def _runtime(self) -> Runtime:
        """The runtime, made when it is first needed: SPARQL queries alone pay nothing for streams."""
        with self._making:
            store = self._open()
            if self._made is None:
                self._made = self._make_runtime(store)
            return self._made

    def _make_runtime(self, store: Store) -> Runtime:
        """The runtime on the checkpoint, which belongs to this engine from now on."""
        from penstock.stream.base import checkpoint_lock
        from penstock.stream.base.clock import SystemClock
        from penstock.stream.runtime.runtime import Runtime

        with checkpoint_lock.opening(self._checkpoint), ExitStack() as undo:
            lock = None if self._checkpoint is None else checkpoint_lock.acquire(self._checkpoint)
            if lock is not None:
                undo.callback(lock.release)
            made = Runtime(
                store,
                lambda: self.spark,
                self._checkpoint,
                self._clock or SystemClock(),
                self._rules,
                self._on_progress,
                self._retention,
                self._tuning,
                self._rounds,
            )
            undo.pop_all()
        self._lock = lock
        return made

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


def _retention(retention: Duration | None) -> int | None:
    """The microseconds of the option; without it, nothing of streams is imported."""
    if retention is None:
        return None
    from penstock.stream.base.time_values import duration_option

    return duration_option("retention", retention)


def iri_option(option: str, text: str) -> str:
    """The IRI that an option has to be."""
    try:
        return NamedNode(text).value
    except ValueError as error:
        raise OptionError(f"{option}={text!r} is not an absolute IRI: {error}") from None


def _reasoning(store: Store, entailment: Entailment | None) -> Store:
    """The store with entailment; the store itself if there is none."""
    if entailment is None:
        return store
    from penstock.knowledge.entailment import entailing

    return entailing(store, entailment)
