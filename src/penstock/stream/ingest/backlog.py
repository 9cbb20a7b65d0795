"""The backlog of a live engine: text that was accepted and has not been through a round of evaluation yet.

It is bounded for each stream. A push that comes when its stream is full waits, or is refused; a source waits, and does
not read on: so TCP slows the sender down, and files stay in their folder.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Condition, get_ident

from penstock.errors import OverloadError
from penstock.options import WhenFull
from penstock.tuning import DEFAULT

__all__ = ["Backlog"]


class Backlog:
    """Counts the bytes of each stream that wait for a round. All threads may use it.

    A round looks at all that was in the log when it began. After it these bytes do not wait any more, also if their
    instants are not complete: a watermark that stands still holds up no producer.
    """

    def __init__(self, max_bytes: int = DEFAULT.backlog_bytes) -> None:
        self._max_bytes = max_bytes
        self._arriving: Counter[str] = Counter()  # let in, and not in the log yet
        self._logged: Counter[str] = Counter()  # in the log, and not in a round yet
        self._in_round: Counter[str] = Counter()
        self._changed = Condition()
        self._evaluating: int | None = None  # the thread of the round, which must not wait for itself
        self._is_open = False
        self._wake: Callable[[], object] = lambda: None
        self.refused: Counter[str] = Counter()  # pushes

    def listen(self, wake: Callable[[], object]) -> None:
        """Call `wake` when a stream is full, so that a round follows, also if nothing in it moved a watermark."""
        self._wake = wake

    def waiting(self, stream: str) -> int:
        """The bytes of a stream that wait."""
        with self._changed:
            return self._arriving[stream] + self._logged[stream] + self._in_round[stream]

    def is_full(self, stream: str) -> bool:
        """Whether somebody who comes now has to wait; then a round follows."""
        with self._changed:
            full = self._is_full(stream)
            if full:
                self._wake()
            return full

    @contextmanager
    def entering(self, stream: str, size: int, when_full: WhenFull = "block") -> Iterator[None]:
        """Let so many bytes in, which are in the log at the end of this; first wait while the stream is full.

        A stream is full when its limit is reached, so the backlog exceeds the limit by one push at most.
        """
        with self._changed:
            if self._is_full(stream):
                self._wake()
                if when_full == "refuse":
                    self.refused[stream] += 1
                    raise OverloadError(_refusal(stream, self._max_bytes))
                self._changed.wait_for(lambda: not self._is_full(stream))
            self._arriving[stream] += size
        try:
            yield
        except BaseException:
            self._arrived(stream, size, 0)
            raise
        self._arrived(stream, size, size)

    def _arrived(self, stream: str, size: int, logged: int) -> None:
        with self._changed:
            self._arriving[stream] -= size
            self._logged[stream] += logged
            self._changed.notify_all()

    def _is_full(self, stream: str) -> bool:
        return not self._is_open and self._evaluating != get_ident() and self.waiting(stream) >= self._max_bytes

    @contextmanager
    def round(self) -> Iterator[None]:
        """A round of evaluation: what is in the log by now has been looked at when it ends."""
        with self._changed:
            self._evaluating, self._in_round, self._logged = get_ident(), self._logged, Counter()
        try:
            yield
        finally:
            with self._changed:
                self._evaluating, self._in_round = None, Counter()
                self._changed.notify_all()

    def open(self) -> None:
        """Let everybody in from now on, since no round will follow."""
        with self._changed:
            self._is_open = True
            self._changed.notify_all()


def _refusal(stream: str, max_bytes: int) -> str:
    size = f"{max_bytes >> 20} MiB" if max_bytes >= 1 << 20 else f"{max_bytes:,} bytes"
    return (
        f"The stream <{stream}> is full: {size} of its elements wait to be evaluated. Nothing of this push was kept: "
        'push it again later, or declare the stream with when_full="block".'
    )
