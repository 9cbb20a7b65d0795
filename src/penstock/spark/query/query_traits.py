"""The traits of a continuous query: all that its plans for Spark and for slices have in common."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import overload

from penstock.algebra import ops
from penstock.algebra.retention_bounds import kept_for
from penstock.algebra.schedule import Schedule, schedule
from penstock.algebra.scope import exists_in, expressions_of
from penstock.algebra.windows import CountWindow, SlideWindow, Window
from penstock.compile.operators.events import complex_events
from penstock.compile.reports import deltas
from penstock.compile.windows import stream_to_relation
from penstock.compile.windows.plan_span import PlanSpan
from penstock.model.span import Span
from penstock.optimise import enabled, walk
from penstock.options import Duplicates, Emit

__all__ = ["QueryTraits", "traits_of"]


@dataclass(frozen=True)
class QueryTraits:
    """A query with its report, its schedule and the physical choices that are made for it.

    `merge`: duplicates are merged. `by_deltas`: the report comes from the elements that enter and leave. With
    `single_element` each solution has one element. `joins`: rows are joined at all.
    """

    query: ops.Query
    emit: str
    merge: bool
    choices: frozenset[str]
    by_deltas: bool
    single_element: bool
    schedule: Schedule
    joins: bool

    @property
    def carries(self) -> bool:
        """Whether an evaluation reads the operator state of the one before."""
        return self.emit not in ("rstream", "events") and not self.by_deltas

    @overload
    def read_span(self, span: Span) -> Span: ...
    @overload
    def read_span(self, span: PlanSpan) -> PlanSpan: ...
    def read_span(self, span: PlanSpan) -> PlanSpan:
        """Return the span to read for the instants of a span. Deltas also read the elements that leave at the first
        instant, to offset those that enter."""
        return replace(span, after=span.after - 1) if self.by_deltas else span  # type: ignore[arg-type]

    def reach(self, window: Window, span: Span) -> Span | None:
        """Return the timestamps that instants of a span can see by a window; None: any."""
        return stream_to_relation.reach(window, self.read_span(span))


def traits_of(
    query: ops.Query, duplicates: Duplicates, emit: Emit | None, rules: Collection[str] | None, retention: int | None
) -> QueryTraits:
    """Return the traits of a query that is registered with these options."""
    report, choices, merge = _emit(query, emit), enabled(rules), duplicates == "merge"
    by_deltas = "delta_reports" in choices and deltas.applies(query, report)
    bounded = _bounded(query, report, retention)
    single_element = by_deltas and not merge and deltas.of_one_element(query)
    times = schedule(bounded, deltas=by_deltas)
    return QueryTraits(bounded, report, merge, choices, by_deltas, single_element, times, _joins(query))


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
