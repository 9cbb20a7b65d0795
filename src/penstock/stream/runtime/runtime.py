"""The runtime of an engine: declares streams, registers queries, and evaluates them, bounded or live."""

from __future__ import annotations

import tempfile
import warnings
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Condition, RLock
from typing import TYPE_CHECKING, Literal

from penstock import log
from penstock.algebra.build import TextTemplates
from penstock.algebra.ops import Query
from penstock.algebra.retention_bounds import unbounded
from penstock.answer import Answer
from penstock.errors import OptionError, PenstockError, PenstockWarning
from penstock.io.graphs import kind_named
from penstock.io.sinks import MemorySink, SinkSpec
from penstock.knowledge.store import Store
from penstock.options import Duplicates, Emit, Overload
from penstock.spark.session.cancellation import cancellable, one_sentence, sentence
from penstock.stream.base.clock import Clock, ForwardClock, SteadyClock
from penstock.stream.base.dead_letter import DeadLetter
from penstock.stream.base.time_values import moment
from penstock.stream.base.watermark import Watermarks
from penstock.stream.evaluation.activation import Activation, beginning, raise_failures
from penstock.stream.evaluation.plan_cache import PlanCache
from penstock.stream.evaluation.report_state import ReportState
from penstock.stream.evaluation.rounds import Rounds
from penstock.stream.evaluation.rule_dependencies import RuleDependencies
from penstock.stream.ingest.bounded_sources import BoundedSources
from penstock.stream.ingest.dead_letters import DeadLetters
from penstock.stream.ingest.elements import LINES, MESSAGE
from penstock.stream.ingest.stream_declaration import Declared
from penstock.stream.ingest.stream_view import StreamView
from penstock.stream.log.stream_log import StreamLog
from penstock.stream.registry.catalogue import Catalogue, entry_of, memory_of
from penstock.stream.registry.dependency_order import check_streams, unknown_stream
from penstock.stream.registry.load_shedding import CATCH_UP
from penstock.stream.registry.load_shedding import check as check_overload
from penstock.stream.registry.metadata_store import MetadataStore
from penstock.stream.registry.registered_query import RegisteredQuery
from penstock.stream.runtime.explain_registered import explain_registered
from penstock.stream.runtime.live_engine import LiveEngine
from penstock.stream.runtime.progress import EngineStatus, Progress, QueryStatus
from penstock.stream.runtime.query_facts import FactCollector, QueryFacts
from penstock.stream.runtime.reevaluation import Reevaluation
from penstock.stream.runtime.status import Status
from penstock.tuning import DEFAULT, Tuning

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from penstock.spark.query.profile import Profile
    from penstock.stream.runtime.reevaluation import Reevaluation

__all__ = ["Runtime"]

_LONG = 1e9  # seconds, thirty years: nobody waits longer


