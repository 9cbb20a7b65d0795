"""What has been accepted and is not in the log yet, and since when.

Time that moves by the clock must not overtake elements that came before: for streams it is only as late as the oldest
of these.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import count
from threading import Condition

from penstock.stream.base.clock import Clock

__all__ = ["InFlight"]


class InFlight:
    """Accepted pieces, from the moment they are offered until the spool's file that they are in has been read."""

    def __init__(self, clock: Clock, read: int, written: int) -> None:
        """Files below `read` are in the log, and files below `written` exist."""
        self._clock = clock
        self._changed = Condition()
        self._keys = count()
        self._offered: dict[int, int] = {}  # when, by a key of their own
        self._written: dict[int, int] = {written - 1: clock.now()} if written > read else {}  # when, by file
        self._read = read

    @contextmanager
    def accepting(self) -> Iterator[Callable[[int], None]]:
        """While somebody waits for the disk; to be called with the number of the file."""
        with self._changed:
            key, accepted = next(self._keys), self._clock.now()
            self._offered[key] = accepted
        try:
            yield lambda number: self._note(number, accepted)
        finally:
            with self._changed:
                del self._offered[key]

    def _note(self, number: int, accepted: int) -> None:
        with self._changed:
            if number >= self._read:
                self._written[number] = min(accepted, self._written.get(number, accepted))

    def read(self, end: int) -> None:
        """Files below this one are in the log now."""
        with self._changed:
            self._read = max(self._read, end)
            self._written = {number: time for number, time in self._written.items() if number >= self._read}
            self._changed.notify_all()

    def now(self) -> int:
        """The time up to which all that was accepted is in the log."""
        with self._changed:
            return min([self._clock.now(), *self._offered.values(), *self._written.values()])

    def wait(self, given_up: Callable[[], bool]) -> None:
        """Wait until all that is durable by now is in the log, or there is no hope (`wake` has it asked again)."""
        with self._changed:
            last = max(self._written, default=-1)
            self._changed.wait_for(lambda: self._read > last or given_up())

    def wake(self) -> None:
        with self._changed:
            self._changed.notify_all()
