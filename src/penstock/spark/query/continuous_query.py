"""Continuous queries: the same plan at every instant, all due instants in one Spark job.

An evaluation is a pure function of the streams' elements, the background and the span of instants.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from functools import cache, partial

import numpy as np
from pyspark.sql import DataFrame

from penstock.algebra import ops
from penstock.algebra.occurrence import is_timed
from penstock.algebra.retention_bounds import kept_for
from penstock.algebra.schedule import schedule
from penstock.algebra.scope import exists_in, expressions_of
from penstock.algebra.sequence_bounds import longest_sequences
from penstock.algebra.windows import CountWindow, SlideWindow, TimeWindow
from penstock.compile import notes, sql
from penstock.compile.context import Context, Plan, Streaming, Tables
from penstock.compile.expressions import timestamps
from penstock.compile.key_domain import Universe
from penstock.compile.operators.events import complex_events
from penstock.compile.operators.operators import compile_op
from penstock.compile.parameter_table import ParameterTable
from penstock.compile.relation import INSTANT
from penstock.compile.reports import deltas, rstream, validity
from penstock.compile.sql import Query, Select
from penstock.compile.windows import stream_to_relation
from penstock.compile.windows.evaluation_instants import ChangeInstants, EvaluationInstants, PeriodicInstants
from penstock.compile.windows.stream_to_relation import WindowRelation
from penstock.compile.windows.window_statistics import (
    LiveStatistics,
    WindowStatistics,
    content_statistics,
    turnover,
    upper_bound,
)
from penstock.model import term_encoding
from penstock.model.span import Span
from penstock.model.stream_files import StreamFiles
from penstock.optimise import walk
from penstock.optimise.adaptive import Adaptive, Reordered
from penstock.optimise.cost import ROWS_MADE, cost
from penstock.options import Duplicates, Emit
from penstock.spark.query.change_result import ChangeResult
from penstock.spark.query.evaluation import Evaluation
from penstock.spark.query.open_intervals import read_open_intervals
from penstock.spark.query.snapshot_result import SnapshotResult
from penstock.spark.session.jobs import Jobs
from penstock.spark.views.background_tables import BackgroundTables
from penstock.spark.views.common_subplans import CommonSubplans, shareable

__all__ = ["ContinuousQuery"]


class ContinuousQuery:
    """One registered query, optimised once and evaluated span by span."""

    def __init__(
        self,
        query: ops.Query,
        background: BackgroundTables,
        *,
        duplicates: Duplicates = "keep",
        emit: Emit | None = None,
        rules: Collection[str] | None = None,
        retention: int | None = None,
    ) -> None:
        if duplicates not in ("keep", "merge"):
            raise ValueError(f'duplicates is "keep" or "merge", not {duplicates!r}')
        self._background = background
        self._merge = duplicates == "merge"
        self._query = _bounded(query, _emit(query, emit), retention)
        self._adaptive = Adaptive(self._query, rules, background.tuning)
        self._joins = _joins(query)
        self.emit = _emit(query, emit)
        self._by_deltas = deltas.applies(query, self.emit)
        self.schedule = schedule(self._query, deltas=self._by_deltas)
        self._single_element = self._by_deltas and not self._merge and deltas.of_one_element(query)
        self._jobs = Jobs(background.session, background.tuning)
        self._members: ParameterTable | None = None
        self._by_instant = self.emit != "events"  # whether rows differ between instants

    def evaluate(self, evaluation: Evaluation) -> SnapshotResult | ChangeResult:
        """Return the answers at the instants of the span, as rows that Spark has not computed yet."""
        self._set_members(evaluation.members)
        self._tune_jobs(_rows(evaluation.streams))
        return self._result(evaluation)

    def _tune_jobs(self, rows: int, joined_rows: float = 0.0) -> None:
        """Set partitions and code generation for the rows that are read, with those of the members, and joined."""
        member_rows = 0 if self._members is None else len(self._members.numbers)
        self._jobs.tune_for(rows + member_rows, self._joins or self._members is not None, joined_rows)

    def _set_members(self, members: ParameterTable | None) -> None:
        """Replace the members of the family, and drop the table of the former ones."""
        if self._members is not None and members is not self._members:
            self._members.drop(self._jobs.session)
        self._members = members

    def _result(self, evaluation: Evaluation) -> SnapshotResult | ChangeResult:
        """Return the result of the report that the query has."""
        streams, span = evaluation.streams, evaluation.span
        with self._planned(streams, span) as (query, context):
            members = None if self._members is None else self._members.numbers
            if self.emit == "events":
                frame = self._jobs.rows(rstream.events(query, context))
                return SnapshotResult(frame, [], lambda _: frame)
            if self._by_deltas:
                frame = self._jobs.rows(rstream.delta_rows(query, self.emit, context))
                return SnapshotResult(frame, [], lambda _: frame)
            if self.emit != "rstream":
                return self._interval_result(query, evaluation, context)
            frame = self._jobs.rows(rstream.answers(query, context))
            streaming = context.plan.streaming
            assert streaming is not None
            if isinstance(streaming.timeline, PeriodicInstants):
                instants = list(streaming.timeline)
                return SnapshotResult(frame, instants, lambda missing: self._non_empty(streams, missing), members)
            times = self._jobs.rows(context.universes[0].sql)
            return SnapshotResult(frame, None, lambda _: times, members)

    def _interval_result(self, query: ops.Query, evaluation: Evaluation, context: Context) -> ChangeResult:
        """Return the result with operator state; only instants with a change have an answer."""
        view, frame = None, read_open_intervals(self._jobs.session, evaluation.before, self._members)
        if frame is not None:
            view = context.plan.new_view()
            frame.createOrReplaceTempView(view)
        columns, rows = rstream.intervals(query, view, context)
        intervals = self._jobs.rows(
            validity.reported_intervals(self.emit, rows, columns, evaluation.span, evaluation.final)
        )
        return ChangeResult(intervals, columns, self.emit == "intervals", self._background.tuning.open_intervals_here)

    def _non_empty(self, streams: Mapping[str, StreamFiles], span: Span) -> DataFrame:
        """Return the instants of the span at which some window holds an element."""
        contents = [self._window_content(s, streams, span) for s in self._query.streams]
        return self._jobs.rows(_non_empty_instants(PeriodicInstants(self.schedule.steps, span), contents))

    @property
    def history(self) -> tuple[Reordered, ...]:
        """The changes of the join order with their reasons, the newest last."""
        return tuple(self._adaptive.history)

    @property
    def carries(self) -> bool:
        """Whether an evaluation reads the operator state of the one before."""
        return self.emit not in ("rstream", "events") and not self._by_deltas

    def close(self) -> None:
        """Release the views that this query has in Spark."""
        self._background.static_views.release(self)
        self._background.subplans.release(self)
        self._set_members(None)

    # Planning

    @contextmanager
    def _planned(self, streams: Mapping[str, StreamFiles], span: Span) -> Iterator[tuple[ops.Query, Context]]:
        """Yield the optimised query and the context to compile it in.

        The views of the plan exist until the block ends: inside it the SQL text has to become a DataFrame. Its job runs
        later, when the result is collected.
        """
        tables = self._background.tables(self._query.dataset)
        self._background.static_views.refresh()
        contents = [self._window_content(s, streams, span) for s in self._query.streams]
        statistics = self._statistics(contents, streams, span)
        optimised = self._adaptive.plan(statistics, span.through)
        notes.planned(optimised, statistics, contents)
        query = optimised.query
        jobs = self._jobs
        plan = Plan(tables, jobs.materialise, query.base, "", jobs.fetch, jobs.publish, jobs.run_tasks, jobs.cores)
        plan.dataset, plan.members = query.dataset, self._members
        plan.tuning = tuning = self._background.tuning
        plan.shared = self._shared(query, streams, span)
        try:
            plan.tables = Tables(tables.default, tables.named, tables.graphs | {c.graph for c in contents})
            if not self._by_instant:
                plan.streaming = self._streaming(
                    query, tuple(map(self._unwindowed, contents)), PeriodicInstants((1,), span)
                )
                self._by_instant = complex_events.needs_instants(query.pattern, Context(plan))
            if not self._by_instant:
                yield query, self._with_members(Context(plan))
                return
            if self._by_deltas:
                lattice = PeriodicInstants(self.schedule.steps or (1,), span)
                plan.streaming = self._streaming(
                    query, self._window_relations(contents, query, lattice, tables), lattice
                )
                yield query, self._with_members(Context(plan))
                return
            timeline = self._timeline(contents, streams, span, plan)
            windows = self._window_relations(contents, query, timeline, tables)
            plan.streaming = self._streaming(query, windows, timeline)
            at = Context(plan).with_universe(Universe((INSTANT,), _non_empty_instants(timeline, contents)))
            yield query, self._with_members(at)
        finally:
            # Spark resolved the views' names when the caller made its DataFrame: the job does not need them.
            self._jobs.drop(plan.views)
            looked_up = sum(plan.view_rows.values()) // tuning.view_rows_per_read
            read = int(plan.background_rows) + looked_up  # no job has run so far
            self._tune_jobs(_rows(streams) + read, cost(query.pattern, statistics, ROWS_MADE, plan.selectivity))

    def _statistics(
        self, contents: list[WindowRelation], streams: Mapping[str, StreamFiles], span: Span
    ) -> LiveStatistics:
        windows = zip(self._query.streams, contents, strict=True)
        return LiveStatistics(
            self._background.statistics, tuple(self._window_statistics(w, c, streams, span) for w, c in windows)
        )

    def _window_statistics(
        self, source: ops.StreamWindow, content: WindowRelation, streams: Mapping[str, StreamFiles], span: Span
    ) -> WindowStatistics:
        """Return the statistics of a window, which are computed when they are first read."""
        window, segments = source.window, streams[source.iri.value].segments
        counts = cache(partial(content_statistics, window, segments, span, content.counts))
        return WindowStatistics(source, content.predicates, counts, turnover(window, segments, span))

    def _with_members(self, context: Context) -> Context:
        if self._members is None:
            return context
        return context.with_universe(self._members.universe(self._jobs.session))

    def _window_content(
        self, source: ops.StreamWindow, streams: Mapping[str, StreamFiles], span: Span
    ) -> WindowRelation:
        """Return the content of a window in the span."""
        stream, window, read_span = streams[source.iri.value], source.window, self._read_span(span)
        times = deltas.delta_times(window, read_span) if self._single_element else None
        near = None if (reached := stream_to_relation.reach(window, read_span)) is None else (reached,)
        view = self._background.scans.view(stream, isinstance(window, CountWindow), times)
        name = None if source.name is None else term_encoding.encode(source.name)
        stored, entailed = self._background.stream_predicates(stream), self._background.entailed
        return WindowRelation(
            term_encoding.encode(source.iri),
            source.named,
            stream_to_relation.visible(view, window, read_span, stream.dropped, self._background.tuning),
            stored if entailed is None else entailed.predicates(stored),
            ends=isinstance(window, TimeWindow) or (isinstance(window, SlideWindow) and window.range is not None),
            rows=stream.rows,
            paths=stream.paths,
            name=name,
            tag=source.tag,
            moves=not isinstance(window, TimeWindow),
            stored=stored,
            lasts=None if isinstance(window, CountWindow) else window.range,
            counts=partial(self._background.counts, stream),
            upper_bound=partial(upper_bound, stream.segments),
            elements=cache(partial(self._background.scans.table, stream, times or near)),
        )

    def _shared(self, query: ops.Query, streams: Mapping[str, StreamFiles], span: Span) -> CommonSubplans | None:
        """Return the sub-plans that this query shares with others; None for a family, which is one plan already."""
        subplans, alike = self._background.subplans, self._subplan_key(query)
        alone = self._members is None
        parts = ((op, place, alike) for op, place in shareable(query.pattern)) if alone else ()
        subplans.plan(self, frozenset((self._instants_key, *parts)))
        rows = _rows(streams)
        return CommonSubplans(subplans, alike, self._evaluation_key(streams, span), rows, compile_op) if alone else None

    @property
    def _instants_key(self) -> Hashable:
        """The identity of the instants that elements make."""
        return ChangeInstants, self._query.streams, self.schedule.steps

    def _subplan_key(self, query: ops.Query) -> Hashable:
        """Return the properties in which two queries must agree so that equal sub-plans have equal rows and columns."""
        asked, calls = timestamps.asked(query.pattern), timestamps.calls(query.pattern)
        timed = is_timed(query) and query.pattern  # occurrence times are columns then
        reported = "events" if self.emit == "events" else self._by_deltas
        stamped = tuple(sorted(asked.items())) if calls else ()
        return query.streams, query.dataset, query.base, self._merge, reported, self.schedule.steps, stamped, timed

    def _evaluation_key(self, streams: Mapping[str, StreamFiles], span: Span) -> Hashable:
        """Return the identity of an evaluation: all that decides about its rows."""
        return self._background.version, span, tuple((name, one.paths, one.rows) for name, one in streams.items())

    def _read_span(self, span: Span) -> Span:
        """Return the span to read. Deltas also read elements that leave at the first instant, to offset those that
        enter."""
        return Span(span.after - 1, span.through) if self._by_deltas else span

    def _timeline(
        self, contents: list[WindowRelation], streams: Mapping[str, StreamFiles], span: Span, plan: Plan
    ) -> EvaluationInstants:
        """Return the evaluation instants of the span."""
        if not self.schedule.at_changes:
            return PeriodicInstants(self.schedule.steps, span)
        bounds = self._visible_intervals(contents)
        if bounds is not None:
            return ChangeInstants(plan.publish_table(ChangeInstants.counted(bounds, span)), span)
        moving, still = ([c.sql for c in contents if c.moves is moves] for moves in (True, False))
        instants = (
            [_non_empty_instants(PeriodicInstants(self.schedule.steps, span), contents)] if self.schedule.steps else []
        )
        numbered = ChangeInstants.numbered(moving, still, instants, span)
        now = self._evaluation_key(streams, span)
        return ChangeInstants(self._background.subplans.view(self._instants_key, now, numbered), span)

    def _visible_intervals(self, contents: list[WindowRelation]) -> list[tuple[np.ndarray, np.ndarray]] | None:
        """Return the entry and exit times of elements, if the driver has all elements and no window has steps."""
        bounds = [
            stream_to_relation.bounds(source.window, table.column("ts").to_numpy())
            for source, content in zip(self._query.streams, contents, strict=True)
            if isinstance(source.window, SlideWindow) and (table := content.elements()) is not None
        ]
        return bounds if len(bounds) == len(contents) and not self.schedule.steps else None

    def _unwindowed(self, content: WindowRelation) -> WindowRelation:
        """Return a stream without a window: all its elements, mostly without a visibility interval."""
        when = content.when if self._by_instant else ()
        if not self._merge:
            return replace(content, when=when)
        content = self._with_entailed(content)
        columns = map(sql.name, (*stream_to_relation.ELEMENT, *when))
        return replace(content, sql=Select(columns, content.sql, distinct=True), when=when, paths=())

    def _window_relations(
        self, contents: list[WindowRelation], query: ops.Query, timeline: EvaluationInstants, tables: Tables
    ) -> tuple[WindowRelation, ...]:
        """Return the windows as patterns read them.

        Duplicates are merged if the query says so. Where no element is seen twice, the instant replaces the interval.
        """
        if self.emit == "events":
            return tuple(map(self._unwindowed, contents))
        merged = [self._without_duplicates(c, s.merge, tables) for c, s in zip(contents, query.streams, strict=True)]
        windows = [s.window for s in query.streams]
        if merged != contents or not isinstance(timeline, PeriodicInstants):
            return tuple(merged)
        if not all(stream_to_relation.is_seen_once(w, timeline) for w in windows):
            return tuple(merged)
        return tuple(
            replace(c, sql=stream_to_relation.at_its_instant(c.sql, timeline), when=(INSTANT,)) for c in contents
        )

    def _with_entailed(self, content: WindowRelation) -> WindowRelation:
        """Return the content with its entailed triples, which is done before duplicates are merged."""
        entailed = self._background.entailed
        return content if entailed is None else replace(content, sql=entailed.triples(content.sql), closed=True)

    def _without_duplicates(self, content: WindowRelation, merge: bool, tables: Tables) -> WindowRelation:
        """Return the content with equal triples merged, if the query or the window says so."""
        if not (self._merge or (merge and content.name is not None)):
            return content
        content = self._with_entailed(content)
        if content.name is not None:
            each = stream_to_relation.merged(content.sql, ("s", "p", "o", "g"))
            return replace(content, sql=stream_to_relation.merged(content.sql), each=each)
        return replace(
            content, sql=stream_to_relation.absent_from(stream_to_relation.merged(content.sql), tables.default)
        )

    def _streaming(
        self, query: ops.Query, contents: tuple[WindowRelation, ...], timeline: EvaluationInstants
    ) -> Streaming:
        asked, calls = timestamps.asked(query.pattern), timestamps.calls(query.pattern)
        default = tuple(c for c in contents if not c.named and c.name is None)
        if self._merge and self.emit != "events":
            tags = {c.tag: [d for d in default if d.tag == c.tag] for c in default}
            default = tuple(
                stream_to_relation.as_one(windows, timeline) if len(windows) > 1 else windows[0]
                for windows in tags.values()
            )
        known, statistics = self._background.predicates(), self._background.statistics
        occurring = self.emit == "events" or is_timed(query)
        outer_projection = None if self.emit == "events" else complex_events.outer_projection(query)
        return Streaming(
            timeline,
            contents,
            default,
            known,
            asked,
            calls,
            partial(self._background.static_views.view, self),
            partial(self._background.static_views.families.relation, self),
            statistics,
            occurring,
            self._background.entailed,
            longest_sequences(query.pattern) if occurring else {},
            outer_projection,
        )


def _rows(streams: Mapping[str, StreamFiles]) -> int:
    return sum(stream.rows for stream in streams.values())


def _non_empty_instants(timeline: EvaluationInstants, contents: list[WindowRelation]) -> Query:
    """Return the instants at which some window holds an element."""
    return timeline.non_empty([c.sql for c in contents if c.ends], [c.sql for c in contents if not c.ends])


def _emit(query: ops.Query, asked: str | None) -> str:
    """Return the report of a query. A derived stream has points of time, so it reports insertions in place of
    intervals."""
    report = asked or query.emit or "rstream"
    derives = query.registration is not None and query.registration.output is not None
    if report == "events" and not complex_events.complete(query):
        return "istream"
    return "istream" if report == "intervals" and derives else report


def _bounded(query: ops.Query, emit: str, retention: int | None) -> ops.Query:
    """Return a query of events with windows that hold the elements which are young enough for some answer.

    Patterns without a bound have the retention, and so have patterns that are not complete with their last element.
    """
    bounds = kept_for(query).values() if emit == "events" else (None,)
    ranges = [bound for own in bounds if (bound := retention if own is None else own) is not None]
    if query.emit != "events" or len(ranges) < len(bounds):
        return query
    window = SlideWindow(max(ranges, default=0) + 1)
    return replace(query, streams=tuple(replace(s, window=window) for s in query.streams))


def _joins(query: ops.Query) -> bool:
    """Whether the query joins rows at all; a query of one pattern on time windows does not."""
    operators = list(walk.nodes(query.pattern))
    sources = [pattern for op in operators if isinstance(op, ops.Bgp) for pattern in op.patterns]
    other = any(isinstance(op, ops.Path | ops.Table) or any(map(exists_in, expressions_of(op))) for op in operators)
    return len(sources) > 1 or other or any(isinstance(s.window, CountWindow) for s in query.streams)
