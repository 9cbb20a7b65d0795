"""The registered queries: found again after a restart, checked against each other when one is added."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from threading import RLock

from penstock.algebra.build import translate
from penstock.algebra.ops import REPORTS, Query
from penstock.errors import PenstockError, QueryError
from penstock.io.sinks import MemorySink, Sink, SinkSpec, open_sink, sink_text
from penstock.stream.evaluate import Shape
from penstock.stream.order import in_order
from penstock.stream.registry import Entry, Registry
from penstock.stream.task import Task

__all__ = ["Catalogue"]


class Catalogue:
    """Tasks by name. For any thread."""

    def __init__(self, registry: Registry) -> None:
        self._registry = registry
        self._tasks: dict[str, Task] = {}
        self._lock = RLock()
        self._unclaimed: set[str] = set()  # left by an earlier process, and not registered again in this one
        for entry in registry.load():
            query = translate(entry.text, entry.base)
            sink = None if entry.needs_sink else open_sink(entry.sink, Shape.of(entry.name, query).kind)
            self._tasks[entry.name] = Task(entry, query, sink, registry)
            self._unclaimed.add(entry.name)

    def __iter__(self) -> Iterator[Task]:
        with self._lock:
            return iter(list(self._tasks.values()))

    def __getitem__(self, name: str) -> Task:
        with self._lock:
            return self._tasks[name]

    def register(
        self, wanted: Entry, query: Query, sink: SinkSpec, declared: Iterable[str], begin: Callable[[Task], int | None]
    ) -> Task:
        """The task of a new query, or of the one that has this name and text already, which continues.

        `begin` says after which instant a new one starts.
        """
        with self._lock:
            known = self._tasks.get(wanted.name)
            if known is not None:
                return self._again(known, wanted, sink)
            self._check_sink(wanted)
            task = Task(wanted, query, open_sink(sink, Shape.of(wanted.name, query).kind), self._registry)
            self._check(task, declared)
            task.begin(begin(task))
            self._tasks[task.name] = task
            return task

    def name_for(self, text: str, name: str | None, query: Query) -> str:
        """The name that was given, or that the text gives; else a number, and after a restart the same as before."""
        if name is None and query.registration is not None:
            name = query.registration.name
        if name is not None:
            return name
        with self._lock:
            for task in self._tasks.values():
                if task.name in self._unclaimed and task.entry.text == text and task.name.startswith("query-"):
                    return task.name
            number = 1
            while f"query-{number}" in self._tasks:
                number += 1
            return f"query-{number}"

    def drop(self, task: Task) -> None:
        """Forget a query that nobody depends on."""
        with self._lock:
            reader = next((one for one in self if task.output in one.named and one is not task), None)
            if reader is not None:
                raise PenstockError(
                    f"The query {reader.name} reads the stream that {task.name} derives: drop it first."
                )
            self._tasks.pop(task.name, None)
            self._unclaimed.discard(task.name)
        task.drop()

    def _again(self, known: Task, wanted: Entry, sink: SinkSpec) -> Task:
        entry = known.entry
        if _asked(entry) != _asked(wanted):
            raise QueryError(
                f"there is a query {entry.name} already, with another text or other options",
                hint=f'drop it first, engine["{entry.name}"].drop(), or register this one under another name',
            )
        if entry.sink != wanted.sink or entry.needs_sink != wanted.needs_sink:
            raise QueryError(f"the query {entry.name} delivers to another sink", hint="drop it first")
        if wanted.needs_sink:
            known.attach(open_sink(sink, known.shape.kind))
        self._unclaimed.discard(entry.name)
        return known

    def _check(self, task: Task, declared: Iterable[str]) -> None:
        """One producer a stream, and no circle."""
        if task.output is not None and task.output in declared:
            raise QueryError(f"the query {task.name} derives <{task.output}>, which is declared as a source")
        in_order([*self._tasks.values(), task])

    def _check_sink(self, wanted: Entry) -> None:
        for task in self._tasks.values():
            if wanted.sink is not None and task.entry.sink == wanted.sink:
                raise QueryError(f"{wanted.sink} is the sink of the query {task.name}: give each query its own")


def _asked(entry: Entry) -> tuple[str | None, ...]:
    return entry.text, entry.base, entry.duplicates, entry.emit


def entry_of(name: str, text: str, base: str | None, duplicates: str, emit: str | None, sink: SinkSpec) -> Entry:
    """What the registry will remember of a new query."""
    if duplicates not in ("keep", "merge"):
        raise ValueError(f'duplicates is "keep" or "merge", not {duplicates!r}')
    path = sink_text(sink)
    if emit not in (None, *REPORTS):
        raise ValueError(f"emit is one of {', '.join(REPORTS)}, not {emit!r}")
    needs_sink = sink is not None and path is None
    return Entry(name, text, base, duplicates, path, needs_sink=needs_sink, emit=emit)


def memory_of(sink: Sink | None) -> MemorySink | None:
    """The sink, if it is one that keeps answers."""
    return sink if isinstance(sink, MemorySink) else None
