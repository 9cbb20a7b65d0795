"""The clock: the time now, and waiting. The one module that reads the machine's clock, so that tests can replace it."""

from __future__ import annotations

import time
from threading import Condition
from typing import Protocol


class Clock(Protocol):
    """Microseconds since 1970, and waiting for a condition until some moment."""

    def now(self) -> int: ...

    def wait(self, condition: Condition, until: int | None) -> None:
        """Wait, holding the condition, until it is notified or the moment has come (None: until it is notified)."""


class SystemClock:
    """The machine's clock."""

    def now(self) -> int:
        return time.time_ns() // 1_000

    def wait(self, condition: Condition, until: int | None) -> None:
        condition.wait(None if until is None else max(0.0, (until - self.now()) / 1e6))
