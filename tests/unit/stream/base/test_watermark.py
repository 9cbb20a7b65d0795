"""Watermarks of streams, and late elements. Nothing here waits."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.stream.base.watermark import Position, combined, late_before, next_change, watermark
from penstock.stream.ingest.late_filter import split_late, with_newest
from tests.support.arrivals import elements


@pytest.mark.parametrize(
    ("position", "through"),
    [
        (Position(), None),
        (Position(newest=100), 99),  # more of the same time may come
        (Position(newest=100, lateness=30), 69),
        (Position(newest=100, advanced_to=150), 150),
        (Position(newest=100, advanced_to=50), 99),
        (Position(newest=100, advance=True), 999),
        (Position(advance=True, lateness=10), 989),
    ],
)
def test_a_stream_by_itself(position: Position, through: int | None) -> None:
    assert watermark(position, now=1000) == through


@pytest.mark.parametrize(
    ("positions", "others", "through"),
    [
        ([Position(newest=100), Position(newest=50)], [], 49),
        ([Position(newest=100), Position()], [], None),
        ([Position(newest=100), Position(newest=50, idle=1000)], [], 99),  # the slower one is idle
        ([Position(newest=100), Position(newest=50, idle=1001)], [], 49),  # it is not, yet
        ([Position(newest=100), Position(idle=10)], [], 99),  # it has never said anything
        ([Position(newest=100, idle=10), Position(newest=50, idle=10)], [], 99),  # all are idle: the furthest counts
        ([Position(idle=10)], [], None),
        ([Position(newest=100)], [20], 20),
        ([Position(newest=100, idle=10)], [120], 120),
        ([Position(newest=100)], [None], None),
    ],
)
def test_streams_together(positions: list[Position], others: list[int | None], through: int | None) -> None:
    assert combined(positions, 1000, others) == through


def test_the_next_one_to_become_idle() -> None:
    positions = [Position(last_arrival=10, idle=5), Position(last_arrival=10, idle=50), Position()]
    assert next_change(positions, now=12) == 15
    assert next_change(positions, now=15) == 60
    assert next_change(positions, now=60) is None


def late_times(stamps: list[int], position: Position) -> list[int]:
    return [int(ts) for ts in split_late(elements(stamps), position)[1].column("ts").to_numpy()]


def test_late_elements_are_behind_by_more_than_the_lateness() -> None:
    assert late_times([10, 8, 20, 17, 18, 16, 30], Position(lateness=2)) == [17, 16]
    assert late_times([10, 8], Position(newest=15, lateness=5)) == [8]
    assert late_times([10, 10], Position(newest=10)) == []
    assert late_times([10, 11, 12], Position(advanced_to=11)) == [10, 11]
    assert late_times([], Position(newest=3)) == []


@given(st.lists(st.integers(0, 30), max_size=12), st.integers(0, 10), st.data())
def test_batches_do_not_matter(stamps: list[int], lateness: int, data: st.DataObject) -> None:
    whole = late_times(stamps, Position(lateness=lateness))
    cut = data.draw(st.integers(0, len(stamps)))
    position = Position(lateness=lateness)
    first = late_times(stamps[:cut], position)
    if stamps[:cut]:
        position = with_newest(position, max(stamps[:cut]))
    assert first + late_times(stamps[cut:], position) == whole


@given(st.lists(st.integers(0, 30), min_size=1), st.integers(0, 10), st.integers(0, 30))
def test_element_is_late_exactly_up_to_the_watermark(stamps: list[int], lateness: int, next_one: int) -> None:
    """An element is late exactly when the stream was complete through its time."""
    position = Position(newest=max(stamps), lateness=lateness)
    through = watermark(position, now=0)
    assert through is not None
    assert (late_times([next_one], position) == [next_one]) == (next_one <= through)
    assert late_before(position) == through + 1
