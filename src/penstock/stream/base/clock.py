"""The clock: the time now, and waiting. The one module that reads the machine's clock, so that tests can replace it.

The machine's clock may jump. `ForwardClock` never goes back, and never stands still: after a jump back it goes on from
where it was. Durations are measured by the time that has passed, to which a jump does nothing.
"""

from __future__ import annotations

import time
from threading import Condition, Lock
from typing import Protocol

__all__ = ["Clock", "ForwardClock", "SteadyClock", "SystemClock", "elapsed"]


class Clock(Protocol):
    """Microseconds since 1970, and waiting for a condition until some moment.

    One that may jump also has `elapsed`, the microseconds that have really passed since some moment.
    """

    def now(self) -> int: ...

    def wait(self, condition: Condition, until: int | None) -> None:
        """Wait, holding the condition, until it is notified or the moment has come (None: until it is notified)."""


class SystemClock:
    """The machine's clock."""

    def now(self) -> int:
        return time.time_ns() // 1_000

    def elapsed(self) -> int:
        return time.monotonic_ns() // 1_000

    def wait(self, condition: Condition, until: int | None) -> None:
        condition.wait(None if until is None else max(0.0, (until - self.now()) / 1e6))


def elapsed(clock: Clock) -> int:
    """The microseconds that have passed since some moment, whatever was done to the clock."""
    own = getattr(clock, "elapsed", None)
    return clock.now() if own is None else own()


class ForwardClock:
    """A clock that follows another one when that jumps forward, and goes on at its pace when that jumps back."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._ahead = clock.now() - elapsed(clock)  # the most that the time was ahead of what has passed
        self._lock = Lock()

    def now(self) -> int:
        with self._lock:
            passed = elapsed(self._clock)
            self._ahead = max(self._ahead, self._clock.now() - passed)
            return self._ahead + passed

    def elapsed(self) -> int:
        return elapsed(self._clock)

    def wait(self, condition: Condition, until: int | None) -> None:
        """See `Clock.wait`."""
        self._clock.wait(condition, None if until is None else self._clock.now() + until - self.now())


class SteadyClock:
    """The time that has passed on another clock, as a clock: for timeouts."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock

    def now(self) -> int:
        return elapsed(self._clock)

    def wait(self, condition: Condition, until: int | None) -> None:
        """See `Clock.wait`."""
        self._clock.wait(condition, None if until is None else self._clock.now() + until - self.now())
