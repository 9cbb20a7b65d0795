"""What time it is, and how to wait: the one place that asks the machine's clock, so that tests can bring their own."""

from __future__ import annotations

import time
from threading import Condition
from typing import Protocol


class Clock(Protocol):
    """Microseconds since 1970, and waiting for a condition until some moment."""

    def now(self) -> int: ...

    def wait(self, condition: Condition, until: int | None) -> None:
        """Wait, holding the condition, until somebody notifies it or the moment has come (None: only the former)."""


class SystemClock:
    """The machine's clock."""

    def now(self) -> int:
        return time.time_ns() // 1_000

    def wait(self, condition: Condition, until: int | None) -> None:
        condition.wait(None if until is None else max(0.0, (until - self.now()) / 1e6))