class Runtime:
    """The streams and continuous queries of one `Engine`."""

    def __init__(
        self,
        store: Store,
        session: Callable[[], SparkSession],
        checkpoint: Path | None,
        clock: Clock,
        rules: Collection[str] | None,
        on_progress: Callable[[Progress], None] | None,
        retention: int | None = None,
        tuning: Tuning = DEFAULT,
        rounds: Literal["spark", "auto"] = "spark",
    ) -> None:
        self._temporary = None if checkpoint else tempfile.TemporaryDirectory(prefix="penstock-")
        self._root = checkpoint or Path(self._temporary.name)  # type: ignore[union-attr]
        self._session, self._clock = session, (clock := ForwardClock(clock))
        self._on_progress, self._retention, self._tuning = on_progress, retention, tuning
        self._registry = MetadataStore(self._root / "registry" if checkpoint else None)
        self._streams = {name: Declared.from_json(kept) for name, kept in self._registry.load_streams().items()}
        self._log = StreamLog(self._root / "log", tuning)
        self._dead = DeadLetters(self._root / "dead")
        self._inputs = StreamView(self._log, self._streams)
        self._watermarks = Watermarks(self._log, clock, self._streams)
        self.plans = PlanCache(store, session, rules, retention, tuning, rounds)
        self._texts = TextTemplates(tuning)
        self.catalogue = Catalogue(self._registry, self.plans, tuning, self._texts)
        self._groups = self.catalogue.groups
        self._status = Status(self._log, self._inputs, self._watermarks, self._streams, self.catalogue)
        self._activation = Activation(self.plans, self._inputs, self._groups)
        report_state = ReportState(self._root / "carried")
        report_state.sweep(self._groups.files())
        parts = self._inputs, self._watermarks, self._groups
        self._rounds = Rounds(*parts, self._report, report_state, tuning, clock, self.wake)
        self._live: LiveEngine | None = None
        self._lock = RLock()
        self._rounding = RLock()
        self._rule_dependencies = RuleDependencies(store, self._streams)
        self._unread: set[str] = set()  # derived by queries that are gone
        self._log.listen(lambda _: self.wake())

    # Declaring and registering

    def declare(self, stream: str, declared: Declared) -> None:
        with self._lock:
            if stream in self.catalogue.derived:
                raise PenstockError(f"The stream <{stream}> is derived by a query: it cannot have a source as well.")
            if self._live is not None and stream in self._streams:
                raise PenstockError(f"The stream <{stream}> is declared already: stop() the engine to change it.")
            if stream in self._unread:
                self._forget([stream])
            self._streams[stream] = declared
            self._inputs.read_log_alone(stream)
            self._save_streams()
            if self._live is not None:
                try:
                    self._live.add(stream, declared, self._bounded())
                except BaseException:
                    self._undeclare(stream)
                    raise
        self.wake()

    def redeclare(self, stream: str, declared: Declared) -> None:
        """Declare a stream anew while the engine is live: only its source is ended and begun again.

        Elements that are in the log stay, and so does the watermark: what was late stays late.
        """
        before = self._streams.get(stream)
        if self._live is None or before is None:
            self.declare(stream, declared)
            return
        if before.is_file or declared.is_file:
            raise PenstockError(f"The stream <{stream}> is read from a file, which is read once: stop() to change it.")
        self._live.ingest.remove(stream)  # without the lock, since a source may wait for a round
        with self._lock:
            through = self._watermarks.combined([stream])
            if through is not None:
                self._log.advance(stream, through)
            del self._streams[stream]
            try:
                self.declare(stream, declared)
            except BaseException:
                self.declare(stream, before)
                raise

    def undeclare(self, stream: str) -> None:
        """Forget a stream that no query names, and its elements, once event queries are bound to the others."""
        self._check_source(stream)
        reader = next((task for task in self.catalogue if stream in task.named), None)
        if reader is not None:
            raise PenstockError(f"The query {reader.name} reads the stream <{stream}>: drop it first.")
        if self._live is not None:
            self._live.ingest.remove(stream)
        with self._lock:
            del self._streams[stream]
            self._save_streams()
            self._unread.add(stream)
            if self._live is None:
                self._forget([stream])
        self.wake()

    def _undeclare(self, stream: str) -> None:
        """Forget a stream whose source could not be opened."""
        del self._streams[stream]
        self._save_streams()
        if self._live is not None:
            self._live.ingest.forget(stream)

    def _save_streams(self) -> None:
        self._registry.save_streams({name: one.remembered() for name, one in self._streams.items()})

    def register(
        self,
        text: str,
        name: str | None,
        sink: SinkSpec,
        duplicates: Duplicates,
        emit: Emit | None,
        base: str | None,
        overload: Overload = CATCH_UP,
        retry: int = 0,
    ) -> RegisteredQuery:
        translation = self._texts.translate(text, base)
        query = translation.query
        check_overload(query, overload)
        streams = {*self._streams, *self.catalogue.derived}
        for doubt in (*map(PenstockWarning, unbounded(query, self._retention)), *translation.foreign_streams(streams)):
            warnings.warn(doubt, stacklevel=3)  # where register was called
        chosen_name = self.catalogue.name_for(text, name, query)
        entry = entry_of(chosen_name, text, base, duplicates, emit, sink, overload, retry)
        with self._lock:
            live = self._live is not None
            if live:
                self._check_inputs(entry.name, query)
            task = self.catalogue.reattach(entry, sink)
            if task is None:
                task = self._begin(self.catalogue.create(entry, translation, sink, self._streams), live)
            if live:
                self._activation.open(task, live=True)
        self.wake()
        return task

    def _tasks(self) -> list[RegisteredQuery]:
        """Bind event queries to the present streams, and return all queries."""
        self._groups.changed(self._rule_dependencies.bind_all(self.catalogue.linked))
        return list(self.catalogue)

    def _begin(self, task: RegisteredQuery, live: bool) -> RegisteredQuery:
        """Add a new query. Elements of a dropped query are removed from the stream that it derives."""
        self._rule_dependencies.bind_new(task, self.catalogue.linked)
        if task.output is not None:
            self._log.forget(task.output)
            self._unread.discard(task.output)
        start = beginning(task, self.catalogue.derived, self._inputs, self._watermarks, live=live)
        self.catalogue.add(task, start)
        return task

    def _check_inputs(self, name: str, query: Query) -> None:
        streams = {*self._streams, *self.catalogue.derived}
        for stream in query.streams:
            if stream.iri.value not in streams:
                raise unknown_stream(name, stream.iri.value, streams)

    def resume(self, task: RegisteredQuery) -> None:
        task.resume()
        if self._live is not None and (memory := memory_of(task.sink)) is not None:
            memory.live(True)
        self.wake()

    def drop(self, task: RegisteredQuery) -> None:
        """Drop a query. Its derived stream is removed once the event queries that may read it are bound anew."""
        self.catalogue.drop(task)
        if task.output is not None:
            self._unread.add(task.output)
        if self._live is None:
            self._forget(list(self._unread))
        self.wake()

    def _forget(self, streams: Iterable[str]) -> None:
        for stream in streams:
            self._log.forget(stream)
            self._unread.discard(stream)

    def answers(self, task: RegisteredQuery, timeout: float | None) -> Iterator[Answer]:
        memory = _kept(task)
        if timeout is None:
            return self._until_failure(task, memory.answers())
        if not isinstance(timeout, int | float) or not timeout >= 0:
            raise OptionError(f"timeout is a number of seconds, 0 or more, not {timeout!r}")
        return self._until_failure(task, memory.answers(SteadyClock(self._clock), round(min(timeout, _LONG) * 1e6)))

    def _until_failure(self, task: RegisteredQuery, answers: Iterator[Answer]) -> Iterator[Answer]:
        """The answers, and then the error of a query that has failed while the engine is live."""
        yield from answers
        if self._live is not None and task.error is not None:
            raise PenstockError(f"The query {task.name} has failed: {task.error}") from task.cause

    def latest(self, task: RegisteredQuery) -> Answer | None:
        return _kept(task).latest()

    # Bounded

    def run(self) -> None:
        """Read every declared source to its end, then evaluate every query to the last instant."""
        with self._lock:
            if self._live is not None:
                raise PenstockError("The engine is live already: stop() it before run().")
            tasks = self._tasks()
            check_streams(tasks, self._streams)
            self._log_start("a run has started")
            if any(task.inputs for task in tasks):
                cancellable(self.plans.background.session, lambda: self._run(tasks))
                self._retry_sinks()
            else:
                self._run(tasks)
            log.session.info("the run has ended", extra={"answers": sum(task.answers for task in tasks)})
        raise_failures(tasks)

    def _retry_sinks(self) -> None:
        """Evaluate the queries again whose sinks are to be tried again. Waiting here, Ctrl-C is heard at once."""
        waiting = Condition()
        while (moment := self._groups.next_retry()) is not None:
            with waiting:
                while self._clock.now() < moment:
                    self._clock.wait(waiting, moment)
            cancellable(self.plans.background.session, self._rounds.bounded)
            self._report()

    def _run(self, tasks: list[RegisteredQuery]) -> None:
        for task in tasks:
            self._activation.open(task, live=False)
        self._read_sources(tasks)
        self._rounds.bounded()
        self._report()

    def _read_sources(self, tasks: list[RegisteredQuery]) -> None:
        """Read the sources of the streams that some query reads."""
        bounded = self._bounded()
        for stream in dict.fromkeys(name for task in tasks for name in task.inputs if name in self._streams):
            self._inputs.read_in_place(stream, bounded.read(stream, self._session, in_place=True))
            self._report()

    def _bounded(self) -> BoundedSources:
        return BoundedSources(self._log, self._dead, self._clock, self._streams, self._tuning)

    # Live

    def start(self) -> None:
        with self._lock, one_sentence(PenstockError, "The engine cannot start"):
            if self._live is not None:
                return
            tasks = self._tasks()
            check_streams(tasks, self._streams)
            self._read_files()
            self._live = self._make_live()
            try:
                for task in tasks:
                    self._activation.open(task, live=True)
                self._live.start()
            except BaseException:
                self.stop(finish=False)
                raise
            self._log_start("the engine is live")

    def _log_start(self, event: str) -> None:
        fields = {"streams": list(self._streams), "queries": [task.name for task in self.catalogue]}
        counts = len(fields["streams"]), len(fields["queries"])
        log.session.info("%s: streams %d, queries %d", event, *counts, extra=fields)

    def _make_live(self) -> LiveEngine:
        session, root, clock, streams = self._session(), self._root, self._clock, self._streams
        return LiveEngine(
            session,
            root,
            clock,
            streams,
            self._log,
            self._watermarks,
            self._round,
            self._groups,
            self._tuning,
            self._rounds.deliveries.is_inside,
        )

    def _read_files(self) -> None:
        """Read files before live sources. They go through the log, which drops them again by retention."""
        bounded = self._bounded()
        self._inputs.read_log_alone(*self._streams)
        for stream, declared in self._streams.items():
            if declared.is_file:
                bounded.read(stream, self._session, in_place=False)
            elif declared.is_folder and bounded.has_read(stream):
                raise PenstockError(f"run() has read {declared.path} as a whole: it cannot be watched as well.")

    def _round(self) -> bool:
        """Bind event queries to added or dropped streams and rules, then evaluate due instants. Binding is safe here:
        no evaluation is in progress."""
        with self._lock:
            gone = list(self._unread)  # before the groups are arranged: a stream that is dropped now is read once more
            self._groups.changed(self._rule_dependencies.bind_changed(self.catalogue.linked))
            self._forget(gone)
        with self._rounding:
            return self._rounds.live()

    def stop(self, *, finish: bool = True) -> None:
        with self._lock:
            live = self._live
        if live is None:
            return
        try:
            live.stop(finish=finish)
        finally:
            self._live = None
            for task in self.catalogue:
                if (memory := memory_of(task.sink)) is not None:
                    memory.live(False)
            log.session.info("the engine has stopped")

    def push(self, stream: str, data: bytes, kind: str | None = None) -> int:
        """Push lines, or documents of that kind; None: the format of the stream."""
        self._check_source(stream)
        declared = self._streams[stream]
        kind = kind or (MESSAGE if declared.takes_messages else kind_named(declared.format))
        kind = None if kind == LINES else kind
        if self._live is not None:
            return self._live.push(stream, data, kind)
        with self._lock:
            return self._bounded().push(stream, data, kind)

    def arrival_time(self, stream: str) -> int:
        """The time of an element that is pushed without one."""
        self._check_source(stream)
        return self._watermarks.arrival_time(stream) if self._live is not None else self._clock.now()

    def advance(self, stream: str, time: int) -> None:
        self._check_source(stream)
        if self._live is not None:
            self._live.advance(stream, time)
        else:
            self._log.advance(stream, time - 1)

    def flush(self) -> None:
        if self._live is None:
            raise PenstockError("The engine is not live: start() it first.")
        self._live.flush()

    def wake(self) -> None:
        if self._live is not None:
            self._live.wake()

    def _check_source(self, stream: str) -> None:
        if stream not in self._streams:
            raise unknown_stream(None, stream, self._streams)

    # Looking

    def dead_letters(self, stream: str) -> Iterator[DeadLetter]:
        self._check_source(stream)
        return self._dead.read(stream)

    def examine(self, task: RegisteredQuery, *, run: bool) -> Profile | None:
        """Explain a query over the log as it is now; between rounds, which use the same tables."""
        with self._rounding:
            return explain_registered(task, self.plans, self._inputs, run=run)

    def facts(self, task: RegisteredQuery) -> QueryFacts:
        """The facts that tell why a query has no answer."""
        parts = self._log, self._inputs, self._watermarks, self._streams, self.catalogue, self._clock, self._dead.read
        problems = None if self._live is None else self._live.ingest.problems
        return FactCollector(*parts, self._tuning).of(task, self.query_status(task), problems, self.plans.entails)

    def instant_of(self, task: RegisteredQuery, item: object) -> int | None:
        """The newest instant with that solution or triple among the answers that are kept in memory; None: none has."""
        memory = memory_of(task.sink)
        answers = [] if memory is None else memory.kept()
        times = (
            answer.valid_from or answer.time or answer.ends for answer in reversed(answers) if item in list(answer)
        )
        return next((moment(time) for time in times if time is not None), None)

    @contextmanager
    def reevaluation(self, task: RegisteredQuery) -> Iterator[Reevaluation]:
        """Evaluations of a query over the log as it is now; between rounds, which use the same tables."""
        with self._rounding:
            yield Reevaluation(task, self.plans, self._inputs)

    def query_status(self, task: RegisteredQuery) -> QueryStatus:
        return self._status.query(task)

    @property
    def status(self) -> EngineStatus:
        return self._status.engine(self._live)

    def _report(self) -> None:
        """Call the function of the user; one that raises an error is logged, and not called again."""
        if self._on_progress is None:
            return
        try:
            self._on_progress(self._status.progress())
        except Exception as error:
            self._on_progress = None
            reason = sentence(error, of_spark=False)
            log.sinks.exception("on_progress failed, and is not called again: %s", reason, extra={"error": reason})

    def close(self) -> None:
        self.stop(finish=False)
        self._rounds.end_deliveries()
        self._rounds.deliveries.close()
        for task in self.catalogue:
            task.close()
        self.plans.close()
        self._registry.close()
        if self._temporary is not None:
            self._temporary.cleanup()


def _kept(task: RegisteredQuery) -> MemorySink:
    """The answers that are kept in memory."""
    memory = memory_of(task.sink)
    if memory is None:
        raise PenstockError(
            f"The answers of {task.name} go to its sink: register it without a sink to keep them in memory."
        )
    return memory
