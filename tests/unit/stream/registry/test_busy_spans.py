"""Busy spans, and the pieces of a span that are evaluated at once."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from penstock.algebra.schedule import Schedule
from penstock.algebra.windows import CountWindow, SlideWindow, TimeWindow
from penstock.model.span import Span
from penstock.model.stretches import Stretch
from penstock.stream.registry.busy_spans import BusySpan, Segments, busy_spans, pieces, smaller_pieces
from penstock.tuning import Tuning
from tests.support.runtime import segment

S = "http://e/s"
FAR = 10**17  # after the year 5000
TUMBLING = Schedule((10,), elsewhere=(TimeWindow(10, 10),))
WINDOWS: list[TimeWindow | SlideWindow] = [
    TimeWindow(30, 10),
    TimeWindow(7, 4, 5),
    SlideWindow(25),
    SlideWindow(30, 10),
    SlideWindow(1),
]


def held(*stretches: tuple[int, int, int]) -> Segments:
    """One segment with these stretches."""
    known = tuple(Stretch(*stretch) for stretch in stretches)
    rows = sum(stretch.rows for stretch in known)
    return {S: [replace(segment(known[0].first, known[-1].last, rows), stretches=known)]}


def test_no_window_holds_an_element_between_busy_spans() -> None:
    found = busy_spans(TUMBLING, Span(0, FAR), held((5, 8, 2), (FAR - 100, FAR - 90, 3)))
    assert found == [BusySpan(4, 30, 2), BusySpan(FAR - 101, FAR - 60, 3)]
    assert busy_spans(TUMBLING, Span(10, FAR - 95), held((5, 8, 2), (FAR - 100, FAR - 90, 3))) == [
        BusySpan(10, 30, 2), BusySpan(FAR - 101, FAR - 95, 3),
    ]  # fmt: skip
    assert busy_spans(TUMBLING, Span(100, 200), held((5, 8, 2), (FAR, FAR, 3))) == []


def test_busy_spans_that_touch_are_one() -> None:
    assert busy_spans(TUMBLING, Span(0, 99), held((5, 8, 2), (31, 31, 3))) == [BusySpan(4, 60, 5)]


def test_windows_that_elements_do_not_leave_are_never_quiet_at_steps() -> None:
    for window in (CountWindow(3), SlideWindow(None)):
        at_changes, computed_every = Schedule((), True, elsewhere=(window,)), Schedule((10,), elsewhere=(window,))
        assert busy_spans(at_changes, Span(0, FAR), held((5, 8, 2))) == [BusySpan(4, 8, 2)]
        assert busy_spans(computed_every, Span(0, FAR), held((5, 8, 2))) == [BusySpan(4, FAR, 2)]


@given(
    st.lists(st.sampled_from(WINDOWS), min_size=1, max_size=2),
    st.sampled_from([None, 1, 7, 60]),
    st.integers(-40, 40),
    st.integers(0, 20),
)
def test_no_instant_after_a_busy_span_sees_its_elements(
    windows: list[TimeWindow | SlideWindow], every: int | None, first: int, length: int
) -> None:
    steps = tuple({window.step for window in windows if isinstance(window, TimeWindow)} if every is None else {every})
    at_changes = every is None and not all(isinstance(window, TimeWindow) for window in windows)
    times = Schedule(steps, at_changes, elsewhere=tuple(windows))
    end = times.seen_until(first + length, S)
    assert end is not None
    left = max(window.visible(first + length)[1] or 0 for window in windows)
    assert left <= end
    horizon = times.horizon(end, S)
    assert horizon is not None
    assert horizon >= first + length
    assert times.has_instant(left - 1, end)


# Pieces

MANY = Tuning(job_elements=10, job_instants=100, pause_us=1_000)


def test_few_elements_are_one_piece_however_long_the_span_is() -> None:
    assert list(pieces(TUMBLING, Span(0, FAR), held((5, 8, 2), (FAR, FAR, 1)))) == [Span(0, FAR)]


def test_quiet_time_is_cut_out_of_many_elements() -> None:
    segments = held((5, 8, 1), (FAR, FAR + 500, 998), (2 * FAR, 2 * FAR, 1))
    assert list(pieces(TUMBLING, Span(0, 2 * FAR + 10), segments, MANY)) == [
        Span(0, 30), Span(30, FAR - 1), Span(FAR - 1, FAR + 530), Span(FAR + 530, 2 * FAR - 1),
        Span(2 * FAR - 1, 2 * FAR + 10),
    ]  # fmt: skip


def test_pauses_that_are_short_beside_the_elements_are_not_cut_out() -> None:
    segments = held((0, 20_000, 500), (30_000, 50_000, 500))
    tuning = replace(MANY, job_instants=10_000)
    assert list(pieces(TUMBLING, Span(-1, 50_010), segments, tuning)) == [Span(-1, 50_010)]


def test_only_some_quiet_parts_are_cut_out() -> None:
    segments = held(*((FAR * i, FAR * i, 10) for i in range(10)))
    assert len(list(pieces(TUMBLING, Span(-1, 9 * FAR), segments, replace(MANY, stretches=3)))) == 7


def test_one_piece_unless_both_instants_and_elements_are_many() -> None:
    many = Span(0, 10 * 1_000_000)
    counting = Schedule((), True, elsewhere=(CountWindow(2),))
    assert len(list(pieces(TUMBLING, many, held((1, 10**7, 10))))) == 1
    assert len(list(pieces(TUMBLING, many, held((1, 10**7, 10**7))))) == 10
    assert len(list(pieces(TUMBLING, Span(0, 1_000_000), held((1, 10**7, 10**7))))) == 1
    assert len(list(pieces(counting, many, held((1, 10**7, 10**7))))) == 1


def test_pieces_have_equally_many_busy_instants() -> None:
    segments = held((1, 1_470, 500), (3_001, 4_470, 500))  # busy through 1,500 and from 3,000 to 4,500
    assert list(pieces(TUMBLING, Span(0, 4_500), segments, MANY)) == [
        Span(0, 1_000), Span(1_000, 3_500), Span(3_500, 4_500),
    ]  # fmt: skip


@given(
    st.integers(-(10**15), 10**15),
    st.integers(1, 10**13),
    st.lists(st.tuples(st.integers(-(10**15), 10**15), st.integers(0, 10**12), st.integers(1, 100)), max_size=5),
    st.sampled_from([1, 10, 10**9]),
)
def test_pieces_tile_the_span(after: int, length: int, parts: list[tuple[int, int, int]], step: int) -> None:
    segments = {S: [segment(first, first + lasts, rows) for first, lasts, rows in parts]}
    times = Schedule((step,), elsewhere=(TimeWindow(10, 10),))
    found = list(pieces(times, Span(after, after + length), segments, MANY))
    assert found[0].after == after
    assert found[-1].through == after + length
    assert all(left.through == right.after for left, right in pairwise(found))
    assert all(piece.after < piece.through for piece in found)
    assert len(found) <= 50 + 2 * 16 + 1


def test_smaller_pieces_cover_the_piece() -> None:
    tuning = Tuning(smaller_pieces=3)
    assert smaller_pieces(TUMBLING, Span(0, 100), tuning) == [Span(0, 34), Span(34, 68), Span(68, 100)]
    assert smaller_pieces(Schedule(at_changes=True), Span(0, 3), tuning) == [Span(0, 1), Span(1, 2), Span(2, 3)]


def test_one_instant_has_no_smaller_pieces() -> None:
    assert smaller_pieces(TUMBLING, Span(5, 15)) == []
    assert smaller_pieces(Schedule(at_changes=True), Span(5, 6)) == []
