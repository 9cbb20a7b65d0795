"""The catalogue of registered queries: restored after a restart, checked against each other at registration."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Container, Iterator
from threading import RLock
from typing import get_args

from penstock.algebra.build import TextTemplates, Translation
from penstock.algebra.ops import REPORTS, Query
from penstock.errors import OptionError, PenstockError, QueryError
from penstock.io.sinks import MemorySink, Sink, SinkSpec, open_sink, sink_text
from penstock.options import Duplicates, Emit, Overload
from penstock.stream.answers.answer_batch import AnswerSchema
from penstock.stream.registry.dependency_order import in_order
from penstock.stream.registry.evaluation_group import Planner
from penstock.stream.registry.evaluation_groups import EvaluationGroups
from penstock.stream.registry.load_shedding import CATCH_UP
from penstock.stream.registry.metadata_store import MetadataStore, QueryRecord
from penstock.stream.registry.registered_query import RegisteredQuery
from penstock.tuning import DEFAULT, Tuning

__all__ = ["Catalogue"]

_NUMBERED = "query-"


class Catalogue:
    """Registered queries by name. Thread-safe. The cost of a registration does not depend on their number."""

    def __init__(
        self,
        registry: MetadataStore,
        planner: Planner,
        tuning: Tuning = DEFAULT,
        texts: TextTemplates | None = None,
    ) -> None:
        texts = texts or TextTemplates()
        self._registry, self._tuning = registry, tuning
        self._tasks: dict[str, RegisteredQuery] = {}
        self._sinks: dict[str, str] = {}  # whose they are
        self._free = 1  # no smaller number is free for a name
        self._lock = RLock()
        self.derived: dict[str, RegisteredQuery] = {}  # streams, and which query derives them
        self._linked: dict[str, RegisteredQuery] = {}
        self.groups = EvaluationGroups(registry, planner)
        for entry in registry.load():
            translation = texts.translate(entry.text, entry.base)
            kind = AnswerSchema.of(entry.name, translation.query).kind
            sink = None if entry.needs_sink else self._open_sink(entry.sink, kind)
            self._add(task := RegisteredQuery(entry, translation.query, sink, registry, translation.template))
            self.groups.add(task)
        self._unclaimed = {name for name in self._tasks if name.startswith(_NUMBERED)}  # not registered again so far
        self._by_text: defaultdict[str, list[str]] = defaultdict(list)
        for name in sorted(self._unclaimed):
            self._by_text[self._tasks[name].entry.text].append(name)

    def __iter__(self) -> Iterator[RegisteredQuery]:
        with self._lock:
            return iter(list(self._tasks.values()))

    @property
    def linked(self) -> list[RegisteredQuery]:
        """The event queries, which may read other queries, and the queries that derive a stream."""
        with self._lock:
            return list(self._linked.values())

    def __getitem__(self, name: str) -> RegisteredQuery:
        with self._lock:
            return self._tasks[name]

    def reattach(self, entry: QueryRecord, sink: SinkSpec) -> RegisteredQuery | None:
        """The query that has this name and text already, which continues with the sink; None: there is none."""
        with self._lock:
            task = self._tasks.get(entry.name)
            return None if task is None else self._reattach(task, entry, sink)

    def create(
        self, entry: QueryRecord, translation: Translation, sink: SinkSpec, declared: Container[str]
    ) -> RegisteredQuery:
        """A query that is not registered yet, checked against those that are; see `add`."""
        with self._lock:
            self._check_sink(entry)
            opened = self._open_sink(sink, AnswerSchema.of(entry.name, translation.query).kind)
            task = RegisteredQuery(entry, translation.query, opened, self._registry, translation.template)
            self._check(task, declared)
            return task

    def add(self, task: RegisteredQuery, progress: int | None) -> None:
        """Register a new query, which starts after that instant (None: with the first element)."""
        with self._lock:
            task.begin()
            self.groups.begin(task, progress)
            self._add(task)

    def name_for(self, text: str, name: str | None, query: Query) -> str:
        """The name that was given, or that the text gives; else a number, and after a restart the same as before."""
        if name is None and query.registration is not None:
            name = query.registration.name
        if name is not None:
            return name
        with self._lock:
            unclaimed = (registered for registered in self._by_text.get(text, ()) if registered in self._unclaimed)
            while f"{_NUMBERED}{self._free}" in self._tasks:
                self._free += 1
            return next(unclaimed, f"{_NUMBERED}{self._free}")

    def drop(self, task: RegisteredQuery) -> None:
        """Remove a query that no other query depends on."""
        with self._lock:
            if task.output is not None:
                self._check_unread(task)
            if self._tasks.get(task.name) is task:
                self._remove(task)
        task.drop()

    def _add(self, task: RegisteredQuery) -> None:
        self._tasks[task.name] = task
        if task.entry.sink is not None:
            self._sinks[task.entry.sink] = task.name
        if task.output is not None:
            self.derived[task.output] = task
        if task.original.emit == "events" or task.output is not None:
            self._linked[task.name] = task

    def _remove(self, task: RegisteredQuery) -> None:
        del self._tasks[task.name]
        self._unclaimed.discard(task.name)
        if task.entry.sink is not None:
            del self._sinks[task.entry.sink]
        if task.output is not None:
            del self.derived[task.output]
        if (number := task.name.removeprefix(_NUMBERED)).isdecimal():
            self._free = min(self._free, int(number))
        self._linked.pop(task.name, None)
        self.groups.drop(task)

    def _reattach(self, task: RegisteredQuery, wanted: QueryRecord, sink: SinkSpec) -> RegisteredQuery:
        entry = task.entry
        if _definition(entry) != _definition(wanted):
            raise QueryError(
                f"there is a query {entry.name} already, with another text or other options",
                hint=f'drop it first, engine["{entry.name}"].drop(), or register this one under another name',
            )
        if entry.sink != wanted.sink or entry.needs_sink != wanted.needs_sink:
            raise QueryError(f"the query {entry.name} delivers to another sink", hint="drop it first")
        if entry.retry != wanted.retry:
            entry.retry = wanted.retry
            self._registry.save_options(entry)
        if wanted.needs_sink:
            task.attach(self._open_sink(sink, task.kind))
        self._unclaimed.discard(entry.name)
        return task

    def _open_sink(self, spec: SinkSpec, kind: str) -> Sink:
        return open_sink(spec, kind, tuning=self._tuning)

    def _check(self, task: RegisteredQuery, declared: Container[str]) -> None:
        """Check that each stream has one producer, and that there is no cycle, which needs a query that derives."""
        if task.output is None:
            return
        if task.output in declared:
            raise QueryError(f"the query {task.name} derives <{task.output}>, which is declared as a source")
        in_order([*self.derived.values(), task])

    def _check_unread(self, task: RegisteredQuery) -> None:
        reader = next((one for one in self if task.output in one.named and one is not task), None)
        if reader is not None:
            raise PenstockError(f"The query {reader.name} reads the stream that {task.name} derives: drop it first.")

    def _check_sink(self, entry: QueryRecord) -> None:
        if entry.sink is not None and (owner := self._sinks.get(entry.sink)) is not None:
            raise QueryError(f"{entry.sink} is the sink of the query {owner}: give each query its own")


def _definition(entry: QueryRecord) -> tuple[str | None, ...]:
    return entry.text, entry.base, entry.duplicates, entry.emit, entry.overload


def entry_of(
    name: str,
    text: str,
    base: str | None,
    duplicates: Duplicates,
    emit: Emit | None,
    sink: SinkSpec,
    overload: Overload = CATCH_UP,
    retry: int = 0,
) -> QueryRecord:
    """The record of a new query for the metadata store."""
    if not name:
        raise OptionError("the name of a query must not be empty")
    if duplicates not in get_args(Duplicates):
        raise OptionError(f'duplicates is "keep" or "merge", not {duplicates!r}')
    path = sink_text(sink)
    if emit not in (None, *REPORTS):
        raise OptionError(f"emit is one of {', '.join(REPORTS)}, not {emit!r}")
    if not isinstance(retry, int) or retry < 0:
        raise OptionError(f"retry is how often a sink is tried again, 0 or more, not {retry!r}")
    needs_sink = sink is not None and path is None
    options = {"emit": emit, "overload": overload, "retry": retry}
    return QueryRecord(name, text, base, duplicates, path, needs_sink=needs_sink, **options)  # type: ignore[arg-type]


def memory_of(sink: Sink | None) -> MemorySink | None:
    """The sink, if it keeps answers in memory."""
    return sink if isinstance(sink, MemorySink) else None
