"""The slices of a span: balanced by the counts of the log, and never shorter than the overlap."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from penstock.compile.kernels.slices import cut
from penstock.model.hyperloglog import Sketches
from penstock.model.span import Span
from penstock.model.stretches import Stretch


@dataclass(frozen=True)
class Counted:
    """A segment with its count alone."""

    first: int
    last: int
    rows: int
    predicates: None = None
    sketches: Sketches = field(default_factory=dict)
    stretches: tuple[Stretch, ...] = ()


def test_slices_have_equally_many_elements() -> None:
    segments = [Counted(1, 100, 900), Counted(101, 200, 100)]
    assert cut(Span(0, 200), segments, 1_000, 500, 0, 1) == [Span(0, 56), Span(56, 200)]


def test_an_element_of_another_year_does_not_make_slices_uneven() -> None:
    stretches = Stretch(1, 1, 1), Stretch(10**15 + 1, 10**15 + 200, 999)
    segments = [Counted(1, 10**15 + 200, 1_000, stretches=stretches)]
    first, second = cut(Span(0, 10**15 + 200), segments, 1_000, 500, 0, 1)
    assert first.through == second.after == 10**15 + 100


def test_a_few_elements_are_one_slice() -> None:
    assert cut(Span(0, 200), [Counted(1, 200, 10)], 10, 500, 1, 1) == [Span(0, 200)]


def test_each_core_gets_a_slice() -> None:
    assert cut(Span(0, 200), [Counted(1, 200, 10)], 10, 500, 0, 2) == [Span(0, 100), Span(100, 200)]


def test_elements_without_a_segment_are_spread_evenly() -> None:
    assert cut(Span(0, 90), [], 30, 10, 0, 1) == [Span(0, 30), Span(30, 60), Span(60, 90)]


def test_no_slice_is_shorter_than_the_overlap() -> None:
    assert cut(Span(0, 200), [Counted(1, 200, 1_000)], 1_000, 10, 80, 1) == [Span(0, 120), Span(120, 200)]
    assert cut(Span(0, 200), [Counted(1, 200, 1_000)], 1_000, 10, 150, 1) == [Span(0, 200)]


def test_slices_read_equally_many_elements_with_those_before() -> None:
    """The first slice has nothing before it, so it is longer."""
    assert cut(Span(0, 200), [], 1_000, 500, 20, 2) == [Span(0, 110), Span(110, 200)]
    before_as_well = [Counted(-99, 200, 3_000)]
    assert cut(Span(0, 200), before_as_well, 3_000, 2_000, 20, 2) == [Span(0, 100), Span(100, 200)]


def test_more_slices_than_cores_are_several_overlaps_long() -> None:
    assert len(cut(Span(0, 200), [], 1_000, 10, 20, 2)) == 9
    assert len(cut(Span(0, 200), [], 1_000, 10, 20, 2, overlaps=5)) == 2
    assert len(cut(Span(0, 200), [], 1_000, 10, 20, 5, overlaps=5)) == 5


def test_a_slice_begins_where_it_is_placed() -> None:
    assert cut(Span(0, 200), [], 1_000, 500, 0, 2, place=lambda time: time // 30 * 30 + 29) == [
        Span(0, 119),
        Span(119, 200),
    ]


@given(
    parts=st.lists(st.tuples(st.integers(0, 300), st.integers(0, 99), st.integers(0, 50)), max_size=6),
    most=st.integers(1, 50),
    overlap=st.integers(0, 100),
    least=st.integers(1, 4),
)
def test_slices_are_the_span(parts: list[tuple[int, int, int]], most: int, overlap: int, least: int) -> None:
    segments = [Counted(first, first + length, rows) for first, length, rows in parts]
    span = Span(50, 250)
    found = cut(span, segments, sum(s.rows for s in segments), most, overlap, least)
    assert (found[0].after, found[-1].through) == (span.after, span.through)
    assert all(one.through == other.after for one, other in pairwise(found))
    assert all(s.through - s.after >= max(1, overlap) for s in found) or len(found) == 1
