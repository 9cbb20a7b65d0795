"""Stand-ins for the compiler, the log and the sources, so that rounds can be tested without Spark."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from pyoxigraph import NamedNode

from penstock.algebra import ops
from penstock.algebra.build import Translation
from penstock.algebra.expressions import Var
from penstock.algebra.schedule import Schedule
from penstock.algebra.template import Constants
from penstock.algebra.windows import CountWindow, TimeWindow, ceiling
from penstock.compile.parameter_table import ParameterTable
from penstock.io.sinks import Batch, Position, Sink, SinkSpec
from penstock.model.span import Span
from penstock.model.stream_files import StreamFiles
from penstock.spark.query.evaluation import Evaluation
from penstock.stream.evaluation.rounds import Rounds
from penstock.stream.log.stream_log import Segment
from penstock.stream.registry.catalogue import Catalogue
from penstock.stream.registry.due_instants import CompiledQuery
from penstock.stream.registry.evaluation_groups import EvaluationGroups
from penstock.stream.registry.metadata_store import MetadataStore, QueryRecord
from penstock.stream.registry.query_family import Family
from penstock.stream.registry.registered_query import RegisteredQuery

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

ELEMENT = ("<http://e/s>", "<http://e/p>", "<http://e/o>")


@dataclass(frozen=True)
class Frame:
    """What a plan gives: something with `collect`."""

    table: pa.Table

    @property
    def frame(self) -> DataFrame:
        raise AssertionError("there is no Spark")

    def collect(self) -> pa.Table:
        return self.table

    def write_open(self, path: str) -> int:
        raise AssertionError("whole answers leave nothing open")


@dataclass(frozen=True)
class FakeDataFrame:
    """A DataFrame of Spark whose rows are here."""

    table: pa.Table

    def toArrow(self) -> pa.Table:
        return self.table


@dataclass
class FakePlan:
    """Answers every multiple of `step` with the number of its streams' paths; `fails` makes it fail instead."""

    step: int = 10
    range: int = 10
    counting: bool = False
    graph: bool = False
    fails: bool = False
    emit: str = "rstream"
    seen: list[tuple[dict[str, StreamFiles], Span]] = field(default_factory=list)

    @property
    def carries(self) -> bool:
        return self.emit not in ("rstream", "events")

    def evaluate(self, evaluation: Evaluation) -> Any:
        self.seen.append((dict(evaluation.streams), evaluation.span))
        if self.fails:
            raise RuntimeError("boom\nat line 1")
        return self.result(evaluation)

    def result(self, evaluation: Evaluation) -> Any:
        """The rows of an evaluation; other plans have others."""
        times = list(range_of(evaluation.span, self.step))
        if self.graph:
            s, p, o = ([term] * len(times) for term in ELEMENT)
            return Frame(pa.table({"time": times, "s": s, "p": p, "o": o, ".row": [True] * len(times)}))
        paths = sum(len(stream.paths) for stream in evaluation.streams.values())
        return Frame(pa.table({"time": times, "n": [f'"{paths}"'] * len(times), ".row": [True] * len(times)}))

    @property
    def schedule(self) -> Schedule:
        if self.counting:
            return Schedule(at_changes=True, elsewhere=(CountWindow(2),))
        return Schedule((self.step,), elsewhere=(TimeWindow(self.range, self.step),))


def range_of(span: Span, step: int) -> range:
    return range(ceiling(span.after + 1, step), span.through + 1, step)


def segment(first: int, last: int, rows: int = 1, name: str = "") -> Segment:
    return Segment((name or f"{first}-{last}",), rows, first, last, {"<http://e/p>": rows})


@dataclass
class FakeInputs:
    """A log in memory; `ends` are the watermarks of its streams."""

    held: dict[str, list[Segment]] = field(default_factory=dict)
    ends: dict[str, int | None] = field(default_factory=dict)
    discarded: list[tuple[str, int, int]] = field(default_factory=list)
    derived: list[tuple[str, int, list[int]]] = field(default_factory=list)
    undone: list[tuple[str, int]] = field(default_factory=list)

    @property
    def streams(self) -> Sequence[str]:
        return list(self.ends)

    def segments(self, stream: str) -> Sequence[Segment]:
        return tuple(self.held.get(stream, ()))

    def dropped(self, stream: str) -> int:
        return 0

    def verify(self, stream: str, segments: Iterable[Segment]) -> None:
        pass

    def tidy(self, stream: str, horizon: int, keep_last: int) -> None:
        self.discarded.append((stream, horizon, keep_last))

    def derive(self, stream: str, batch: Batch) -> None:
        times = [round(answer.time.timestamp() * 1e6) for answer in batch.answers if answer.time is not None]
        self.derived.append((stream, batch.number, times))
        self.held.setdefault(stream, []).append(segment(min(times), max(times), len(times), f"derived-{batch.number}"))

    def undo(self, stream: str, number: int) -> None:
        self.undone.append((stream, number))
        self.held[stream] = [part for part in self.held.get(stream, []) if part.paths != (f"derived-{number}",)]

    @property
    def watermarks(self) -> FakeWatermarks:
        return FakeWatermarks(self.ends)


