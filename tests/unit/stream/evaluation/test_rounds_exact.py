"""Whatever comes between, a query sees at each instant what its windows should hold then.

Rounds over the real log, with its retention and compaction, and over the real intake and registry; only Spark is
replaced by the windows' definition. Elements come in portions, some behind others, queries pause and resume, one
reads what another derives, and the whole is closed and opened again: the answers are those on the whole streams.
"""

from __future__ import annotations

import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyoxigraph import NamedNode

from penstock.algebra import ops
from penstock.algebra.expressions import Var
from penstock.algebra.windows import CountWindow, TimeWindow, Window
from penstock.model.span import Span
from penstock.stream.base.clock import SystemClock
from penstock.stream.base.watermark import Watermarks
from penstock.stream.evaluation.rounds import Rounds
from penstock.stream.ingest.dead_letters import DeadLetters
from penstock.stream.ingest.late_filter import Reading
from penstock.stream.ingest.log_writer import ArrivedBatch, LogWriter
from penstock.stream.ingest.stream_declaration import Declared
from penstock.stream.ingest.stream_view import StreamView
from penstock.stream.log.stream_log import StreamLog
from penstock.stream.registry.metadata_store import MetadataStore, QueryRecord
from penstock.stream.registry.registered_query import RegisteredQuery
from penstock.tuning import Tuning
from tests.support.runtime import Alone, NoPlanner
from tests.support.tape import Tape
from tests.support.windowed import DefinedPlan, Elements, KeepingSink

S, T, D = "http://e/s", "http://e/t", "http://e/d"
LATENESS = 3
BYTES = 300
Event = tuple[str, Any]


def case(tape: bytes) -> tuple[dict[str, ops.Query], list[Event]]:
    draw = Tape(tape)
    return _queries(draw), [_event(draw) for _ in range(draw.count(10, 40))]


def _queries(draw: Tape) -> dict[str, ops.Query]:
    """Some that read the sources, and one that reads what the first of them derives, perhaps beside a source."""
    sources = ([S], [S, T], [T, S], [T])
    made = {f"q{n}": _query(draw, draw.pick(sources), D if n == 0 else None) for n in range(draw.count(1, 3))}
    return made | {"reader": _query(draw, draw.pick(([D], [D, S])), None)}


def _query(draw: Tape, streams: list[str], output: str | None) -> ops.Query:
    windows = tuple(ops.StreamWindow(NamedNode(stream), _window(draw)) for stream in streams)
    every = draw.pick((None, None, None, 3, 10, 25))
    registration = ops.Registration("q", every, None if output is None else NamedNode(output))
    form: ops.Form = ops.Select() if output is None else ops.Construct(())
    return ops.Query(form, ops.Bgp(()), (Var("n"),) if output is None else (), None, None, windows, registration)


def _window(draw: Tape) -> Window:
    if draw.chance(2):
        step = draw.count(1, 4)
        return CountWindow(step + draw.count(0, 3), step)
    step = draw.pick((1, 2, 5, 7, 10))
    return TimeWindow(step + draw.pick((0, 0, 1, 7, 20)), step)


def _event(draw: Tape) -> Event:
    what = draw.pick((S, "round", T, S, "round", T, "round", S, "pause", "resume", "restart"))
    if what in (S, T):
        return what, [draw.count(0, 9) - LATENESS for _ in range(draw.pick((1, 1, 2, 4, 0)))]
    return what, draw.pick(("q0", "q1", "q2", "reader"))


SMALL = Tuning(job_instants=4, job_elements=2, compaction_fanout=6, journal_bytes=3_000)
"""Spans come in pieces, segments are merged and journals folded as if there were much."""


