"""What is in a window, and when: the elements of a stream with the time during which a query can see them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from penstock.algebra.windows import CountWindow, SlideWindow, TimeWindow, Window, ceiling, floor
from penstock.compile import sql
from penstock.compile.relation import ALWAYS, FROM, INSTANT, TO, Relation
from penstock.compile.windows.evaluation_instants import EvaluationInstants, PeriodicInstants, down, up, within
from penstock.model.span import Span
from penstock.optimise import Statistics, Uniform

ELEMENT = "s, p, o, g, ts, start"  # the columns of an element; g is the graph that it came in, start when it began
_BUCKET = 10_000_000  # microseconds of a stream that are numbered together, by one task


@dataclass(frozen=True, slots=True)
class WindowRelation:
    """`sql` selects elements and when they are visible: from and to, or the one instant at which they are.

    `graph`, `named`, `name` and `tag` say which patterns read it: see `ops.StreamWindow`.
    """

    graph: str
    named: bool
    sql: str
    predicates: frozenset[str] | None
    when: tuple[str, ...] = (FROM, TO)
    ends: bool = True  # whether elements leave by themselves as time goes on
    rows: int = 0  # about how many
    paths: tuple[str, ...] = ()  # the files of its stream, if elements count as they lie there
    name: str | None = None
    tag: int = 0
    moves: bool = False  # whether whatever comes or leaves is an instant
    stored: frozenset[str] | None = None  # the predicates of the elements themselves, where others follow from them
    closed: bool = False  # whether what follows from the elements is among them already
    lasts: int | None = None  # how long an element is visible, where that can be said beforehand
    counts: Callable[[], Statistics] = Uniform  # of its elements
    most: Callable[[str], int | None] = lambda predicate: None  # of its elements have this one, encoded
    elements: Callable[[], pa.Table | None] = lambda: None  # all of its stream that may be in it, if they are few
    each: str | None = None  # where equal triples are one: the same with equal triples of different graphs apart


def visible(view: str, window: Window, span: Span, dropped: int) -> str:
    """The elements of a window that matter in a span, and when they are visible."""
    match window:
        case TimeWindow():
            return in_time(view, window, span)
        case SlideWindow():
            return in_slides(view, window, span)
        case CountWindow():
            return in_number(view, window, span, dropped)


def reach(window: Window, span: Span) -> Span | None:
    """The times of the elements of a window that matter in a span; None: any may."""
    match window:
        case TimeWindow(range=range, step=step, delay=delay):
            return Span(floor(span.after + 1, step) - delay - range, floor(span.through, step) - delay)
        case SlideWindow(range=int() as range):
            return Span(span.after - range, span.through)
    return None


def in_time(view: str, window: TimeWindow, span: Span) -> str:
    """Elements that are visible at some instant of the span; the bounds on ts are for Parquet's own statistics."""
    near = reach(window, span)
    assert near is not None
    enters = up(f"ts + {window.delay}L" if window.delay else "ts", window.step)
    leaves = up(f"ts + {window.delay + window.range}L", window.step)
    return f"SELECT {ELEMENT}, {enters} AS `{FROM}`, {leaves} AS `{TO}` FROM {view} WHERE {within('ts', near)}"


def in_slides(view: str, window: SlideWindow, span: Span) -> str:
    """Elements that are visible in the span, or leave at one of its instants."""
    near = reach(window, span)
    if near is None:
        return f"SELECT {ELEMENT}, ts AS `{FROM}`, {ALWAYS}L AS `{TO}` FROM {view} WHERE ts <= {span.through}L"
    leaves = f"{down('ts', window.slide) if window.slide > 1 else 'ts'} + {window.range}L"
    recent = f"{within('ts', near)} AND {leaves} > {span.after}L"
    return f"SELECT {ELEMENT}, ts AS `{FROM}`, {leaves} AS `{TO}` FROM {view} WHERE {recent}"


