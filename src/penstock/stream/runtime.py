"""The engine's streams and queries at work: in a bounded run, or live, with the loop and ingest around the rounds."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Collection, Iterator
from pathlib import Path
from threading import RLock
from typing import TYPE_CHECKING

from penstock.algebra.build import translate
from penstock.algebra.ops import Query
from penstock.answer import Answer
from penstock.errors import PenstockError
from penstock.io.sinks import SinkSpec
from penstock.knowledge.store import Store
from penstock.spark.running import cancellable
from penstock.stream import spool
from penstock.stream.bounded import Bounded
from penstock.stream.catalogue import Catalogue, entry_of, memory_of
from penstock.stream.clock import Clock
from penstock.stream.dead import DeadLetters
from penstock.stream.declared import Declared
from penstock.stream.due import next_instant
from penstock.stream.evaluate import once
from penstock.stream.inputs import LogInputs
from penstock.stream.live import Live
from penstock.stream.log import StreamLog
from penstock.stream.order import check_streams, unknown
from penstock.stream.plans import Plans
from penstock.stream.progress import EngineStatus, Progress, QueryStatus
from penstock.stream.registry import Registry
from penstock.stream.rounds import Rounds
from penstock.stream.spool_source import consumed
from penstock.stream.status import engine_status, query_status
from penstock.stream.task import Task

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["Runtime"]


class Runtime:
    """Everything below `Engine` that has to do with streams."""

    def __init__(
        self,
        store: Store,
        session: Callable[[], SparkSession],
        checkpoint: Path | None,
        clock: Clock,
        rules: Collection[str] | None,
        on_progress: Callable[[Progress], None] | None,
    ) -> None:
        self._temporary = None if checkpoint else tempfile.TemporaryDirectory(prefix="penstock-")
        self._root = checkpoint or Path(self._temporary.name)  # type: ignore[union-attr]
        self._store, self._session, self._clock = store, session, clock
        self._on_progress = on_progress
        self._registry = Registry(self._root / "registry" if checkpoint else None)
        self._streams = {name: Declared(**kept) for name, kept in self._registry.load_streams().items()}
        self._log = StreamLog(self._root / "log")
        self._inputs = LogInputs(self._log, self._streams)
        self.plans = Plans(store, session, rules)
        self._rounds = Rounds(self._inputs, self._report)
        self._live: Live | None = None
        self._lock = RLock()
        self.catalogue = Catalogue(self._registry)
        self._log.listen(lambda _: self.wake())

    # Declaring and registering

    def declare(self, stream: str, declared: Declared) -> None:
        with self._lock:
            if any(task.output == stream for task in self.catalogue):
                raise PenstockError(f"The stream <{stream}> is derived by a query: it cannot have a source as well.")
            if self._live is not None and stream in self._streams:
                raise PenstockError(f"The stream <{stream}> is declared already: stop() the engine to change it.")
            self._streams[stream] = declared
            self._inputs.in_place.pop(stream, None)
            self._registry.save_streams({name: one.remembered() for name, one in self._streams.items()})
            if self._live is not None:
                self._live.add(stream, declared, self._bounded())

    def register(self, text: str, name: str | None, sink: SinkSpec, duplicates: str, base: str | None) -> Task:
        query = translate(text, base)
        entry = entry_of(self.catalogue.name_for(text, name, query), text, base, duplicates, sink)
        with self._lock:
            if self._live is not None:
                self._check_inputs(entry.name, query)
            task = self.catalogue.register(entry, query, sink, self._streams, self._beginning)
            if self._live is not None:
                self._join(task)
            return task

    def _beginning(self, task: Task) -> int | None:
        """A query that comes while others run starts with what comes next; so does one that comes after the log has
        let go of elements. Else it starts with the first element."""
        gone = any(self._log.dropped(stream) for stream in task.inputs)
        if self._live is None and not gone:
            return None
        derived = {one.output: one.progress for one in self.catalogue if one.output is not None}
        ends = [derived[name] if name in derived else self._inputs.ripe(name) for name in task.inputs]
        return None if None in ends else min((end for end in ends if end is not None), default=None)

    def _check_inputs(self, name: str, query: Query) -> None:
        known = {*self._streams, *(task.output for task in self.catalogue if task.output is not None)}
        for stream in query.streams:
            if stream.iri.value not in known:
                raise unknown(name, stream.iri.value, known)

    def resume(self, task: Task) -> None:
        task.resume()
        self.wake()

    def drop(self, task: Task) -> None:
        self.catalogue.drop(task)

    def answers(self, task: Task) -> Iterator[Answer]:
        memory = memory_of(task.sink)
        if memory is None:
            raise PenstockError(
                f"The answers of {task.name} go to its sink: register it without one to keep them here."
            )
        return memory.answers()

    # Bounded

    def run(self) -> None:
        """Every declared source to its end, then every query to the last instant."""
        with self._lock:
            if self._live is not None:
                raise PenstockError("The engine is live already: stop() it before run().")
            tasks = list(self.catalogue)
            check_streams(tasks, self._streams)
            if any(task.inputs for task in tasks):
                cancellable(self._session().sparkContext, lambda: self._run(tasks))
            else:
                self._run(tasks)
        self._raise_failures(tasks)

    def _run(self, tasks: list[Task]) -> None:
        self._open(tasks)
        self._read(tasks)
        self._rounds.bounded(tasks)
        self._report()

    def _read(self, tasks: list[Task]) -> None:
        """The sources of the streams that somebody reads."""
        self._recover_spool()
        bounded = self._bounded()
        for stream in dict.fromkeys(name for task in tasks for name in task.inputs if name in self._streams):
            self._inputs.in_place[stream] = bounded.read(stream, self._session, in_place=True)
            self._report()

    def _recover_spool(self) -> None:
        """What was pushed into a live engine that ended before it was read."""
        folder = self._root / "spool"
        if folder.is_dir() and max(spool.numbers(folder), default=-1) >= consumed(self._root / "ingest" / "spool"):
            pushed = {name: Declared(None, d.lateness, None, False, d.format) for name, d in self._streams.items()}
            live = Live(self._session(), self._root, self._clock, pushed, self._log, self._inputs, lambda: False)
            live.start()
            live.stop()

    def _open(self, tasks: list[Task]) -> None:
        """Compile, answer what needs no stream, and take back what a crash has left in derived streams."""
        for task in tasks:
            self._join(task)

    def _join(self, task: Task) -> None:
        try:
            task.error = None
            if not task.inputs:
                self._answer_once(task)
                return
            task.plan = task.plan or self.plans.plan(task)
            if task.output is not None:
                self._inputs.undo(task.output, task.entry.batches)
            memory = memory_of(task.sink)
            if memory is not None:
                memory.live(self._live is not None)
        except Exception as error:
            task.fail(error)
        self.wake()

    def _answer_once(self, task: Task) -> None:
        if task.ready and not task.done:
            answer = self.plans.answer(task.query, task.entry.text, task.entry.base)
            task.deliver(once(answer, task.name), None, lambda _: None)

    def _raise_failures(self, tasks: list[Task]) -> None:
        failed = [task for task in tasks if task.error is not None]
        if len(failed) == 1 and isinstance(failed[0].cause, PenstockError):
            raise failed[0].cause
        if failed:
            raise PenstockError("\n".join(f"{task.name}: {task.error}" for task in failed)) from failed[0].cause

    def _bounded(self) -> Bounded:
        return Bounded(self._log, DeadLetters(self._root / "dead"), self._clock, self._streams)

    # Live

    def start(self) -> None:
        with self._lock:
            if self._live is not None:
                return
            tasks = list(self.catalogue)
            check_streams(tasks, self._streams)
            self._read_files()
            self._live = Live(
                self._session(), self._root, self._clock, self._streams, self._log, self._inputs, self._round,
                self._next_by_clock,
            )  # fmt: skip
            self._open(tasks)
            self._live.start()

    def _read_files(self) -> None:
        """Files come before what is live. They go through the log, which lets go of them again."""
        bounded = self._bounded()
        self._inputs.in_place.clear()
        for stream, declared in self._streams.items():
            if declared.is_file:
                bounded.read(stream, self._session, in_place=False)

    def _round(self) -> bool:
        return self._rounds.live(self.catalogue)

    def _next_by_clock(self) -> int | None:
        """When, by the clock, an instant comes for a query whose streams go with the clock."""
        moments = []
        for task in self.catalogue:
            moving = [
                self._streams[name] for name in task.inputs if name in self._streams and self._streams[name].advance
            ]
            if moving and task.ready and task.plan is not None and task.progress is not None:
                patience = max(declared.lateness or 0 for declared in moving)
                moments.append(next_instant(task.plan, task.progress) + patience + 1)
        return min(moments, default=None)

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

    def push(self, stream: str, data: bytes) -> int:
        self._check_source(stream)
        if self._live is not None:
            return self._live.push(stream, data)
        with self._lock:
            return self._bounded().push(stream, data)

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
            raise unknown(None, stream, self._streams)

    # Looking

    def query_status(self, task: Task) -> QueryStatus:
        return query_status(task)

    @property
    def status(self) -> EngineStatus:
        return engine_status(self._live, self._log, self._inputs, self._streams, self.catalogue)

    def _report(self, _task: Task | None = None) -> None:
        if self._on_progress is not None:
            self._on_progress(Progress.of(self.status))

    def close(self) -> None:
        self.stop(finish=False)
        for task in self.catalogue:
            task.close()
        self.plans.close()
        if self._temporary is not None:
            self._temporary.cleanup()
