"""Stream-to-relation: the elements of a window with the interval of instants at which a query sees them.

    window RANGE 20 STEP 10       0         10        20        30        40
    element at ts=3               ---x------|---------|---------|---------|
    its visibility [from, to)               [from-------------to)
    instants that see it                    *         *

`from` is the first instant at or after the timestamp, `to` the first instant at or after timestamp + RANGE. One row
with an interval stands for all instants in it, however often windows overlap.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar, overload

import numpy as np
import pyarrow as pa
from pyoxigraph import NamedNode

from penstock.algebra import windows
from penstock.algebra.ops import StreamWindow
from penstock.algebra.windows import CountWindow, SlideWindow, TimeWindow, Window
from penstock.compile import sql
from penstock.compile.relation import ALWAYS, FROM, INSTANT, TO, Relation
from penstock.compile.sql import Derived, Expr, From, Join, Over, Query, Select, Table
from penstock.compile.windows.evaluation_instants import EvaluationInstants, PeriodicInstants
from penstock.compile.windows.plan_span import PlanSpan, Time, VariableSpan, down, floor, moment, up, within
from penstock.model.span import Span
from penstock.model.term_encoding import encode
from penstock.optimise import Statistics, Uniform
from penstock.tuning import DEFAULT, Tuning

Known = TypeVar("Known")

MERGED = NamedNode("urn:penstock:windows")  # the source of several windows that are one relation
ELEMENT = (
    "s",
    "p",
    "o",
    "g",
    "ts",
    "start",
)  # the columns of an element; g is its graph, start its start time


@dataclass(frozen=True, slots=True)
class WindowRelation:
    """The content of a window as SQL: its elements with their visibility interval, or with the one instant that sees
    them. `source` decides which patterns read it."""

    source: StreamWindow
    sql: Query
    predicates: frozenset[str] | None
    when: tuple[str, ...] = (FROM, TO)
    ends: bool = True  # whether elements leave as time passes
    rows: int = 0  # estimated number of elements
    paths: tuple[str, ...] = ()  # the files of its stream, if its elements are those of the files
    moves: bool = False  # whether each entry and exit is an evaluation instant
    stored: frozenset[str] | None = None  # predicates of the elements, without entailed triples
    closed: bool = False  # whether entailed triples are among the elements
    lasts: int | None = None  # how long an element is visible, but for the rounding to steps; None: it depends
    length: int | None = None  # how long every element is visible exactly
    counts: Callable[[], Statistics] = Uniform  # statistics of its elements
    upper_bound: Callable[[str], int | None] = lambda predicate: (
        None
    )  # number of elements with an encoded predicate; None: unknown
    elements: Callable[[], pa.Table | None] = lambda: None  # the elements themselves in the driver, if they are few
    each: Query | None = None  # the content without duplicates within each graph

    @property
    def graph(self) -> str:
        """The encoded IRI of the stream, which is the graph of the window's elements."""
        return encode(self.source.iri)


def visible(view: str, window: Window, span: PlanSpan, dropped: int, tuning: Tuning = DEFAULT) -> Query:
    """Return the elements of a window that some instant of the span sees, with their visibility interval."""
    match window:
        case TimeWindow():
            return in_time(view, window, span)
        case SlideWindow():
            return in_slides(view, window, span)
        case CountWindow():
            return in_number(view, window, span, dropped, tuning.numbering_slice_us)


def exact_length(window: Window) -> int | None:
    """Return how long every element of the window is visible; None if that differs between elements."""
    match window:
        case TimeWindow(range=range, step=step) if range % step == 0:
            return range
        case SlideWindow(range=int() as range, slide=1):
            return range
    return None


@overload
def reach(window: Window, span: Span) -> Span | None: ...
@overload
def reach(window: Window, span: PlanSpan) -> PlanSpan | None: ...
def reach(window: Window, span: PlanSpan) -> PlanSpan | None:
    """Return the range of timestamps that instants of the span can see; None if any timestamp can be seen."""
    match window:
        case TimeWindow(range=range, step=step, delay=delay):
            after, through = floor(span.after + 1, step) - delay - range, floor(span.through, step) - delay
            return _like(span, after, through)
        case SlideWindow(range=int() as range):
            return _like(span, span.after - range, span.through)
    return None


