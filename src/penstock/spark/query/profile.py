"""Profiles of an evaluation: the plan, the estimated cardinality of each operator, and with a run the actual one.

Every operator of the plan is compiled by itself as well, so its rows can be counted: one Spark job per operator, whose
time includes all operators below it.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import gcd
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING

from pyspark.sql import DataFrame, SparkSession

from penstock.algebra.occurrence import inner_plans
from penstock.algebra.ops import Op, Query, Select, StreamWindow
from penstock.algebra.windows import TimeWindow
from penstock.compile import sql
from penstock.compile.probe import probing
from penstock.compile.relation import FROM, INSTANT, TO, Relation
from penstock.compile.windows.plan_span import down, up
from penstock.compile.windows.stream_to_relation import WindowRelation
from penstock.compile.windows.window_statistics import LiveStatistics
from penstock.model.span import Span
from penstock.model.stream_files import StreamFiles
from penstock.optimise import Optimised, Statistics
from penstock.optimise.cost import estimate
from penstock.spark.query.evaluation import Evaluation
from penstock.spark.session.catalog import catalog
from penstock.spark.store.one_shot import OneShotQuery

if TYPE_CHECKING:
    from penstock.spark.query.continuous_query import ContinuousQuery
    from penstock.spark.views.background_tables import BackgroundTables

__all__ = ["Profile", "RowCount", "StoredStream", "at_once", "profile_continuous", "profile_once", "step_of"]


@dataclass(frozen=True, slots=True)
class RowCount:
    """The rows of the whole span, the average number that hold at an instant, and the seconds of the count."""

    rows: int
    at_once: float
    seconds: float


@dataclass(frozen=True, slots=True)
class StoredStream:
    """The stored part of a stream: elements, and the bytes of their files."""

    elements: int
    bytes: int
    predicates: frozenset[str] | None


@dataclass(slots=True)
class Profile:
    """The profile of one evaluation. Operators are told apart by identity: equal patterns may stand at several
    places."""

    optimised: Optimised
    physical: Query
    spark_plan: str
    streams: Mapping[str, StoredStream] = field(default_factory=dict)
    background: frozenset[str] | None = None
    estimated: dict[int, float] = field(default_factory=dict)
    counted: dict[int, RowCount] = field(default_factory=dict)
    held: dict[StreamWindow, float] = field(default_factory=dict)  # estimated elements of each window
    windows: dict[StreamWindow, RowCount] = field(default_factory=dict)  # and the actual ones
    orders: list[str] = field(default_factory=list)  # changes of the join order, and their reasons
    report: str | None = None  # the algorithm of the report
    engine: str | None = None  # which engine evaluates it, and the reason if it is not DuckDB
    open: int = 0  # open intervals after the last evaluation
    together: int = 1  # queries that share its plan


def profile_continuous(
    query: ContinuousQuery, background: BackgroundTables, streams: Mapping[str, StreamFiles], span: Span, *, run: bool
) -> Profile:
    """Return the profile of a continuous query in a span; without `run` no row is counted and nothing is computed."""
    probe = _Probe(background.session, span)
    with probing(probe):
        frame = query.evaluate(Evaluation(streams, span, final=True)).frame
    sizes = {name: _held(stream, background) for name, stream in streams.items()}
    profile = probe.result(frame, _iris(background.predicates()), sizes, run)
    profile.report = query.report
    profile.engine = query.engine_for(Evaluation(streams, span, final=True))
    return profile


def profile_once(query: Query, background: BackgroundTables, rules: Collection[str] | None, *, run: bool) -> Profile:
    """Return the profile of a query that reads no stream, up to its solutions."""
    probe = _Probe(background.session, Span(0, 1))
    with probing(probe):
        frame = OneShotQuery(background.session, background.triples, rules, background.tuning).frame(
            replace(query, form=Select())
        )
    return probe.result(frame, _iris(background.predicates()), {}, run)


_ROWS = sql.call("count", 1)


class _Probe:
    """Builds a counting query for every relation, while the views that the relation reads exist."""

    def __init__(self, session: SparkSession, span: Span) -> None:
        self._session, self._span = session, span
        self._step: int | None = None
        self._plan: tuple[Optimised, Query, Statistics] | None = None
        self._counts: list[tuple[Op, DataFrame]] = []
        self._windows: list[DataFrame] = []

    def planned(
        self, optimised: Optimised, physical: Query, statistics: Statistics, contents: Sequence[WindowRelation]
    ) -> None:
        self._plan, self._step = (optimised, physical, statistics), step_of(physical)
        self._counts.clear()
        self._windows = [self._count(content.sql, (FROM, TO)) for content in contents]

    def compiled(self, op: Op, relation: Relation) -> None:
        self._counts.append((op, self._count(relation.sql, relation.vars)))

    def _count(self, rows: sql.Query, vars: tuple[str, ...]) -> DataFrame:
        counts = [sql.alias(_ROWS, "n"), sql.alias(at_once(vars, self._span, self._step), "at_once")]
        return catalog(self._session).rows(sql.Select(counts, rows))

    def result(
        self, frame: DataFrame, predicates: frozenset[str] | None, streams: Mapping[str, StoredStream], run: bool
    ) -> Profile:
        assert self._plan is not None
        optimised, physical, statistics = self._plan
        profile = Profile(optimised, physical, _spark_plan(frame), streams, predicates)
        _estimate(physical.pattern, statistics, profile.estimated)
        if isinstance(statistics, LiveStatistics):
            profile.held = {seen.window: seen.counts().triples() for seen in statistics.windows}
        if run:
            profile.windows = dict(zip(profile.held, map(_measured, self._windows), strict=True))
            for op, counting in self._counts:
                profile.counted[id(op)] = _summed(profile.counted.get(id(op)), _measured(counting))
        return profile


def at_once(vars: tuple[str, ...], span: Span, step: int | None) -> sql.Expr:
    """Return the expression for the average rows at an instant, or at any moment if instants are not periodic."""
    after, through, period = span.after, span.through, step or 1
    first = sql.call("greatest", sql.name(FROM), sql.long(after + 1))
    last = sql.call("least", sql.name(TO) - sql.long(1), sql.long(through))
    instants = max(1, through // period - after // period)
    if FROM in vars:
        steps = (down(last, period) - up(first, period)).div(sql.long(period)) + sql.long(1)
        touched = sql.call("greatest", sql.long(0), steps).cast("DOUBLE")
        return sql.coalesce(sql.call("sum", touched), 0) / instants
    if INSTANT not in vars:
        return _ROWS.cast("DOUBLE")
    different = sql.Call("count", (sql.name(INSTANT),), distinct=True)
    return _ROWS / (sql.call("greatest", 1, different) if step is None else instants)


def step_of(query: Query) -> int | None:
    """Return the time between two instants; None if elements make the instants."""
    if query.registration is not None and query.registration.every is not None:
        return query.registration.every
    steps = [stream.window.step for stream in query.streams if isinstance(stream.window, TimeWindow)]
    return gcd(*steps) if steps and len(steps) == len(query.streams) else None


def _measured(counting: DataFrame) -> RowCount:
    start = perf_counter()
    row = counting.collect()[0]
    return RowCount(row.n, float(row.at_once), perf_counter() - start)


def _summed(one: RowCount | None, other: RowCount) -> RowCount:
    """Return the sum of two counts of an operator that was compiled for several windows or graphs."""
    if one is None:
        return other
    return RowCount(one.rows + other.rows, one.at_once + other.at_once, one.seconds + other.seconds)


def _estimate(op: Op, statistics: Statistics, into: dict[int, float]) -> None:
    into[id(op)] = estimate(op, statistics).rows
    inside = statistics.inside(op)
    for inner in inner_plans(op):
        _estimate(inner, inside, into)


def _held(stream: StreamFiles, background: BackgroundTables) -> StoredStream:
    files = (file for path in stream.paths for file in _files(Path(path)))
    stored, entailed = background.stream_predicates(stream), background.entailed
    predicates = stored if entailed is None else entailed.predicates(stored)
    return StoredStream(stream.rows, sum(file.stat().st_size for file in files), _iris(predicates))


def _iris(encoded: frozenset[str] | None) -> frozenset[str] | None:
    return None if encoded is None else frozenset(predicate[1:-1] for predicate in encoded)


def _files(path: Path) -> list[Path]:
    return [file for file in path.rglob("*") if file.is_file()] if path.is_dir() else [path] if path.exists() else []


def _spark_plan(frame: DataFrame) -> str:
    """Return the output of Spark's own explain."""
    execution = frame._jdf.queryExecution()
    return str(frame.sparkSession._jvm.PythonSQLUtils.explainString(execution, "formatted")).strip()  # type: ignore[union-attr]
