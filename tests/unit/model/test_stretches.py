"""Stretches: where the elements of a segment lie in time."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.model.stretches import Stretch, cut_at_pauses, merged, rows_within
from penstock.stream.log.segment import Segment
from penstock.tuning import Tuning

TUNING = Tuning(pause_us=10, stretches=3)
times = st.lists(st.integers(-500, 500), max_size=30)


@pytest.mark.parametrize(
    ("elements", "expected"),
    [
        ([], []),
        ([7], [Stretch(7, 7, 1)]),
        ([17, 7, 12], [Stretch(7, 17, 3)]),
        ([7, 17, 28], [Stretch(7, 17, 2), Stretch(28, 28, 1)]),  # a pause is longer than 10
        ([90, 1, 50, 20], [Stretch(1, 20, 2), Stretch(50, 50, 1), Stretch(90, 90, 1)]),  # the two longest pauses stay
    ],
)
def test_elements_are_cut_at_the_longest_pauses(elements: list[int], expected: list[Stretch]) -> None:
    assert cut_at_pauses(np.array(elements, np.int64), TUNING) == tuple(expected)


@given(times)
def test_stretches_hold_every_element_once(elements: list[int]) -> None:
    found = cut_at_pauses(np.array(elements, np.int64), TUNING)
    assert len(found) <= TUNING.stretches
    assert all(right.first - left.last > TUNING.pause_us for left, right in pairwise(found))
    for stretch in found:
        inside = [time for time in elements if stretch.first <= time <= stretch.last]
        assert stretch == Stretch(min(inside), max(inside), len(inside))
    assert sum(stretch.rows for stretch in found) == len(elements)


@given(times, times)
def test_stretches_of_two_parts_are_those_of_the_whole(left: list[int], right: list[int]) -> None:
    most = Tuning(pause_us=10, stretches=100)
    parts = (cut_at_pauses(np.array(part, np.int64), most) for part in (left, right))
    whole = cut_at_pauses(np.array(left + right, np.int64), most)
    assert merged((stretch for part in parts for stretch in part), most) == whole


def test_merged_stretches_keep_the_longest_pauses() -> None:
    several = [Stretch(0, 5, 2), Stretch(60, 60, 1), Stretch(30, 31, 4), Stretch(200, 300, 9)]
    assert merged(several, TUNING) == (Stretch(0, 31, 6), Stretch(60, 60, 1), Stretch(200, 300, 9))


def test_rows_are_spread_evenly_within_a_stretch() -> None:
    part = Segment((), 30, 0, 1_009, None, stretches=(Stretch(0, 9, 10), Stretch(1_000, 1_009, 20)))
    assert rows_within(part, -1, 2_000) == 30
    assert rows_within(part, 4, 500) == 5
    assert rows_within(part, 10, 999) == 0
    assert rows_within(Segment((), 30, 0, 9, None), -1, 4) == 15  # the stretches of an older manifest are not known