def _like(span: PlanSpan, after: Time, through: Time) -> PlanSpan:
    """Return another span of the same kind."""
    if isinstance(after, int) and isinstance(through, int):
        return Span(after, through)
    assert isinstance(span, VariableSpan)
    return VariableSpan(span.known, moment(after), moment(through))


def in_time(view: str, window: TimeWindow, span: PlanSpan) -> Query:
    """Return the elements of a time window; the condition on ts lets Spark skip files by Parquet's statistics."""
    near = reach(window, span)
    assert near is not None
    enters = up(_TS + sql.long(window.delay) if window.delay else _TS, window.step)
    length = exact_length(window)
    leaves = up(_TS + sql.long(window.delay + window.range), window.step) if length is None else enters + length
    where = within(_TS, near) & (enters < leaves) if window.samples else within(_TS, near)
    return _seen(enters, leaves, Table(view), where)


def _seen(enters: Expr, leaves: Expr, source: From, where: Expr) -> Query:
    """Return elements with the bounds of their visibility interval."""
    return Select([*_ELEMENT, sql.alias(enters, FROM), sql.alias(leaves, TO)], source, where)


def in_slides(view: str, window: SlideWindow, span: PlanSpan) -> Query:
    """Return the elements of a sliding window that are visible in the span, or leave at one of its instants."""
    near = reach(window, span)
    if near is None or window.range is None:
        return _seen(_TS, sql.long(ALWAYS), Table(view), moment(span.through) >= _TS)
    leaves = (down(_TS, window.slide) if window.slide > 1 else _TS) + sql.long(window.range)
    return _seen(_TS, leaves, Table(view), within(_TS, near) & (leaves > moment(span.after)))