@dataclass
class FakeWatermarks:
    """Watermarks of declared streams by name."""

    ends: dict[str, int | None]

    def combined(self, streams: Iterable[str], others: Iterable[int | None] = ()) -> int | None:
        ends = [*(self.ends.get(stream) for stream in streams), *others]
        return None if None in ends else min(end for end in ends if end is not None)

    def of(self, stream: str) -> int | None:
        return self.ends.get(stream)


class ListSink:
    """Keeps instants in a list; its position is how many there are. `fails` makes it fail half-way."""

    def __init__(self) -> None:
        self.times: list[int] = []
        self.rewinds: list[Position] = []
        self.fails = False
        self.closed = False

    def begin(self) -> Position:
        return 0

    def rewind(self, position: Position) -> None:
        self.rewinds.append(position)
        del self.times[int(position or 0) :]

    def deliver(self, batch: Batch) -> Position:
        for answer in batch.answers:
            assert answer.time is not None
            self.times.append(round(answer.time.timestamp() * 1e6))
            if self.fails:
                raise OSError("disk full")
        return len(self.times)

    def close(self) -> None:
        self.closed = True


def windowed(*streams: str, output: str | None = None, every: int | None = None, counting: bool = False) -> ops.Query:
    window = CountWindow(3) if counting else TimeWindow(10, 10)
    registration = ops.Registration("q", every, None if output is None else NamedNode(output))
    windows = tuple(ops.StreamWindow(NamedNode(stream), window) for stream in streams)
    form: ops.Form = ops.Select() if output is None else ops.Construct(())
    return ops.Query(form, ops.Bgp(()), (Var("n"),) if output is None else (), None, None, windows, registration)


def task(
    name: str, *streams: str, output: str | None = None, sink: Sink | None = None, **plan: object
) -> RegisteredQuery:
    """A query that is answered alone, whatever the others are."""
    counting = bool(plan.get("counting"))
    query = windowed(*streams, output=output, counting=counting)
    made = RegisteredQuery(QueryRecord(name, "…", position=0), query, sink or ListSink(), MetadataStore(None))
    made.plan = FakePlan(graph=output is not None, **plan)  # type: ignore[arg-type]
    return made


class NoPlanner:
    """For groups whose plans are there."""

    def plan(self, task: RegisteredQuery, factor: int = 1) -> CompiledQuery:
        raise AssertionError(f"{task.name} has no plan")

    def compiled(self, query: ops.Query, entry: QueryRecord) -> CompiledQuery:
        raise AssertionError(f"{entry.name} is of a family")

    def members(self, numbers: Sequence[int], rows: Sequence[Constants]) -> ParameterTable:
        raise AssertionError(f"{numbers} are of a family")

    def release(self, plan: CompiledQuery) -> None: ...

    def slice_job(self) -> None:
        """Return none: a fake plan has no slices."""


class Alone(EvaluationGroups):
    """Units of one query each."""

    def _family(self, task: RegisteredQuery) -> Family | None:
        return None


def groups(*tasks: RegisteredQuery, progress: int | None = None) -> EvaluationGroups:
    """All of them new, and so far."""
    made = Alone(registry := MetadataStore(None), NoPlanner())
    for one in tasks:
        one._registry = registry
        made.begin(one, progress)
    return made


def register(
    catalogue: Catalogue,
    entry: QueryRecord,
    query: ops.Query,
    sink: SinkSpec,
    declared: Sequence[str],
    start: int | None,
) -> RegisteredQuery:
    """Register a query as the runtime does; a new one starts after that instant."""
    if (known := catalogue.reattach(entry, sink)) is not None:
        return known
    made = catalogue.create(entry, Translation(query, None, entry.text, None, frozenset()), sink, declared)
    catalogue.add(made, start)
    return made


def saved(one: RegisteredQuery) -> int | None:
    """How far the registry says that it is."""
    return one._registry.load_groups()[one.entry.group].progress


def rounds(inputs: FakeInputs, *tasks: RegisteredQuery, **options: Any) -> Rounds:
    """A round for these."""
    return Rounds(inputs, inputs.watermarks, groups(*tasks), **options)
