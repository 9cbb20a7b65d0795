"""The context of a continuous query: its windows as relations, its instants, and the streaming part of its plans.

The same for every engine that evaluates the plan: a `Target` says how an engine reads a stream and stores rows.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import replace
from functools import cache, partial
from typing import Protocol

import numpy as np

from penstock.algebra import ops
from penstock.algebra.occurrence import everywhere, is_timed
from penstock.algebra.windows import CountWindow, SlideWindow, TimeWindow
from penstock.compile import sql
from penstock.compile.context import Context, Plan, Streaming, Tables, can_match
from penstock.compile.expressions import timestamps
from penstock.compile.key_domain import Universe
from penstock.compile.operators.events import complex_events
from penstock.compile.parameter_table import ParameterTable
from penstock.compile.relation import INSTANT
from penstock.compile.reports import deltas
from penstock.compile.sql import Query
from penstock.compile.windows import stream_to_relation
from penstock.compile.windows.evaluation_instants import ChangeInstants, EvaluationInstants, PeriodicInstants
from penstock.compile.windows.plan_span import PlanSpan
from penstock.compile.windows.stream_to_relation import WindowRelation
from penstock.compile.windows.window_statistics import (
    LiveStatistics,
    WindowStatistics,
    content_statistics,
    turnover,
    upper_bound,
)
from penstock.model.span import Span
from penstock.model.stream_files import StreamFiles
from penstock.spark.query.query_traits import QueryTraits
from penstock.spark.session.catalog import catalog
from penstock.spark.views.background_tables import BackgroundTables

__all__ = ["ContextBuilder", "Target", "non_empty_instants", "of_physical"]

Times = tuple[Span, ...] | None


class Target(Protocol):
    """The engine that evaluates a plan. With `is_prepared`, a plan is used for many evaluations."""

    @property
    def is_prepared(self) -> bool: ...

    def span(self, span: Span) -> PlanSpan:
        """Return the span as the plan's SQL has it: known times, or variables."""

    def scan(self, stream: StreamFiles, iri: str, ordered: bool, times: Times) -> str:
        """Return the name of a table of the stream's elements; `ordered` adds their place in the order of arrival.

        With `times`, only elements with timestamps in one of these spans are needed."""

    def change_instants(self, key: Hashable, make: Callable[[str], str]) -> str:
        """Return the name of the table of evaluation instants that `make` makes under a given name. Tables with equal
        keys have equal rows."""

    def window_union(self, rows: Query) -> str:
        """Return the name of a table of these rows."""


