"""The arithmetic of due instants."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyoxigraph import NamedNode

from penstock.algebra import ops
from penstock.algebra.windows import TimeWindow
from penstock.model.span import Span
from penstock.stream.log.stream_log import Segment
from penstock.stream.registry.due_instants import chunks, retention_bound, span, visible_segments
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


@given(st.integers(-(10**15), 10**15), st.integers(1, 10**13), st.integers(0, 10**9), st.sampled_from([1, 10, 10**9]))
def test_chunks_tile_the_span(after: int, length: int, elements: int, step: int) -> None:
    pieces = list(chunks(windowed(S, every=step), Span(after, after + length), min(elements, 20_000)))
    assert pieces[0].after == after
    assert pieces[-1].through == after + length
    assert all(left.through == right.after for left, right in pairwise(pieces))
    assert len(pieces) <= 20


def test_one_chunk_unless_both_instants_and_elements_are_many() -> None:
    windows = (ops.StreamWindow(NamedNode(S), TimeWindow(10, 10)),)
    query = ops.Query(ops.Select(), ops.Bgp(()), streams=windows)
    many = Span(0, 10 * 1_000_000)
    assert len(list(chunks(query, many, 10))) == 1
    assert len(list(chunks(query, many, 10_000_000))) == 10
    assert len(list(chunks(query, Span(0, 1_000_000), 10_000_000))) == 1
    assert len(list(chunks(windowed(S, counting=True), many, 10_000_000))) == 1


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