@dataclass
class Engine:
    """The state that outlives a restart: the folder, the sinks, and for the test all elements ever pushed."""

    root: Path
    queries: dict[str, ops.Query]
    sinks: dict[str, KeepingSink] = field(default_factory=dict)
    came: dict[str, list[tuple[int, str]]] = field(default_factory=lambda: {S: [], T: []})

    def open(self) -> None:
        self.log = StreamLog(self.root / "log", SMALL)
        declared = {name: Declared(lateness=LATENESS) for name in (S, T)}
        self.watermarks = Watermarks(self.log, SystemClock(), declared)
        self.log_writer = LogWriter(self.log, DeadLetters(self.root / "dead"), self.watermarks)
        self.inputs = StreamView(self.log, declared)
        registry = MetadataStore(self.root / "registry")
        entries = {entry.name: entry for entry in registry.load()}
        self.groups = Alone(registry, NoPlanner())
        self.tasks = {name: self._task(name, entries.get(name), registry) for name in self.queries}

    def _task(self, name: str, known: QueryRecord | None, registry: MetadataStore) -> RegisteredQuery:
        sink = self.sinks.setdefault(name, KeepingSink())
        task = RegisteredQuery(known or QueryRecord(name, "…"), self.queries[name], sink, registry)
        if known is None:
            task.begin()
            self.groups.begin(task, None)
        else:
            self.groups.add(task)
        if task.output is not None:
            self.inputs.undo(task.output, task.entry.batches)
        task.plan = cast(Any, DefinedPlan(task.query))
        return task

    def push(self, stream: str, moves: list[int]) -> None:
        """Each element is so much after, or before, the newest one; none is late. One stream is pushed to, and the
        other is read from a folder."""
        rows = self.came[stream]
        first = len(rows)
        for move in moves:
            newest = max((time for time, _ in rows), default=0)
            rows.append((newest + max(move, -LATENESS), f"<http://e/{stream[-1]}{len(rows)}>"))
        terms = pa.array([o for _, o in rows[first:]], pa.string())
        times = pa.array([time for time, _ in rows[first:]], pa.int64())
        readings = [Reading(pa.table({"s": terms, "p": terms, "o": terms, "ts": times}))]
        if stream == S:
            self.log_writer.push(stream, lambda _: readings)
        else:
            batch = ArrivedBatch(stream, "folder", self.log.next_batch(stream, "folder"))
            self.log_writer.write(batch, readings)

    def round(self) -> None:
        rounds = Rounds(self.inputs, self.watermarks, self.groups, tuning=SMALL)
        while rounds.live():
            pass
        assert not [task.error for task in self.tasks.values() if task.error]

    def do(self, event: tuple[str, Any]) -> None:
        match event:
            case ("round", _):
                self.round()
            case ("restart", _):
                self.open()
            case ("pause" | "resume" as what, name):
                if name in self.tasks:
                    getattr(self.tasks[name], what)()
            case (stream, moves):
                self.push(stream, moves)

    def finish(self) -> None:
        for task in self.tasks.values():
            task.resume()
        last = max((time for rows in self.came.values() for time, _ in rows), default=0)
        for stream in (S, T):
            self.log.advance(stream, last + 40)
        self.round()

    def expected(self, name: str) -> list[tuple[int, list[str]]]:
        """On the whole streams, up to where it is answered."""
        query, through = self.queries[name], self.tasks[name].progress
        names = [s.iri.value for s in query.streams]
        came = {S: self.came[S], T: self.came[T], D: self.derived()}
        elements = {stream: Elements(sorted(came[stream], key=lambda row: row[0])) for stream in names}
        first = min((rows.rows[0][0] for rows in elements.values() if rows.rows), default=0)
        assert through is not None, "time has gone on for everybody"
        return list(DefinedPlan(query).answers(elements, Span(first - 1, through)).items())

    def derived(self) -> list[tuple[int, str]]:
        return [(time, o) for time, content in self.sinks["q0"].answers for o in content]


@pytest.fixture(autouse=True)
def unsynced(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing has to reach the disk."""
    monkeypatch.setattr("os.fsync", lambda _: None)


@given(st.binary(min_size=BYTES, max_size=BYTES).map(case))
@settings(max_examples=60)
def test_answers_equal_those_over_the_whole_streams(case: tuple[dict[str, ops.Query], list[Event]]) -> None:
    queries, events = case
    with tempfile.TemporaryDirectory() as folder:
        engine = Engine(Path(folder), queries)
        engine.open()
        for event in events:
            engine.do(event)
        engine.finish()
        for name in queries:
            assert engine.sinks[name].answers == engine.expected(name), name