class ContextBuilder:
    """Builds the contexts of one query for one target. `owner` is the user of the views that contexts read."""

    def __init__(self, traits: QueryTraits, background: BackgroundTables, target: Target, owner: object) -> None:
        self._traits, self._background, self._target, self._owner = traits, background, target, owner
        self._query, self._merge, self._choices = traits.query, traits.merge, traits.choices
        self._emit, self._by_deltas, self._schedule = traits.emit, traits.by_deltas, traits.schedule
        self._by_instant = traits.emit != "events" or traits.merge  # whether rows differ between instants

    def contents(self, streams: Mapping[str, StreamFiles], span: Span) -> list[WindowRelation]:
        """Return the content of each window in the span."""
        return [self._window_content(source, streams, span) for source in self._query.streams]

    def tables(self, contents: Sequence[WindowRelation]) -> Tables:
        """Return the tables of the background; the streams are graphs too."""
        tables = self._background.tables(self._query.dataset)
        return Tables(tables.default, tables.named, tables.graphs | {content.graph for content in contents})

    def context(self, query: ops.Query, contents: list[WindowRelation], known: Span, plan: Plan) -> Context:
        """Return the context of the query's pattern: without instants for events, at periodic instants for deltas."""
        span, tables, members = self._target.span(known), self._background.tables(query.dataset), plan.members
        if not self._by_instant:
            unwindowed = tuple(map(self._unwindowed, contents))
            plan.streaming = self._streaming(query, unwindowed, PeriodicInstants((1,), span))
            self._by_instant = complex_events.needs_instants(query.pattern, Context(plan))
        if not self._by_instant:
            return self._with_members(Context(plan), members)
        if self._by_deltas:
            lattice = PeriodicInstants(self._schedule.steps or (1,), span)
            plan.streaming = self._streaming(query, self._window_relations(contents, query, lattice, tables), lattice)
            return self._with_members(Context(plan), members)
        timeline = self._timeline(contents, span, plan)
        windows = self._window_relations(contents, query, timeline, tables)
        plan.streaming = self._streaming(query, windows, timeline)
        at = Context(plan).with_universe(Universe((INSTANT,), non_empty_instants(timeline, contents)))
        return self._with_members(at, members)

    def statistics(
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

    def _with_members(self, context: Context, members: ParameterTable | None) -> Context:
        if members is None:
            return context
        return context.with_universe(members.universe(catalog(self._background.session)))

    def _window_content(
        self, source: ops.StreamWindow, streams: Mapping[str, StreamFiles], span: Span
    ) -> WindowRelation:
        """Return the content of a window in the span."""
        stream, window = streams[source.iri.value], source.window
        planned = self._traits.read_span(self._target.span(span))
        times = deltas.delta_times(window, self._traits.read_span(span)) if self._traits.single_element else None
        near = None if (reach := self._traits.reach(window, span)) is None else (reach,)
        view = self._target.scan(stream, source.iri.value, isinstance(window, CountWindow), times)
        stored, entailed = self._background.stream_predicates(stream), self._background.entailed
        return WindowRelation(
            source,
            stream_to_relation.visible(view, window, planned, stream.dropped, self._background.tuning),
            stored if entailed is None else entailed.predicates(stored),
            ends=isinstance(window, TimeWindow) or (isinstance(window, SlideWindow) and window.range is not None),
            rows=stream.rows,
            paths=stream.paths,
            moves=not isinstance(window, TimeWindow),
            stored=stored,
            lasts=None if isinstance(window, CountWindow) else window.range,
            length=stream_to_relation.exact_length(window),
            counts=partial(self._background.counts, stream),
            upper_bound=partial(upper_bound, stream.segments),
            elements=cache(partial(self._background.scans.table, stream, times or near)),
        )

    def _timeline(self, contents: list[WindowRelation], span: PlanSpan, plan: Plan) -> EvaluationInstants:
        """Return the evaluation instants of the span; those at changes are computed once for all queries of a round."""
        if not self._schedule.at_changes:
            return PeriodicInstants(self._schedule.steps, span)
        windows = frozenset(sql.write(c.sql) for c in contents)  # the SQL names the scan, which stands for the files
        key = windows, self._schedule.steps, self._background.version, span
        return ChangeInstants(
            self._target.change_instants(key, partial(self._number_changes, contents, span, plan)), span
        )

    def _number_changes(self, contents: list[WindowRelation], span: PlanSpan, plan: Plan, name: str) -> str:
        """Make the view of the instants at which a window changes."""
        bounds = self._visible_intervals(contents)
        if bounds is not None and isinstance(span, Span):
            plan.publish(name, ChangeInstants.counted(bounds, span))
            return name
        moving, still = ([c.sql for c in contents if c.moves is moves] for moves in (True, False))
        instants = (
            [non_empty_instants(PeriodicInstants(self._schedule.steps, span), contents)] if self._schedule.steps else []
        )
        (plan.store or plan.materialise)(ChangeInstants.numbered(moving, still, instants, span), name)
        return name

    def _visible_intervals(self, contents: list[WindowRelation]) -> list[tuple[np.ndarray, np.ndarray]] | None:
        """Return the entry and exit times of elements, if the driver has all elements and no window has steps."""
        bounds = [
            stream_to_relation.bounds(source.window, table.column("ts").to_numpy())
            for source, content in zip(self._query.streams, contents, strict=True)
            if isinstance(source.window, SlideWindow) and (table := content.elements()) is not None
        ]
        return bounds if len(bounds) == len(contents) and not self._schedule.steps else None

    def _unwindowed(self, content: WindowRelation) -> WindowRelation:
        """Return a stream without a window: all its elements, mostly without a visibility interval."""
        return replace(content, when=content.when if self._by_instant else ())

    def _window_relations(
        self, contents: list[WindowRelation], query: ops.Query, timeline: EvaluationInstants, tables: Tables
    ) -> tuple[WindowRelation, ...]:
        """Return the windows as patterns read them.

        Duplicates are merged if the query says so. Where no element is seen twice, the instant replaces the interval.
        """
        if self._emit == "events" and not self._merge:
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
        if not (self._merge or (merge and content.source.name is not None)):
            return content
        content = self._with_entailed(content)
        if content.source.name is not None:
            each = stream_to_relation.merged(content.sql, ("s", "p", "o", "g"))
            return replace(content, sql=stream_to_relation.merged(content.sql), each=each, length=None)
        absent = stream_to_relation.absent_from(stream_to_relation.merged(content.sql), tables.default)
        return replace(content, sql=absent, length=None)

    def _default_windows(
        self, query: ops.Query, contents: Sequence[WindowRelation], timeline: EvaluationInstants
    ) -> tuple[WindowRelation, ...]:
        """Return the windows of the default graph, those of each tag as one relation where that pays."""
        default = [c for c in contents if not c.source.named and c.source.name is None]
        tags = {c.source.tag: [d for d in default if d.source.tag == c.source.tag] for c in default}
        return tuple(one for windows in tags.values() for one in self._as_one(query, windows, timeline))

    def _as_one(
        self, query: ops.Query, windows: Sequence[WindowRelation], timeline: EvaluationInstants
    ) -> Sequence[WindowRelation]:
        """Return the windows as one relation: without duplicates if the query says so, or united where that pays."""
        if len(windows) == 1:
            return windows
        if self._merge:
            return [stream_to_relation.as_one(windows, timeline)]
        if not self._unites(query, windows):
            return windows
        union = stream_to_relation.union(windows)
        return [replace(union, sql=sql.view(self._target.window_union(union.sql)))]

    def _unites(self, query: ops.Query, windows: Sequence[WindowRelation]) -> bool:
        """Whether the patterns would scan many windows again and again: Spark's planning then takes far longer than
        the elements. Many elements are not materialised; timestamps by stream need the windows apart."""
        tuning, apart = self._background.tuning, any(timestamps.asked(query.pattern).values())
        few = sum(window.rows for window in windows) < tuning.hinted_elements
        enabled = "window_union" in self._choices and few and not apart
        return enabled and _scans(query, windows) >= tuning.window_scans

    def _streaming(
        self, query: ops.Query, contents: tuple[WindowRelation, ...], timeline: EvaluationInstants
    ) -> Streaming:
        asked, calls = timestamps.asked(query.pattern), timestamps.calls(query.pattern)
        default = self._default_windows(query, contents, timeline)
        predicates, statistics = self._background.predicates(), self._background.statistics
        occurring = self._emit == "events" or is_timed(query)
        outer_projection = None if self._emit == "events" else complex_events.outer_projection(query)
        return Streaming(
            timeline,
            contents,
            default,
            predicates,
            asked,
            calls,
            partial(self._background.static_views.view, self._owner, at_once=self._target.is_prepared),
            partial(self._background.static_views.families.relation, self._owner),
            statistics,
            occurring,
            self._background.entailed,
            outer_projection,
        )


def _scans(query: ops.Query, windows: Sequence[WindowRelation]) -> int:
    """Return how many scans of windows the triple patterns of a query need beyond one each."""
    patterns = [p for op in everywhere(query.pattern) if isinstance(op, ops.Bgp) for p in op.patterns]
    scans = (sum(can_match(pattern.predicate, window.predicates) for window in windows) for pattern in patterns)
    return sum(max(0, count - 1) for count in scans)


def of_physical(query: ops.Query, streaming: Streaming | None) -> Streaming:
    """Return the streaming part of a plan for its physical operators, which may be more than the logical ones."""
    assert streaming is not None
    calls, outer_projection = timestamps.calls(query.pattern), streaming.outer_projection
    if outer_projection is not None:
        outer_projection = complex_events.outer_projection(query)
    return replace(streaming, calls=calls, outer_projection=outer_projection)


def non_empty_instants(timeline: EvaluationInstants, contents: Sequence[WindowRelation]) -> Query:
    """Return the instants at which some window holds an element."""
    return timeline.non_empty([c.sql for c in contents if c.ends], [c.sql for c in contents if not c.ends])
