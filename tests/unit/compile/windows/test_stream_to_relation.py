"""Which elements matter in a span, and when those are visible: SQL and arrays say what the windows themselves do."""

from __future__ import annotations

import numpy as np
import pytest

from penstock.algebra.windows import CountWindow, SlideWindow, TimeWindow, Window
from penstock.compile.relation import ALWAYS
from penstock.compile.reports import deltas
from penstock.compile.windows import stream_to_relation
from penstock.compile.windows.evaluation_instants import ChangeInstants
from penstock.model.span import Span

WINDOWS: list[TimeWindow | SlideWindow] = [
    TimeWindow(10, 5), TimeWindow(7, 5), TimeWindow(5, 5), TimeWindow(12, 3, 4),
    SlideWindow(10), SlideWindow(10, 4), SlideWindow(5, 5), SlideWindow(1),
]  # fmt: skip
SPANS = [Span(0, 1), Span(-3, 9), Span(14, 15), Span(20, 45)]
TIMES = range(-40, 60)


def instants(span: Span) -> range:
    return range(span.after + 1, span.through + 1)


@pytest.mark.parametrize("window", WINDOWS)
@pytest.mark.parametrize("span", SPANS)
def test_reach_covers_every_visible_element(window: TimeWindow | SlideWindow, span: Span) -> None:
    near = stream_to_relation.reach(window, span)
    assert near is not None
    for time in TIMES:
        start, end = window.visible(time)
        assert end is not None
        seen = any(start <= instant < end for instant in instants(span))
        assert near.after < time <= near.through or not seen, time


@pytest.mark.parametrize("window", [CountWindow(5), SlideWindow(None)])
def test_anything_may_matter(window: Window) -> None:
    assert stream_to_relation.reach(window, Span(0, 10)) is None
    assert deltas.delta_times(window, Span(0, 10)) is None


@pytest.mark.parametrize("window", WINDOWS)
@pytest.mark.parametrize("span", SPANS)
def test_delta_times_cover_every_change_of_the_window(window: TimeWindow | SlideWindow, span: Span) -> None:
    times = deltas.delta_times(window, span)
    assert times is not None
    for time in TIMES:
        changes = any(bound in instants(span) for bound in window.visible(time))
        assert any(near.after < time <= near.through for near in times) or not changes, time


@pytest.mark.parametrize("window", [SlideWindow(10), SlideWindow(10, 4), SlideWindow(1), SlideWindow(None)])
def test_bounds_are_those_of_the_window(window: SlideWindow) -> None:
    starts, ends = stream_to_relation.bounds(window, np.array(TIMES))
    told = [(start, ALWAYS if end is None else end) for start, end in map(window.visible, TIMES)]
    assert list(zip(starts.tolist(), ends.tolist(), strict=True)) == told


def test_change_instants_are_the_bounds_of_visibility() -> None:
    """In the span (10, 20]: a row from 5 to 12, one from 12 to 15, two from 18 on, one that has left before."""
    bounds = [(np.array([5, 12, 1]), np.array([12, 15, 4])), (np.array([18, 18]), np.array([30, ALWAYS]))]
    rows = ChangeInstants.counted(bounds, Span(10, 20)).to_pylist()
    assert [tuple(row.values()) for row in rows] == [
        (1, 10, False, 1), (2, 12, True, 1), (3, 15, True, 0), (4, 18, True, 2), (5, 21, False, 0),
    ]  # fmt: skip


@pytest.mark.parametrize("window", [*WINDOWS, CountWindow(5), SlideWindow(None)])
def test_exact_length_is_that_of_every_element(window: Window) -> None:
    length = stream_to_relation.exact_length(window)
    if isinstance(window, CountWindow) or window.range is None:
        assert length is None
        return
    lengths = {None if end is None else end - start for start, end in map(window.visible, TIMES)}
    assert lengths == {length} if length is not None else len(lengths) > 1
