"""Windows as pure functions of an element's time or number."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.algebra.windows import CountWindow, SlideWindow, TimeWindow, ceiling, floor

TIMES = st.integers(-(10**6), 10**6)
STEPS = st.integers(1, 500)


@pytest.mark.parametrize(
    ("value", "step", "up", "down"),
    [(0, 10, 0, 0), (1, 10, 10, 0), (10, 10, 10, 10), (-1, 10, 0, -10), (-10, 10, -10, -10), (25, 10, 30, 20)],
)
def test_rounding_to_a_lattice(value: int, step: int, up: int, down: int) -> None:
    assert (ceiling(value, step), floor(value, step)) == (up, down)


# [RANGE 10 STEP 5]: instants at 0, 5, 10, …; at 10 it holds what came after 0 and not after 10.
#
#     0    5    10   15   20
#     |----|----|----|----|
#       3  ═════════         visible at 5 and 10, not at 15 any more
#          5═════════        at the instant 5 itself already
#     0════════              visible at 0 and 5
@pytest.mark.parametrize(("time", "visible"), [(3, (5, 15)), (5, (5, 15)), (6, (10, 20)), (0, (0, 10)), (-2, (0, 10))])
def test_sliding(time: int, visible: tuple[int, int]) -> None:
    assert TimeWindow(10, 5).visible(time) == visible


# [RANGE 5 TUMBLING]: everything is in exactly one window.
@pytest.mark.parametrize(("time", "visible"), [(1, (5, 10)), (5, (5, 10)), (6, (10, 15))])
def test_tumbling(time: int, visible: tuple[int, int]) -> None:
    assert TimeWindow(5, 5).visible(time) == visible


# [RANGE 7 STEP 5]: at 10 it holds what came after 3, so what came at 3 is seen at 5 alone, and what came at 4 twice.
@pytest.mark.parametrize(("time", "visible"), [(3, (5, 10)), (4, (5, 15))])
def test_a_range_that_is_no_multiple_of_the_step(time: int, visible: tuple[int, int]) -> None:
    assert TimeWindow(7, 5).visible(time) == visible


@given(TIMES, STEPS, STEPS, st.integers(-50, 50))
def test_an_instant_sees_its_range(time: int, range_: int, step: int, k: int) -> None:
    """The definition: at kσ the content is what has kσ−ρ < τ ≤ kσ."""
    instant = floor(time, step) + k * step
    begins, ends = TimeWindow(range_, step).visible(time)
    assert (begins <= instant < ends) == (instant - range_ < time <= instant)


# [TRIPLES 3]: with the fourth element the first one goes.
#
#     number   1  2  3  4  5
#     1        ═══════|
#     2           ═══════|
def test_counting() -> None:
    window = CountWindow(3)
    assert [(window.entering(n), window.leaving(n)) for n in (1, 2, 5)] == [(1, 4), (2, 5), (5, 8)]


# [TRIPLES 3 STEP 2]: the content changes with elements 2, 4, 6, …; at 4 it is 2, 3 and 4.
def test_counting_in_steps() -> None:
    window = CountWindow(3, 2)
    seen = {at: [n for n in range(1, 9) if window.entering(n) <= at < window.leaving(n)] for at in (2, 4, 6)}
    assert seen == {2: [1, 2], 4: [2, 3, 4], 6: [4, 5, 6]}


@given(st.integers(1, 50), st.integers(1, 20), st.integers(1, 100))
def test_a_full_step_sees_the_last_elements(size: int, step: int, k: int) -> None:
    window, last = CountWindow(size, step), k * step
    seen = [n for n in range(1, last + 1) if window.entering(n) <= last < window.leaving(n)]
    assert seen == list(range(max(1, last - size + 1), last + 1))


# [FROM NOW-15 TO NOW-5 STEP 5] is [RANGE 10 STEP 5] five later: at 20 it holds what came after 5 and not after 15.
@pytest.mark.parametrize(("time", "visible"), [(3, (10, 20)), (5, (10, 20)), (6, (15, 25)), (15, (20, 30))])
def test_in_the_past(time: int, visible: tuple[int, int]) -> None:
    assert TimeWindow(10, 5, 5).visible(time) == visible


@given(TIMES, STEPS, STEPS, st.integers(0, 1000), st.integers(-50, 50))
def test_a_window_in_the_past_holds_what_one_of_now_held(time: int, range_: int, step: int, delay: int, k: int) -> None:
    """The definition: at kσ the content is what has kσ−β−ρ < τ ≤ kσ−β."""
    instant = floor(time, step) + k * step
    start, end = TimeWindow(range_, step, delay).visible(time)
    assert (start <= instant < end) == (instant - delay - range_ < time <= instant - delay)


# RANGE 10 STEP 50: a sample, the last ten of every fifty. It stays until the next one.
#
#     0         50        100       150
#     |---------|---------|---------|
#            41 ══════════
#            50 ══════════
#       40 and 3 are never seen
@pytest.mark.parametrize(
    ("time", "visible"), [(41, (50, 100)), (50, (50, 100)), (40, (50, 50)), (3, (50, 50)), (-5, (0, 50))]
)
def test_step_beyond_the_range(time: int, visible: tuple[int, int]) -> None:
    window = TimeWindow(10, 50)
    assert window.visible(time) == visible
    assert (window.samples, TimeWindow(50, 50).samples) == (True, False)


# RANGE 10 SLIDE 5: everything of [5, 10) enters at its own time and leaves at 15.
#
#     0    5    10   15   20
#     |----|----|----|----|
#       3═══════                 with all of [0, 5)
#          5══════════
#            7════════
@pytest.mark.parametrize(("time", "visible"), [(3, (3, 10)), (5, (5, 15)), (7, (7, 15)), (-1, (-1, 5)), (0, (0, 10))])
def test_slide(time: int, visible: tuple[int, int]) -> None:
    assert SlideWindow(10, 5).visible(time) == visible


# RANGE 5 FIXED: until the end of its own five.
@pytest.mark.parametrize(("time", "visible"), [(0, (0, 5)), (4, (4, 5)), (5, (5, 10))])
def test_fixed(time: int, visible: tuple[int, int]) -> None:
    assert SlideWindow(5, 5).visible(time) == visible


@given(TIMES, STEPS)
def test_without_a_slide_everything_stays_as_long(time: int, range_: int) -> None:
    assert SlideWindow(range_).visible(time) == (time, time + range_)


@given(TIMES)
def test_now_and_all(time: int) -> None:
    assert SlideWindow(1).visible(time) == (time, time + 1)
    assert SlideWindow(None).visible(time) == (time, None)


@given(TIMES, STEPS, st.integers(1, 20))
def test_a_slide_leaves_as_one(time: int, slide: int, times: int) -> None:
    """Elements that enter in one slide leave together, and none before it was seen."""
    window = SlideWindow(slide * times, slide)
    (start, end), (_, first_end) = window.visible(time), window.visible(floor(time, slide))
    assert start == time
    assert end is not None
    assert end == first_end
    assert end > time
    assert end % slide == 0
