"""A registered query at work: how far it is, where its answers go, and the order in which both become durable."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from threading import RLock
from typing import TYPE_CHECKING

from pyoxigraph import NamedNode

from penstock.algebra.ops import RULES, Query, StreamWindow
from penstock.algebra.windows import SlideWindow
from penstock.errors import PenstockError
from penstock.io.sinks import Batch, ParquetSink, Sink
from penstock.recursive_rules.analysis.rule import Rule
from penstock.stream.base.failpoints import reach
from penstock.stream.evaluation.answer_batch import AnswerSchema
from penstock.stream.registry.due_instants import CompiledQuery
from penstock.stream.registry.metadata_store import MetadataStore, QueryProgress, QueryRecord

if TYPE_CHECKING:
    from penstock.stream.registry.evaluation_group import EvaluationGroup

__all__ = ["RegisteredQuery"]


class RegisteredQuery:
    """One registered query. How far it is, its unit knows."""

    unit: EvaluationGroup

    def __init__(self, entry: QueryRecord, query: Query, sink: Sink | None, registry: MetadataStore) -> None:
        self.entry = entry
        self.query = query
        self.asked = query
        self.group: tuple[Rule, ...] = ()
        self.sink = sink
        self.plan: CompiledQuery | None = None  # of its own, where it is answered alone
        self.error: str | None = None
        self.cause: Exception | None = None
        self.dropped = False
        self.answers = 0
        self._pending = entry.batches, entry.position
        self._rewound = False
        self._registry = registry
        self._lock = RLock()  # the sink is called with it held, so a sink may pause or drop its own query

    def begin(self) -> None:
        """It is new: its sink is remembered where that stands."""
        if self.sink is not None:
            self.entry.position = self.sink.begin()

    @property
    def name(self) -> str:
        return self.entry.name

    @property
    def kind(self) -> str:
        """Of its answers."""
        return AnswerSchema.of(self.name, self.query).kind

    @property
    def inputs(self) -> tuple[str, ...]:
        """The streams that it reads."""
        return tuple(dict.fromkeys(window.iri.value for window in self.query.streams))

    @property
    def named(self) -> tuple[str, ...]:
        """Those of them that it calls by name, and cannot do without."""
        return tuple(dict.fromkeys(window.iri.value for window in self.asked.streams))

    @property
    def progress(self) -> int | None:
        """All its instants up to then are answered."""
        return self.unit.reached.progress

    def read(self, streams: Iterable[str], group: tuple[Rule, ...]) -> bool:
        """A query of events that names no stream reads all these; `group` are the rules that feed this one, with it.

        Whether that is news."""
        own = [s for s in self.asked.streams if s.iri != RULES]
        all_streams = not self.asked.streams
        wanted = tuple(s for s in streams if all_streams or s.startswith(RULES.value))
        found = (*own, *(StreamWindow(NamedNode(s), SlideWindow(None)) for s in wanted))
        if found == self.query.streams and group == self.group:
            return False
        self.query, self.group, self.plan = replace(self.query, streams=found), group, None
        return True

    @property
    def is_rule(self) -> bool:
        """Whether its triples go back into the stream."""
        registration = self.asked.registration
        return self.asked.emit == "events" and registration is not None and registration.output == RULES

    @property
    def output(self) -> str | None:
        """The stream that it derives."""
        registration = self.asked.registration
        if self.is_rule:
            return f"{RULES.value}:{self.name}"
        return None if registration is None or registration.output is None else registration.output.value

    @property
    def state(self) -> str:
        """One word for people."""
        if self.dropped:
            return "dropped"
        if self.error is not None:
            return "failed"
        if self.entry.paused:
            return "paused"
        return "waiting for its sink" if self.sink is None else "running"

    @property
    def ready(self) -> bool:
        return not (self.dropped or self.entry.paused or self.error is not None or self.sink is None)

    @property
    def done(self) -> bool:
        """Whether there is nothing left to do: a query without a stream is answered once."""
        return not self.inputs and self.entry.batches > 0

    @property
    def fetches(self) -> bool:
        """Whether answers come into this process, rather than from Spark into files."""
        return self.output is not None or not isinstance(self.sink, ParquetSink)

    def deliver(self, batch: Batch, derive: Callable[[Batch], None]) -> bool:
        """Derived elements, then the sink; progress follows when all that are answered together have been delivered to.
        A crash anywhere repeats all three, and each replaces itself.

        False: the query was paused, dropped or failed in the meantime, and the batch is not wanted.
        """
        with self._lock:
            if not self.ready or self.sink is None:
                return False
            if self.output is not None:
                derive(batch)
                reach("derived")
            self._rewind(self.sink)
            position = self.sink.deliver(batch)
            reach("delivered")
            self._pending = self.entry.batches + 1, position
            self.answers += batch.instants
            return True

    def _rewind(self, sink: Sink) -> None:
        """Once a process, and again after a delivery that failed half-way."""
        if not self._rewound:
            sink.rewind(self.entry.position)
        self._rewound = False

    @property
    def pending(self) -> QueryProgress:
        """What is to be saved after a delivery."""
        return QueryProgress(self.entry.unit, *self._pending, self.entry.skipped, self.entry.number)

    @property
    def placed(self) -> QueryProgress:
        """What is to be saved when it is answered with others."""
        entry = self.entry
        return QueryProgress(entry.unit, entry.batches, entry.position, entry.skipped, entry.number)

    def saved(self) -> None:
        """The last delivery is, with progress."""
        self.entry.batches, self.entry.position = self._pending
        self._rewound = True

    def move(self, unit: EvaluationGroup) -> None:
        """From now on it is answered with those."""
        self.entry.skipped += self.unit.reached.skipped - unit.reached.skipped
        self.entry.unit = unit.number
        self.unit = unit

    def fail(self, error: Exception) -> None:
        """Stand still, and say why in one sentence."""
        from penstock.spark.session import cancellation  # which imports PySpark

        self.error, self.cause = cancellation.sentence(error), error

    def pause(self) -> None:
        self._pause(True)

    def resume(self) -> None:
        """Go on where it stopped; also after a failure."""
        self.error = None
        self._pause(False)

    def _pause(self, paused: bool) -> None:
        with self._lock:
            if self.dropped:
                raise PenstockError(f"The query {self.name} has been dropped.")
            self._registry.pause(self.entry.number, paused)
            self.entry.paused = paused

    def attach(self, sink: Sink) -> None:
        """Give it a sink again, after a restart."""
        with self._lock:
            self.sink = sink
            self._rewound = False

    def drop(self) -> None:
        """No answer is delivered after this."""
        with self._lock:
            self.dropped = True
            self._registry.remove(self.entry)
            self.close()

    def close(self) -> None:
        with self._lock:
            if self.sink is not None:
                self.sink.close()
