"""Registered queries: state, sink and delivery, in the order in which answers and progress become durable."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from threading import RLock
from typing import TYPE_CHECKING

from pyoxigraph import NamedNode

from penstock.algebra.ops import RULES, Query, StreamWindow
from penstock.algebra.template import Template, template
from penstock.algebra.windows import SlideWindow
from penstock.errors import PenstockError, StoreError
from penstock.io.sinks import Batch, MemorySink, ParquetSink, Sink
from penstock.recursive_rules.analysis.rule import Rule
from penstock.spark.session import cancellation
from penstock.stream.answers.answer_batch import AnswerSchema
from penstock.stream.base.failpoints import reach
from penstock.stream.registry.due_instants import CompiledQuery
from penstock.stream.registry.metadata_store import MetadataStore, QueryProgress, QueryRecord

if TYPE_CHECKING:
    from penstock.stream.registry.evaluation_group import EvaluationGroup

__all__ = ["RegisteredQuery", "SinkFailure"]

_MOMENT = 0.05  # seconds after which it is looked whether a sink is slow


class SinkFailure(Exception):
    """A sink has raised an error, its cause, while a batch was delivered."""

    def __init__(self, cause: BaseException) -> None:
        super().__init__(str(cause))
        self.cause = cause


class RegisteredQuery:
    """One registered query. Its progress is that of its evaluation group."""

    group: EvaluationGroup

    def __init__(
        self,
        entry: QueryRecord,
        query: Query,
        sink: Sink | None,
        registry: MetadataStore,
        known_template: Template | None = None,
    ) -> None:
        self.entry = entry
        self.query = query
        self._template = known_template
        self.original = query
        self.rules: tuple[Rule, ...] = ()
        self.sink = sink
        self.plan: CompiledQuery | None = None  # of its own, where it is answered alone
        self.error: str | None = None
        self.cause: BaseException | None = None
        self.failures = 0  # of the sink, one after the other
        self.retry_at: int | None = None  # the clock's time at which the sink is tried again
        self.sink_error: str | None = None  # for which it is
        self.is_delivering = False  # its slow sink is at work, and the evaluation has gone on
        self.is_slow = False  # its sink was slow the last time
        self.dropped = False
        self.answers = 0
        self._pending = entry.batches, entry.position
        self._rewound = False
        self._registry = registry
        self._lock = RLock()  # the sink is called with it held, so a sink may pause or drop its own query

    def begin(self) -> None:
        """Note the position of the sink of a new query."""
        if self.sink is not None:
            try:
                self.entry.position = self.sink.begin()
            except OSError as error:
                where = f"{error.filename}: " if error.filename else ""
                raise StoreError(
                    f"The sink of {self.name} cannot be opened: {where}{error.strerror or error}."
                ) from error

    @property
    def name(self) -> str:
        return self.entry.name

    @property
    def kind(self) -> str:
        """The kind of its answers."""
        return AnswerSchema.of(self.name, self.query).kind

    @property
    def inputs(self) -> tuple[str, ...]:
        """The streams that it reads."""
        return tuple(dict.fromkeys(window.iri.value for window in self.query.streams))

    @property
    def named(self) -> tuple[str, ...]:
        """The streams that its text names."""
        return tuple(dict.fromkeys(window.iri.value for window in self.original.streams))

    @property
    def progress(self) -> int | None:
        """The instant up to which all its instants are answered."""
        return self.group.reached.progress

    def bind_streams(self, streams: Iterable[str], rules: tuple[Rule, ...]) -> bool:
        """Bind an event query to streams; whether that is a change. One that names no stream reads all of them.

        `rules` are the rules of the cycle that a recursive rule is in, itself included."""
        own = [s for s in self.original.streams if s.iri != RULES]
        all_streams = not self.original.streams
        names = tuple(s for s in streams if all_streams or s.startswith(RULES.value))
        windows = (*own, *(StreamWindow(NamedNode(s), SlideWindow(None)) for s in names))
        if windows == self.query.streams and rules == self.rules:
            return False
        self.query, self.rules, self.plan = replace(self.query, streams=windows), rules, None
        self._template = None
        return True

    @property
    def template(self) -> Template | None:
        """The template of its family; None if it is of no family."""
        return None if self.rules else self._template or template(self.query)

    @property
    def is_rule(self) -> bool:
        """Whether its triples go back into the stream."""
        registration = self.original.registration
        return self.original.emit == "events" and registration is not None and registration.output == RULES

    @property
    def output(self) -> str | None:
        """The stream that it derives."""
        registration = self.original.registration
        if self.is_rule:
            return f"{RULES.value}:{self.name}"
        return None if registration is None or registration.output is None else registration.output.value

    @property
    def state(self) -> str:
        """The state as users see it."""
        if self.dropped:
            return "dropped"
        if self.error is not None:
            return "failed"
        if self.entry.paused:
            return "paused"
        if self.retry_at is not None:
            return "retrying"
        if self.is_delivering:
            return "delivering"
        return "waiting for its sink" if self.sink is None else "running"

    @property
    def ready(self) -> bool:
        return not (self._stopped or self.sink is None or self.retry_at is not None or self.is_delivering)

    @property
    def _stopped(self) -> bool:
        return self.dropped or self.entry.paused or self.error is not None

    @property
    def done(self) -> bool:
        """Whether there is nothing left to do: a query without a stream is answered once."""
        return not self.inputs and self.entry.batches > 0

    @property
    def fetches(self) -> bool:
        """Whether answers come into this process, rather than from Spark into files."""
        return self.output is not None or not isinstance(self.sink, ParquetSink)

    @property
    def may_be_slow(self) -> bool:
        """Whether its sink waits for something outside of this process."""
        return self.fetches and not isinstance(self.sink, MemorySink)

    def deliver(self, batch: Batch, derive: Callable[[Batch], None]) -> bool:
        """Append derived elements, then deliver to the sink; progress is saved when the whole group has been delivered.
        A crash anywhere repeats all three, and each replaces itself.

        False: the query was paused, dropped or failed in the meantime, and the batch is refused. An error of the sink
        is raised as a `SinkFailure`.
        """
        with self._lock:
            return self.derive(batch, derive) and self.hand_over(batch)

    def derive(self, batch: Batch, derive: Callable[[Batch], None]) -> bool:
        """Append derived elements: the first half of `deliver`."""
        with self._lock:
            if not self.ready:
                return False
            if self.output is not None:
                derive(batch)
                reach("derived")
            return True

    def hand_over(self, batch: Batch) -> bool:
        """Deliver to the sink: the second half of `deliver`."""
        with self._lock:
            if self._stopped or self.sink is None:
                return False
            try:
                self._rewind(self.sink)
                position = self.sink.deliver(batch)
            except (Exception, SystemExit) as error:
                raise SinkFailure(error) from error
            reach("delivered")
            self._pending = self.entry.batches + 1, position
            self.answers += batch.instants
            return True

    def _rewind(self, sink: Sink) -> None:
        """Rewind the sink before the first delivery of a process, and after an interrupted one."""
        if not self._rewound:
            sink.rewind(self.entry.position)
        self._rewound = False

    @property
    def pending(self) -> QueryProgress:
        """The progress to save after a delivery."""
        return QueryProgress(self.entry.group, *self._pending, self.entry.skipped, self.entry.number)

    @property
    def placed(self) -> QueryProgress:
        """The progress to save after a move to another group."""
        entry = self.entry
        return QueryProgress(entry.group, entry.batches, entry.position, entry.skipped, entry.number)

    def saved(self) -> None:
        """Note that the last delivery has been saved, with progress."""
        self.entry.batches, self.entry.position = self._pending
        self._rewound = True
        self.failures, self.sink_error = 0, None

    def move(self, group: EvaluationGroup) -> None:
        """Move to another evaluation group."""
        self.entry.skipped += self.group.reached.skipped - group.reached.skipped
        self.entry.group = group.number
        self.group = group

    def fail(self, error: BaseException, sentence: str | None = None) -> None:
        """Mark as failed, with the error, of the query or (a `SinkFailure`) of its sink, as one sentence."""
        self.error = sentence or self._sentence(error)
        self.cause = error.cause if isinstance(error, SinkFailure) else error
        if isinstance(self.sink, MemorySink):
            self.sink.live(False)  # a reader need not wait for more

    def postpone(self, failure: SinkFailure, until: int) -> None:
        """Try the sink again at that time of the clock, because of this failure."""
        self.failures += 1
        self.sink_error, self.retry_at = self._sentence(failure), until

    def _sentence(self, error: BaseException) -> str:
        """The error as one sentence. Sinks have connections of their own, unless Spark writes their files."""
        if isinstance(error, SinkFailure):
            return cancellation.sentence(error.cause, of_spark=not self.fetches)
        return cancellation.sentence(error)

    def pause(self) -> None:
        self._pause(True)

    def resume(self) -> None:
        """Continue at the progress, at once; also after a failure."""
        self.forget_failure()
        self._pause(False)

    def forget_failure(self) -> None:
        """Be as a query that has not failed; its sink has all its attempts again."""
        self.error = self.retry_at = self.sink_error = None
        self.failures = 0

    @contextmanager
    def _between_deliveries(self) -> Iterator[bool]:
        """Wait for a delivery to end, and begin none meanwhile; but a slow sink is not waited for (False)."""
        while not (held := self._lock.acquire(timeout=_MOMENT)) and not self.is_delivering:
            pass
        try:
            yield held
        finally:
            if held:
                self._lock.release()

    def _pause(self, paused: bool) -> None:
        with self._between_deliveries():
            if self.dropped:
                raise PenstockError(f"The query {self.name} has been dropped.")
            self._registry.pause(self.entry.number, paused)
            self.entry.paused = paused

    def attach(self, sink: Sink) -> None:
        """Attach a sink again, after a restart."""
        with self._lock:
            self.sink = sink
            self._rewound = False

    def drop(self) -> None:
        """Remove the query. No answer is delivered after this, except by a slow sink that is at work on a batch."""
        with self._between_deliveries():
            self.dropped = True
            self._registry.remove(self.entry)
            self.close()

    def close(self) -> None:
        """Close the sink; one that is slow, and at work, when it has ended."""
        with self._between_deliveries() as quiet:
            if self.sink is not None and quiet:
                self.sink.close()
