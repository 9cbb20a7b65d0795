"""Group commit: pushes that wait for the disk at the same time are parsed together and become durable by one sync."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import count
from threading import Condition, Event, Lock

from penstock.errors import PenstockError, StoreError
from penstock.stream.base.clock import Clock
from penstock.stream.ingest.elements import Block
from penstock.tuning import DEFAULT

__all__ = ["GroupCommit", "InFlight", "pieces"]


@dataclass(slots=True, eq=False)
class _Waiting:
    block: Block
    turn: Event = field(default_factory=Event)  # it is done, or it is its turn to commit
    is_done: bool = False
    error: PenstockError | None = None


class GroupCommit:
    """Commits the blocks of one stream in the order of their arrival. All threads may append.

    There is no thread of its own. The first thread commits its block, and hands over to the first of the threads that
    have come meanwhile, which commits the blocks of all of them.
    """

    def __init__(self, commit: Callable[[Sequence[Block]], None], max_bytes: int = DEFAULT.push_bytes) -> None:
        self._commit, self._max_bytes = commit, max_bytes
        self._lock = Lock()
        self._waiting: deque[_Waiting] = deque()
        self._is_committing = False

    def append(self, block: Block) -> None:
        """Return when the block is durable. `PenstockError` if it is not: then nothing of its group is visible."""
        waiting = _Waiting(block)
        with self._lock:
            self._waiting.append(waiting)
            if not self._is_committing:
                self._hand_over()
        try:
            waiting.turn.wait()
        except BaseException:
            self._withdraw(waiting)
            raise
        if not waiting.is_done:
            self._commit_group()
        if waiting.error is not None:
            raise waiting.error

    def _commit_group(self) -> None:
        """Commit the blocks that have waited longest, of which the first is one's own."""
        group = self._next_group()
        try:
            self._commit([waiting.block for waiting in group])
        except BaseException as error:
            for waiting in group:
                waiting.error = _refusal(error)
            if not isinstance(error, Exception):
                raise
        finally:
            with self._lock:
                self._hand_over()
            for waiting in group:
                waiting.is_done = True
                waiting.turn.set()

    def _next_group(self) -> list[_Waiting]:
        """The first blocks, as long as they are not too large together."""
        with self._lock:
            group, size = [self._waiting.popleft()], 0
            while self._waiting and (size := size + group[-1].block.size) < self._max_bytes:
                group.append(self._waiting.popleft())
            return group

    def _hand_over(self) -> None:
        """Let the first that waits commit. The lock is held."""
        self._is_committing = bool(self._waiting)
        if self._waiting:
            self._waiting[0].turn.set()

    def _withdraw(self, interrupted: _Waiting) -> None:
        """Take back a block whose thread was interrupted, unless it is being committed."""
        with self._lock:
            if interrupted in self._waiting:
                self._waiting.remove(interrupted)
                if interrupted.turn.is_set():
                    self._hand_over()


def _refusal(error: BaseException) -> PenstockError:
    """The error for one of the pushes: an exception has one traceback, so each thread gets its own."""
    reason = (error.strerror if isinstance(error, OSError) else None) or str(error) or type(error).__name__
    kind = StoreError if isinstance(error, StoreError) else PenstockError
    refusal = kind(f"Elements could not be written to the log: {reason}")
    refusal.__cause__ = error
    return refusal


class InFlight:
    """Pushes that are accepted and not in the log yet, each with the time since when.

    Event time that moves by the clock must not overtake elements that came before: the watermark goes no further than
    the oldest of these.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._changed = Condition()
        self._keys = count()
        self._accepted: dict[int, int] = {}  # when, by a key of their own
        self._is_closed = False

    @contextmanager
    def accepting(self) -> Iterator[None]:
        """Count a push as in flight."""
        with self._changed:
            if self._is_closed:
                raise PenstockError("The engine has been stopped: it takes no more elements.")
            key = next(self._keys)
            self._accepted[key] = self._clock.now()
        try:
            yield
        finally:
            with self._changed:
                del self._accepted[key]
                self._changed.notify_all()

    def logged_until(self) -> int:
        """The clock's time up to which all accepted pushes are in the log."""
        with self._changed:
            return min([self._clock.now(), *self._accepted.values()])

    def close(self) -> None:
        """Accept no more pushes, and wait until those in flight are in the log."""
        with self._changed:
            self._is_closed = True
            self._changed.wait_for(lambda: not self._accepted)


def pieces(data: bytes, max_bytes: int) -> Iterator[bytes]:
    """The lines in pieces of at most that size, unless a line is longer; the last with its newline."""
    start = 0
    while start < len(data):
        end = len(data)
        if end - start > max_bytes:
            end = data.rfind(b"\n", start, start + max_bytes) + 1 or data.find(b"\n", start) + 1 or end
        piece = data[start:end]
        yield piece if piece.endswith(b"\n") else piece + b"\n"
        start = end
