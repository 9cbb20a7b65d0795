"""The thread that does rounds: when it works, when it sleeps, and how it ends."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Callable
from threading import Event, Thread

import pytest

from penstock.errors import PenstockError
from penstock.stream.runtime.evaluation_thread import EvaluationThread
from penstock.testing import ManualClock


def started(round: Callable[[], bool], clock: ManualClock | None = None, tick: int | None = None) -> EvaluationThread:
    loop = EvaluationThread(round, clock or ManualClock(), lambda: tick)
    loop.start()
    return loop


def test_settling_waits_until_a_round_finds_nothing_more() -> None:
    left = [3]

    def round() -> bool:
        left[0] -= left[0] > 0
        return left[0] > 0

    loop = started(round)
    loop.wait_until_idle()
    assert left == [0]
    left[0] = 2
    loop.wait_until_idle()
    assert left == [0]
    loop.stop()


def test_wake_during_a_round_starts_another_round() -> None:
    inside, go_on = Event(), Event()
    rounds: list[bool] = []

    def round() -> bool:
        rounds.append(True)
        inside.set()
        go_on.wait()
        return False

    loop = started(round)
    inside.wait()
    waiting = Thread(target=loop.wait_until_idle)
    waiting.start()
    loop.wake()
    go_on.set()
    waiting.join(timeout=60)
    assert not waiting.is_alive()
    assert len(rounds) >= 2
    loop.stop()


def test_time_alone_can_make_a_round() -> None:
    clock, rounds, again = ManualClock(), [0], Event()

    def round() -> bool:
        rounds[0] += 1
        if clock.now() >= 50:
            again.set()
        return False

    loop = started(round, clock, tick=50)
    loop.wait_until_idle()
    while not again.is_set():  # the thread may not have gone to sleep yet
        clock.advance(50)
    loop.stop()
    assert rounds[0] >= 2


def test_error_ends_the_thread_and_is_raised_to_waiters() -> None:
    def round() -> bool:
        raise KeyError("mine")

    loop = started(round)
    with pytest.raises(PenstockError, match="The evaluation has stopped: KeyError: 'mine'"):
        loop.wait_until_idle()
    loop.stop()


def test_a_sink_cannot_wait_for_itself() -> None:
    said: list[str] = []

    def round() -> bool:
        for call in (loop.wait_until_idle, loop.stop):
            try:
                call()
            except PenstockError as error:
                said.append(str(error))
        return False

    loop = EvaluationThread(round, ManualClock(), lambda: None)
    loop.start()
    loop.wait_until_idle()
    loop.stop()
    assert said[:2] == [
        "A sink cannot wait for the answers: it would wait for itself.",
        "A sink cannot stop the engine: it would wait for itself.",
    ]


def test_stopping_cancels_until_the_round_ends() -> None:
    inside, cancelled = Event(), Event()

    def round() -> bool:
        inside.set()
        cancelled.wait()
        return False

    loop = started(round)
    inside.wait()
    loop.stop(cancelled.set)
    assert cancelled.is_set()


class Circle:
    """Refers to itself, as a handle on an object of Java's does."""

    def __init__(self) -> None:
        self.itself = self


def test_reference_cycles_of_a_round_are_collected_after_it() -> None:
    left: list[weakref.ref[Circle]] = []

    def round() -> bool:
        left.append(weakref.ref(Circle()))
        return False

    gc.disable()
    try:
        loop = started(round)
        loop.wait_until_idle()
        assert [circle() for circle in left] == [None] * len(left)
        loop.stop()
    finally:
        gc.enable()


def test_settling_waits_for_a_sink_that_is_tried_again() -> None:
    clock, waits = ManualClock(), [True]
    loop = EvaluationThread(lambda: False, clock, lambda: 50 if waits[0] else None, postponed=lambda: waits[0])
    loop.start()
    waiting = Thread(target=loop.wait_until_idle)
    waiting.start()
    clock.await_waiter()
    assert waiting.is_alive()
    waits[0] = False
    clock.advance(50)
    waiting.join(timeout=60)
    assert not waiting.is_alive()
    loop.stop()


def test_a_thread_that_was_never_started_can_be_stopped() -> None:
    EvaluationThread(lambda: False, ManualClock(), lambda: None).stop(cancel=lambda: None)


def test_an_evaluation_that_stops_by_itself_says_why(caplog: pytest.LogCaptureFixture) -> None:
    def round() -> bool:
        raise OSError(28, "No space left on device")

    loop = started(round)
    message = "The evaluation has stopped: OSError: [Errno 28] No space left on device"
    with pytest.raises(PenstockError) as caught:
        loop.wait_until_idle()
    assert (str(caught.value), loop.problem) == (message, message)
    loop.stop()
    assert [(each.name, each.levelname, each.getMessage()) for each in caplog.records] == [
        ("penstock.rounds", "ERROR", message)
    ]
    assert caplog.records[0].exc_info is not None


def test_a_sink_that_does_not_return_is_given_up_when_all_else_is_answered() -> None:
    left, away = [3], Event()

    def round() -> bool:
        left[0] -= left[0] > 0
        return left[0] > 0

    loop = EvaluationThread(round, ManualClock(), lambda: None, postponed=lambda: not away.is_set())
    loop.start()
    assert not loop.wait_until_idle(patience=0)
    assert left == [0]
    away.set()
    assert loop.wait_until_idle(patience=0)
    loop.stop()
