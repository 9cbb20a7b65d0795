"""Deliveries: sinks are called in a thread of their own, so that a slow one holds up its own query only.

The evaluation waits a moment for each call. When that is over it goes on, and leaves the thread to the slow sink; the
next delivery gets a new thread. So there is one thread, and one more for each sink that is slow at the moment.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from queue import SimpleQueue
from threading import Event, Lock, Thread, current_thread
from time import perf_counter

from penstock import log
from penstock.io.sinks import Batch
from penstock.stream.registry.registered_query import RegisteredQuery

__all__ = ["Deliveries", "SinkCall"]


@dataclass(slots=True, eq=False)
class SinkCall:
    """The call of a sink with a batch of its query."""

    task: RegisteredQuery
    batch: Batch
    ended: Event = field(default_factory=Event)
    is_left: bool = False  # the evaluation goes on without it
    seconds: float = 0.0  # that it took
    _taken: bool = False
    _error: BaseException | None = None

    def run(self) -> None:
        """Call the sink. No error is raised here: see `result`."""
        began = perf_counter()
        try:
            with log.about(self.task.name):
                self._taken = self.task.hand_over(self.batch)
        except BaseException as error:
            self._error = error
        self.seconds = perf_counter() - began

    def result(self) -> bool:
        """Whether the query took the batch, or the error of the sink."""
        if self._error is not None:
            raise self._error
        return self._taken


class Deliveries:
    """Makes deliveries, one after the other, each of which has `patience` microseconds before it is left alone.

    `ends_soon` and `finished` are called by the thread that evaluates; `wake` is called when a slow one has ended.
    """

    def __init__(self, wake: Callable[[], object], patience: int) -> None:
        self._wake, self._patience = wake, patience / 1e6
        self._lock = Lock()
        self._thread: Thread | None = None
        self._next: SimpleQueue[SinkCall | None] = SimpleQueue()
        self._inside: set[Thread] = set()
        self._finished: list[SinkCall] = []

    def ends_soon(self, delivery: SinkCall) -> bool:
        """Begin the delivery; whether it has ended. A sink that was slow the last time is not waited for."""
        if self._thread is None:
            self._begin_thread()
        self._next.put(delivery)
        if not delivery.task.is_slow and delivery.ended.wait(self._patience):
            return True
        with self._lock:
            delivery.is_left = not delivery.ended.is_set()
        if delivery.is_left:
            self._thread = None  # it ends after this delivery
        return not delivery.is_left

    def finished(self) -> list[SinkCall]:
        """The deliveries that were left alone and have ended; each is returned once."""
        with self._lock:
            finished, self._finished = self._finished, []
        for delivery in finished:
            delivery.task.is_slow = delivery.seconds > self._patience
        return finished

    def is_inside(self) -> bool:
        """Whether the calling thread is in a sink."""
        return current_thread() in self._inside

    def close(self) -> None:
        """End the thread. Slow sinks are left alone."""
        self._next.put(None)
        self._thread = None

    def _begin_thread(self) -> None:
        self._next = SimpleQueue()
        self._thread = Thread(target=self._work, args=(self._next,), name="penstock-sink", daemon=True)
        self._thread.start()

    def _work(self, jobs: SimpleQueue[SinkCall | None]) -> None:
        self._inside.add(current_thread())
        while (delivery := jobs.get()) is not None:
            delivery.run()
            with self._lock:
                delivery.ended.set()
                if delivery.is_left:
                    self._finished.append(delivery)
                    break
        self._inside.discard(current_thread())
        self._wake()
