"""The arithmetic of due instants."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.model.span import Span
from penstock.model.stretches import Stretch
from penstock.stream.log.stream_log import Segment
from penstock.stream.registry.due_instants import has_news, retention_bound, span, visible_segments
from tests.support.runtime import FakePlan, segment, windowed

S = "http://e/s"


@pytest.mark.parametrize(
    ("progress", "through", "first", "expected"),
    [
        (None, 50, 7, Span(6, 50)),  # from the first element on
        (20, 30, 7, Span(20, 30)),
        (30, 30, 7, None),  # all answered
        (None, 6, 7, Span(5, 6)),  # complete through before the first element
        (20, None, 7, None),  # nothing known of a stream
        (None, 50, None, Span(49, 50)),  # no element yet
        (20, 50, None, Span(20, 50)),  # none any more
    ],
)
def test_span(progress: int | None, through: int | None, first: int | None, expected: Span | None) -> None:
    held = {S: [] if first is None else [segment(first, first + 100)]}
    assert span(progress, through, held) == expected


def test_a_segment_of_unknown_predicates_makes_the_stream_unknown() -> None:
    held = {S: [segment(1, 5), Segment(("x",), 1, 6, 7, None)]}
    assert visible_segments(FakePlan(), Span(0, 10), held, lambda _: 4)[S].predicates is None
    assert visible_segments(FakePlan(), Span(0, 10), {S: []}, lambda _: 4)[S].predicates == frozenset()
    assert visible_segments(FakePlan(), Span(0, 10), held, lambda _: 4)[S].dropped == 4


def test_a_segment_is_needed_only_where_it_has_elements() -> None:
    held = {S: [replace(segment(5, 10**15, 3), stretches=(Stretch(5, 8, 2), Stretch(10**15, 10**15, 1)))]}
    between, query = Span(100, 10**14), windowed(S)
    assert visible_segments(FakePlan(), between, held, lambda _: 0)[S].rows == 0
    assert not has_news(query, FakePlan(), between, held)
    assert has_news(query, FakePlan(), Span(0, 10), held)
    assert has_news(query, FakePlan(), Span(100, 10**15), held)
    counting = windowed(S, counting=True)
    assert not has_news(counting, FakePlan(counting=True), between, held)
    assert has_news(counting, FakePlan(counting=True), Span(5, 10), held)


def test_no_element_is_dropped_before_every_reader_has_begun() -> None:
    assert retention_bound([(FakePlan(), 40), (FakePlan(), None)], S, 45) is None
    assert retention_bound([(FakePlan(), 40)], S, None) is None
    assert retention_bound([(FakePlan(), 40), (FakePlan(range=30), 30)], S, 45) == (10, 0)
    assert retention_bound([(FakePlan(), 40), (FakePlan(counting=True), 30)], S, 45) == (30, 3)
    assert retention_bound([], S, 45) == (45, 0)


@given(st.integers(-(10**15), 10**15), st.integers(1, 10**12))
def test_the_next_instant_is_found(after: int, step: int) -> None:
    assert FakePlan(step=step).schedule.next_instant(after) == after + step - after % step


def test_a_query_that_counts_may_have_an_instant_at_any_time() -> None:
    assert FakePlan(counting=True).schedule.next_instant(41) == 42