def bounds(window: SlideWindow, stamps: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """When elements with these timestamps become visible, and when they cease to be."""
    starts, ends = window.visible(stamps)  # type: ignore[arg-type]  # the arithmetic of one is that of all
    return np.asarray(starts), np.full(len(stamps), ALWAYS) if ends is None else np.asarray(ends)


def is_seen_once(window: Window, lattice: PeriodicInstants) -> bool:
    """Whether no element is visible at two instants, so that the instant can be an ordinary join key."""
    return isinstance(window, TimeWindow) and ceiling(window.range, window.step) <= lattice.step


def at_its_instant(content: str, lattice: PeriodicInstants) -> str:
    """The content of a window in which no element is seen twice, with the instant at which it is."""
    instant = up(f"`{FROM}`", lattice.step)
    due = f"`{INSTANT}` < `{TO}` AND `{INSTANT}` >= {lattice.first}L AND `{INSTANT}` <= {lattice.last}L"
    return f"SELECT {ELEMENT}, `{INSTANT}` FROM (SELECT *, {instant} AS `{INSTANT}` FROM ({content})) t WHERE {due}"


def in_number(view: str, window: CountWindow, span: Span, dropped: int) -> str:
    """The number of an element is its place by time, then by arrival. It enters with the element that fills a step, and
    leaves with the one that fills the step `size` elements later; elements of the same time come at once."""
    numbered = _numbered(f"SELECT * FROM {view} WHERE ts <= {span.through}L", dropped)
    times = f"SELECT `.n`, ts AS t FROM ({numbered})"
    enters = up("`.n`", window.step)
    leaves = up(f"`.n` + {window.size}L", window.step)
    found = (
        f"(SELECT *, {enters} AS `.in`, {leaves} AS `.out` FROM ({numbered})) e "
        f"JOIN ({times}) a ON e.`.in` = a.`.n` LEFT JOIN ({times}) b ON e.`.out` = b.`.n`"
    )
    text = f"SELECT e.s, e.p, e.o, e.g, e.ts, e.start, a.t AS `{FROM}`, coalesce(b.t, {ALWAYS}L) AS `{TO}` FROM {found}"
    return f"SELECT * FROM ({text}) t WHERE `{FROM}` < `{TO}` AND `{TO}` > {span.after}L"


def _numbered(elements: str, dropped: int) -> str:
    """Numbers from 1, in slices of time side by side: those before a slice are counted first."""
    sliced = f"SELECT *, {down('ts', _BUCKET)} AS `.slice` FROM ({elements})"
    counted = f"SELECT `.slice`, count(1) AS `.count` FROM ({sliced}) GROUP BY `.slice`"
    sum_before = f"sum(`.count`) OVER (ORDER BY `.slice`) - `.count` + {dropped}L"
    before = f"SELECT `.slice`, {sum_before} AS `.before` FROM ({counted})"
    place = "row_number() OVER (PARTITION BY e.`.slice` ORDER BY e.ts, e.file, e.row)"
    return f"SELECT e.*, c.`.before` + {place} AS `.n` FROM ({sliced}) e JOIN ({before}) c ON e.`.slice` = c.`.slice`"


def merged(content: str, columns: str = "s, p, o") -> str:
    """Equal triples as one: each is visible until the next equal one comes, which then stands for both.

    Within one window what comes later leaves later, so nothing ends too early; of those that come at once, the one
    stands for all that leaves last.
    """
    following = f"lead(`{FROM}`) OVER (PARTITION BY {columns} ORDER BY `{FROM}`, ts, `{TO}`)"
    ending = f"SELECT {ELEMENT}, `{FROM}`, least(`{TO}`, coalesce({following}, `{TO}`)) AS `{TO}` FROM ({content})"
    return f"SELECT * FROM ({ending}) t WHERE `{FROM}` < `{TO}`"


def as_one(found: Sequence[WindowRelation], timeline: EvaluationInstants) -> WindowRelation:
    """Several windows as one graph, instant by instant, since what one drops another may still hold."""
    vars = (*ELEMENT.split(", "), FROM, TO)
    seen = (timeline.at_instants(Relation(c.sql, vars, frozenset(vars))) for c in found)
    union = " UNION ALL ".join(f"SELECT {ELEMENT}, `{INSTANT}` FROM ({r.sql})" for r in seen)
    by = f"s, p, o, `{INSTANT}`"
    latest = "max(g) AS g, max(ts) AS ts, max_by(start, ts) AS start"
    text = f"SELECT {by}, {latest} FROM ({union}) GROUP BY {by}"
    known = [c.predicates for c in found if c.predicates is not None]
    predicates = frozenset().union(*known) if len(known) == len(found) else None
    rows, tag, closed = sum(c.rows for c in found), found[0].tag, found[0].closed
    return WindowRelation("", False, text, predicates, (INSTANT,), rows=rows, tag=tag, closed=closed)


def absent_from(content: str, graph: str) -> str:
    """What a graph does not have already; `graph` is an item of FROM."""
    same = sql.all_of(f"e.{c} = g.{c}" for c in "spo")
    return f"SELECT e.* FROM ({content}) e LEFT ANTI JOIN {graph} g ON {same}"
