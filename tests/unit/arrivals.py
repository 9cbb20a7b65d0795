"""What the tests of the log and of ingest share: elements by their times, and a clock that is moved by hand."""

from __future__ import annotations

from collections.abc import Iterable
from threading import Condition

import pyarrow as pa

from penstock.io.nquads import ELEMENTS
from penstock.stream.dead import line_of

STREAM = "http://example.org/stream"
SECOND = 1_000_000


class HandClock:
    """Stands still until it is moved."""

    def __init__(self, now: int = 0) -> None:
        self._now = now
        self._moved = Condition()
        self._waiting: set[Condition] = set()

    def now(self) -> int:
        return self._now

    def wait(self, condition: Condition, until: int | None) -> None:
        """Wakes at once where the moment has come; whoever waits is told when the clock moves."""
        with self._moved:
            if until is not None and self._now >= until:
                return
            self._waiting.add(condition)
            self._moved.notify_all()
        condition.wait()

    def move(self, microseconds: int) -> None:
        with self._moved:
            self._now += microseconds
            waiting, self._waiting = self._waiting, set()
        for condition in waiting:
            with condition:
                condition.notify_all()

    def await_waiters(self) -> None:
        """Return when somebody waits for the clock."""
        with self._moved:
            assert self._moved.wait_for(lambda: bool(self._waiting), 20)


def elements(times: Iterable[int], predicate: str = "p") -> pa.Table:
    """An element for each time, whose object tells it."""
    stamps = list(times)
    return pa.table(
        {
            "s": ["<http://example.org/s>"] * len(stamps),
            "p": [f"<http://example.org/{predicate}>"] * len(stamps),
            "o": [f'"{stamp}"' for stamp in stamps],
            "ts": stamps,
        },
        ELEMENTS,
    )


def text(times: Iterable[int], predicate: str = "p") -> bytes:
    """The same as timestamped N-Quads."""
    rows = elements(times, predicate).to_pylist()
    return "".join(line_of(row["s"], row["p"], row["o"], row["ts"]) for row in rows).encode()
