"""How much of a stream a query still needs: everything that an instant to come can see, by the windows' definition."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from pyoxigraph import NamedNode

from penstock.algebra import ops
from penstock.algebra.schedule import Schedule, schedule
from penstock.algebra.windows import CountWindow, SlideWindow, TimeWindow, Window

S, T = "http://e/s", "http://e/t"
TIME_WINDOWS = st.builds(lambda step, more: TimeWindow(step + more, step), st.integers(1, 12), st.integers(0, 20))
COUNT_WINDOWS = st.builds(CountWindow, st.integers(1, 8), st.integers(1, 5))
EVERY = st.none() | st.integers(1, 30)


def planned(every: int | None, **windows: Window) -> Schedule:
    """The schedule of a query on one or two streams."""
    streams = tuple(ops.StreamWindow(NamedNode(f"http://e/{name}"), window) for name, window in windows.items())
    query = ops.Query(ops.Ask(), ops.Bgp(()), streams=streams, registration=ops.Registration("q", every))
    return schedule(query)


def sees(window: TimeWindow, instant: int, time: int) -> bool:
    at = instant - instant % window.step
    return at - window.range < time <= at


@given(window=TIME_WINDOWS, other=TIME_WINDOWS | COUNT_WINDOWS, every=EVERY, progress=st.integers(-60, 60))
def test_no_later_instant_sees_an_element_before_the_horizon(
    window: TimeWindow, other: Window, every: int | None, progress: int
) -> None:
    query = planned(every, s=window, t=other)
    horizon = query.horizon(progress, S)
    assert horizon is not None
    instants = [t for t in range(progress + 1, progress + 70) if query.has_instant(t - 1, t)]
    assert not any(sees(window, t, time) for t in instants for time in range(horizon - 60, horizon + 1))


@given(window=TIME_WINDOWS, every=EVERY, progress=st.integers(-60, 60))
def test_the_horizon_of_a_query_with_one_window_is_as_late_as_can_be(
    window: TimeWindow, every: int | None, progress: int
) -> None:
    query = planned(every, s=window)
    first = next(t for t in range(progress + 1, progress + 70) if query.has_instant(t - 1, t))
    assert sees(window, first, (query.horizon(progress, S) or 0) + 1)


# S [RANGE 10 STEP 10] beside T [TRIPLES 1], answered up to 12: an element on T at 13 is an instant, and at 13 the
# window on S still is what it was at 10.
def test_a_window_that_counts_makes_instants_between_those_of_another() -> None:
    query = planned(None, s=TimeWindow(10, 10), t=CountWindow(1))
    assert query.horizon(12, S) == 0
    assert query.horizon(12, T) is None
    assert planned(10, s=TimeWindow(10, 10), t=CountWindow(1)).horizon(12, S) == 10


@given(window=COUNT_WINDOWS, arrived=st.integers(0, 60))
def test_the_tail_has_all_that_a_counting_window_will_show_again(window: CountWindow, arrived: int) -> None:
    """Of the elements that have arrived, those which are visible when the next one comes, or later."""
    again = [n for n in range(1, arrived + 1) if window.leaving(n) > arrived]
    assert not again or min(again) > arrived - planned(None, s=window).tail(S)


@given(range=st.integers(0, 20), slide=st.integers(1, 6), progress=st.integers(-60, 60))
def test_elements_up_to_the_horizon_have_left_a_sliding_window(range: int, slide: int, progress: int) -> None:
    window = SlideWindow(range, slide)
    horizon = planned(None, s=window).horizon(progress, S)
    assert horizon is not None
    left, still = (window.visible(time)[1] or 0 for time in (horizon, horizon + 1))
    assert left <= progress < still


def test_no_element_leaves_a_window_of_all() -> None:
    assert (planned(None, s=SlideWindow(None)).horizon(10, S) or 0) < -(10**18)


@given(window=TIME_WINDOWS, progress=st.integers(-60, 60))
def test_with_deltas_an_element_stays_until_its_leaving_has_been_told(window: TimeWindow, progress: int) -> None:
    """What the window holds at its last step is compared with the next one."""
    query = ops.Query(ops.Ask(), ops.Bgp(()), streams=(ops.StreamWindow(NamedNode(S), window),))
    horizon = schedule(query, deltas=True).horizon(progress, S)
    assert horizon is not None
    assert not sees(window, progress, horizon)
    assert sees(window, progress, horizon + 1)


@given(window=TIME_WINDOWS, other=TIME_WINDOWS | COUNT_WINDOWS, every=EVERY, after=st.integers(-60, 60))
def test_the_next_instant_is_the_first_of_all(window: TimeWindow, other: Window, every: int | None, after: int) -> None:
    query = planned(every, s=window, t=other)
    assert query.next_instant(after) == next(t for t in range(after + 1, after + 70) if query.has_instant(t - 1, t))
