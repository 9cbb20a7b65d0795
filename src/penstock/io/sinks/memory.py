"""Answers kept for `query.answers()`: as Arrow tables, decoded when they are read."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from threading import Condition
from typing import Protocol

from penstock.answer import Answer
from penstock.io.sinks.sink import Batch, Position
from penstock.tuning import DEFAULT

__all__ = ["MemorySink"]


class Waiting(Protocol):
    """A clock to wait by: see `penstock.stream.base.clock.Clock`."""

    def now(self) -> int: ...
    def wait(self, condition: Condition, until: int | None) -> None: ...


class MemorySink:
    """Keeps batches in memory; nothing of it survives the process.

    While the engine is live it keeps the newest batches of together at most `most` rows, and always the last one:
    a reader that is slower than that misses the oldest, and `forgotten` counts the rows that are gone.
    """

    def __init__(self, most: int = DEFAULT.live_answer_rows) -> None:
        self._most = most
        self._batches: deque[tuple[int, Batch]] = deque()
        self._next = 0
        self._rows = 0
        self._live = False
        self._latest: tuple[int, Answer | None] = (-1, None)  # of which batch, and the answer
        self._changed = Condition()
        self.forgotten = 0

    def begin(self) -> Position:
        """See `Sink.begin`."""
        return None

    def rewind(self, position: Position) -> None:
        """See `Sink.rewind`."""

    def deliver(self, batch: Batch) -> Position:
        """See `Sink.deliver`."""
        size = batch.size
        with self._changed:
            self._batches.append((self._next, batch))
            self._next += 1
            self._rows += size
            if self._live:
                self._forget()
            self._changed.notify_all()
        return None

    def live(self, live: bool) -> None:
        """While live, readers wait for more and old answers are forgotten."""
        with self._changed:
            self._live = live
            self._changed.notify_all()

    def close(self) -> None:
        """See `Sink.close`. The kept answers can still be read."""
        self.live(False)

    def answers(self, clock: Waiting | None = None, timeout: int = 0) -> Iterator[Answer]:
        """The answers from the oldest that is kept on; while live this waits for more, until the engine stops.

        With a clock it ends when no answer has come for `timeout` microseconds of that clock.
        """
        position = 0
        while (numbered := self._next_batch(position, clock, timeout)) is not None:
            position, batch = numbered[0] + 1, numbered[1]
            yield from batch.answers

    def latest(self) -> Answer | None:
        """The newest answer, decoded once; None if there is none yet."""
        with self._changed:
            number, batch = self._batches[-1] if self._batches else (-1, None)
        if batch is not None and self._latest[0] != number:
            (newest,) = deque(batch.answers, maxlen=1)
            self._latest = number, newest
        return self._latest[1]

    def kept(self) -> list[Answer]:
        """The answers that are kept now, oldest first, without waiting."""
        with self._changed:
            batches = [batch for _, batch in self._batches]
        return [answer for batch in batches for answer in batch.answers]

    def _next_batch(self, position: int, clock: Waiting | None, timeout: int) -> tuple[int, Batch] | None:
        until = None if clock is None else clock.now() + timeout
        with self._changed:
            while self._live and self._next <= position:
                if clock is None or until is None:
                    self._changed.wait()
                elif clock.now() < until:
                    clock.wait(self._changed, until)
                else:
                    return None
            return next((kept for kept in self._batches if kept[0] >= position), None)

    def _forget(self) -> None:
        while self._rows > self._most and len(self._batches) > 1:
            _, batch = self._batches.popleft()
            self._rows -= batch.size
            self.forgotten += batch.size
