"""Clocks that jump: time never goes back, and nothing waits for as long as a jump."""

from __future__ import annotations

from threading import Condition, Thread

import pytest

from penstock.stream.base.clock import ForwardClock, SteadyClock, SystemClock, elapsed
from penstock.testing import ManualClock

HOUR = 3_600_000_000
JUMPS = pytest.mark.parametrize("jump", [-24 * HOUR, -HOUR, HOUR, 24 * HOUR])


def test_a_forward_clock_follows_a_jump_forward_and_goes_on_after_one_back() -> None:
    machine = ManualClock(HOUR)
    clock = ForwardClock(machine)
    machine.advance(5)
    assert clock.now() == HOUR + 5
    machine.jump(HOUR)
    assert clock.now() == 2 * HOUR + 5
    machine.jump(-3 * HOUR)
    assert clock.now() == 2 * HOUR + 5
    machine.advance(7)
    assert (clock.now(), clock.elapsed()) == (2 * HOUR + 12, HOUR + 12)
    machine.jump(2 * HOUR)  # to where it was: no jump for us
    assert clock.now() == 2 * HOUR + 12


def test_a_clock_that_says_nothing_of_jumps_stands_still_while_it_is_behind() -> None:
    class Plain:
        time = HOUR

        def now(self) -> int:
            return self.time

        def wait(self, condition: Condition, until: int | None) -> None:
            raise AssertionError

    plain = Plain()
    clock = ForwardClock(plain)
    plain.time -= 5
    assert clock.now() == HOUR - 5 or clock.now() >= plain.time
    assert elapsed(plain) == plain.time


@JUMPS
@pytest.mark.parametrize("kind", [ForwardClock, SteadyClock])
def test_nobody_waits_for_as_long_as_a_jump(jump: int, kind: type[ForwardClock | SteadyClock]) -> None:
    machine, waiting, ended = ManualClock(48 * HOUR), Condition(), []
    clock = kind(machine)
    until = clock.now() + 100

    def wait() -> None:
        with waiting:
            while clock.now() < until:
                clock.wait(waiting, until)
        ended.append(machine.now())

    thread = Thread(target=wait, daemon=True)
    thread.start()
    machine.await_waiter()
    machine.jump(jump)
    if not (kind is ForwardClock and jump > 0):  # which has followed the jump
        machine.await_waiter()
        assert not ended
        machine.advance(100)
    thread.join(60)
    assert len(ended) == 1


def test_the_time_that_has_passed_is_not_that_of_the_machines_clock() -> None:
    clock = SystemClock()
    assert elapsed(clock) <= clock.elapsed()
    assert ForwardClock(clock).now() >= clock.now() - 1_000_000


def test_a_steady_clock_ignores_jumps() -> None:
    machine = ManualClock(HOUR)
    clock = SteadyClock(machine)
    before = clock.now()
    machine.jump(-HOUR)
    machine.jump(5 * HOUR)
    machine.advance(3)
    assert clock.now() == before + 3