def bounds(window: SlideWindow, stamps: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the entry and exit times of elements with these timestamps."""
    starts, ends = window.visible(stamps)  # type: ignore[arg-type]  # the arithmetic of one is that of all
    return np.asarray(starts), np.full(len(stamps), ALWAYS) if ends is None else np.asarray(ends)


def is_seen_once(window: Window, lattice: PeriodicInstants) -> bool:
    """Whether at most one instant sees each element, so that the instant can be an ordinary join key."""
    return isinstance(window, TimeWindow) and windows.ceiling(window.range, window.step) <= lattice.step


def at_its_instant(content: Query, lattice: PeriodicInstants) -> Query:
    """Return the content with the instant that sees each element, in place of the interval."""
    instant = sql.name(INSTANT)
    at = Select([sql.STAR, sql.alias(up(_FROM, lattice.step), INSTANT)], content)
    due = [instant < _TO, instant >= moment(lattice.first), instant <= moment(lattice.last)]
    return Select([*_ELEMENT, instant], at, sql.all_of(due))


def in_number(
    view: str, window: CountWindow, span: PlanSpan, dropped: int, slice_us: int = DEFAULT.numbering_slice_us
) -> Query:
    """Return the elements of a counting window.

    The number of an element is its position by time, then by arrival. It enters with the element that fills a step, and
    leaves with the one that fills the step `size` elements later; elements of the same time enter together.
    """
    numbered = _numbered(Select([sql.STAR], Table(view), moment(span.through) >= _TS), dropped, slice_us)
    number, column = sql.name(".n"), sql.column
    times = Select([number, sql.alias(_TS, "t")], numbered)
    steps = {".in": up(number, window.step), ".out": up(number + sql.long(window.size), window.step)}
    elements = Select([sql.STAR, *(sql.alias(step, name) for name, step in steps.items())], numbered)
    joined: From = Derived(elements, "e")
    for name, at, kind in ((".in", "a", "JOIN"), (".out", "b", "LEFT JOIN")):
        joined = Join(joined, Derived(times, at), column("e", name).eq(column(at, ".n")), kind)
    leaves = sql.coalesce(column("b", "t"), sql.long(ALWAYS))
    bounds = [sql.alias(column("a", "t"), FROM), sql.alias(leaves, TO)]
    timed = Select([*(column("e", c) for c in ELEMENT), *bounds], joined)
    return Select([sql.STAR], timed, (_FROM < _TO) & (moment(span.after) < _TO))


def _numbered(elements: Query, dropped: int, slice_us: int) -> Query:
    """Return the elements numbered from 1. Slices of time are numbered in parallel, after a count per slice."""
    slice, count, column = sql.name(".slice"), sql.name(".count"), sql.column
    sliced = Select([sql.STAR, sql.alias(down(_TS, slice_us), ".slice")], elements)
    counted = Select([slice, sql.alias(sql.call("count", 1), ".count")], sliced, group=[slice])
    sum_before = Over(sql.call("sum", count), (), [slice]) - count + sql.long(dropped)
    before = Select([slice, sql.alias(sum_before, ".before")], counted)
    order = [column("e", c) for c in ("ts", "file", "row")]
    place = column("c", ".before") + Over(sql.call("row_number"), [column("e", ".slice")], order)
    same = column("e", ".slice").eq(column("c", ".slice"))
    return Select([sql.Star("e"), sql.alias(place, ".n")], Join(Derived(sliced, "e"), Derived(before, "c"), same))


def merged(content: Query, columns: Sequence[str] = ("s", "p", "o")) -> Query:
    """Return the content without duplicate triples: each is visible until an equal one enters.

    A later element of one window leaves later, so no interval ends too early. Of equal elements that enter together,
    the one that leaves last remains.
    """
    following = Over(sql.call("lead", _FROM), [sql.name(c) for c in columns], [_FROM, _TS, _TO])
    ends = sql.call("least", _TO, sql.coalesce(following, _TO))
    return Select([sql.STAR], Select([*_ELEMENT, _FROM, sql.alias(ends, TO)], content), _FROM < _TO)


def union(windows: Sequence[WindowRelation]) -> WindowRelation:
    """Return several windows as one relation: the elements of each, with its stream as their graph."""
    when = windows[0].when
    columns = [sql.name(c) for c in ("s", "p", "o", "ts", "start", *when)]
    parts = (Select([*columns, sql.alias(sql.text(window.graph), "g")], window.sql) for window in windows)
    lengths = {window.length for window in windows}
    return WindowRelation(
        replace(windows[0].source, iri=MERGED),
        sql.union_all(parts),
        _if_all_known([window.predicates for window in windows], _either),
        when,
        rows=sum(window.rows for window in windows),
        stored=_if_all_known([window.stored for window in windows], _either),
        closed=windows[0].closed,
        lasts=_if_all_known([window.lasts for window in windows], max),
        length=lengths.pop() if len(lengths) == 1 else None,
        upper_bound=lambda predicate: _if_all_known([window.upper_bound(predicate) for window in windows], sum),
        elements=lambda: _if_all_known([window.elements() for window in windows], pa.concat_tables),
    )


def _if_all_known(values: Sequence[Known | None], combine: Callable[[list[Known]], Known]) -> Known | None:
    """Return the combination of the values; None if one of them is unknown."""
    known = [value for value in values if value is not None]
    return combine(known) if len(known) == len(values) else None


def _either(sets: list[frozenset[str]]) -> frozenset[str]:
    return frozenset().union(*sets)


def as_one(windows: Sequence[WindowRelation], timeline: EvaluationInstants) -> WindowRelation:
    """Return several windows as one graph without duplicates.

    This is done instant by instant, since a triple that leaves one window may still be visible in another.
    """
    vars = (*ELEMENT, FROM, TO)
    seen = (timeline.at_instants(Relation(c.sql, vars, frozenset(vars))) for c in windows)
    both = sql.union_all(Select([*_ELEMENT, sql.name(INSTANT)], r.sql) for r in seen)
    by = [sql.name(c) for c in ("s", "p", "o", INSTANT)]
    latest = {"g": sql.call("max", sql.name("g")), "ts": sql.call("max", _TS)}
    latest["start"] = sql.call("max_by", sql.name("start"), _TS)
    query = Select([*by, *(sql.alias(value, name) for name, value in latest.items())], both, group=by)
    source, predicates = replace(windows[0].source, iri=MERGED), _if_all_known([c.predicates for c in windows], _either)
    rows = sum(c.rows for c in windows)
    return WindowRelation(source, query, predicates, (INSTANT,), rows=rows, closed=windows[0].closed)


def absent_from(content: Query, graph: From) -> Query:
    """Return the elements of the content that the graph does not contain."""
    same = sql.all_of(sql.column("e", c).eq(sql.column("g", c)) for c in "spo")
    return Select([sql.Star("e")], Join(Derived(content, "e"), graph.called("g"), same, "LEFT ANTI JOIN"))


_ELEMENT = [sql.name(c) for c in ELEMENT]
_TS, _FROM, _TO = sql.name("ts"), sql.name(FROM), sql.name(TO)
