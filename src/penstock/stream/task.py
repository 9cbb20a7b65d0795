"""A registered query at work: how far it is, where its answers go, and the order in which both become durable."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from threading import RLock

from pyoxigraph import NamedNode

from penstock.algebra.ops import RULES, Query, StreamWindow
from penstock.algebra.windows import SlideWindow
from penstock.errors import PenstockError
from penstock.io.sinks import Batch, ParquetSink, Position, Sink
from penstock.rules.rule import Rule
from penstock.stream.due import Plan
from penstock.stream.evaluate import Shape
from penstock.stream.failpoints import reach
from penstock.stream.registry import Entry, Registry

__all__ = ["Task"]


class Task:
    """One registered query.

    `progress` may be ahead of the registry's: time without an instant in it passes without being written down.
    """

    def __init__(self, entry: Entry, query: Query, sink: Sink | None, registry: Registry) -> None:
        self.entry = entry
        self.query = query
        self.asked = query
        self.group: tuple[Rule, ...] = ()
        self.sink = sink
        self.plan: Plan | None = None
        self.progress = entry.progress
        self.error: str | None = None
        self.cause: Exception | None = None
        self.dropped = False
        self.answers = 0
        self._rewound = False
        self._registry = registry
        self._lock = RLock()  # the sink is called with it held, so a sink may pause or drop its own query

    def begin(self, progress: int | None) -> None:
        """Register it: from now on it is remembered, with its sink where that stands."""
        if self.sink is not None:
            self._save(replace(self.entry, progress=progress, position=self.sink.begin()))
        self.progress = progress

    @property
    def name(self) -> str:
        return self.entry.name

    @property
    def shape(self) -> Shape:
        return Shape.of(self.name, self.query, None if self.plan is None else self.plan.emit)

    @property
    def inputs(self) -> tuple[str, ...]:
        """The streams that it reads."""
        return tuple(dict.fromkeys(window.iri.value for window in self.query.streams))

    @property
    def named(self) -> tuple[str, ...]:
        """Those of them that it calls by name, and cannot do without."""
        return tuple(dict.fromkeys(window.iri.value for window in self.asked.streams))

    def read(self, streams: Iterable[str], group: tuple[Rule, ...]) -> None:
        """A query of events that names no stream reads all these; `group` are the rules that feed this one, with it."""
        own = [s for s in self.asked.streams if s.iri != RULES]
        all_streams = not self.asked.streams
        wanted = tuple(s for s in streams if all_streams or s.startswith(RULES.value))
        found = (*own, *(StreamWindow(NamedNode(s), SlideWindow(None)) for s in wanted))
        if found != self.query.streams or group != self.group:
            self.query, self.group, self.plan = replace(self.query, streams=found), group, None

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
        return self.state == "running"

    @property
    def done(self) -> bool:
        """Whether there is nothing left to do: a query without a stream is answered once."""
        return not self.inputs and self.entry.batches > 0

    @property
    def fetches(self) -> bool:
        """Whether answers come into this process, rather than from Spark into files."""
        return self.output is not None or not isinstance(self.sink, ParquetSink)

    def deliver(self, batch: Batch, through: int | None, derive: Callable[[Batch], None], open: int = 0) -> bool:
        """Derived elements, then the sink, then progress: a crash anywhere repeats all three, and each replaces itself.
        `open` solutions go on after it.

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
            self._advance(through, open, position)
            self._rewound = True
            self.progress = through
            self.answers += batch.instants
            reach("saved")
            return True

    def _rewind(self, sink: Sink) -> None:
        """Once a process, and again after a delivery that failed half-way."""
        if not self._rewound:
            sink.rewind(self.entry.position)
        self._rewound = False

    def passed(self, through: int) -> None:
        """There was nothing to report up to then."""
        with self._lock:
            self.progress = through

    def skipped(self, through: int, open: int) -> None:
        """There was nothing to report up to then, but what goes on has been written down."""
        with self._lock:
            if self.ready:
                self._advance(through, open, self.entry.position)
                self.progress = through
                reach("skipped")

    def _advance(self, through: int | None, open: int, position: Position) -> None:
        batches = self.entry.batches + 1
        self._save(replace(self.entry, progress=through, batches=batches, position=position, open=open))

    def fail(self, error: Exception) -> None:
        """Stand still, and say why in one sentence."""
        from penstock.spark import running  # which imports PySpark

        self.error, self.cause = running.sentence(error), error

    def pause(self) -> None:
        with self._lock:
            self._save(replace(self.entry, paused=True))

    def resume(self) -> None:
        """Go on where it stopped; also after a failure."""
        with self._lock:
            self.error = None
            self._save(replace(self.entry, paused=False))

    def attach(self, sink: Sink) -> None:
        """Give it a sink again, after a restart."""
        with self._lock:
            self.sink = sink
            self._rewound = False

    def drop(self) -> None:
        """No answer is delivered after this."""
        with self._lock:
            self.dropped = True
            self._registry.remove(self.name)
            self.close()

    def close(self) -> None:
        with self._lock:
            if self.sink is not None:
                self.sink.close()

    def _save(self, entry: Entry) -> None:
        if self.dropped:
            raise PenstockError(f"The query {self.name} has been dropped.")
        self._registry.save(entry)
        self.entry = entry
