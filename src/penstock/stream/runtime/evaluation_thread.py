"""The evaluation thread: makes rounds while instants are due, and sleeps until it is woken."""

from __future__ import annotations

import gc
from collections.abc import Callable
from threading import Condition, Thread, current_thread

from penstock import log
from penstock.errors import PenstockError
from penstock.spark.session.cancellation import sentence
from penstock.stream.base.clock import Clock

__all__ = ["EvaluationThread"]

_PATIENCE = 0.1  # seconds between two attempts to cancel
# Handles on Java's objects refer to themselves, so plans, and the tables that Spark has sent to its workers for them,
# stay until Python looks for such circles. Among young objects that takes a fraction of a millisecond.
_YOUNG = 1


class EvaluationThread:
    """Calls `round` until that has nothing to do, and again when woken or, if `tick` says so, when time has passed."""

    def __init__(
        self,
        round: Callable[[], bool],
        clock: Clock,
        tick: Callable[[], int | None],
        prepare: Callable[[], object] = lambda: None,
        postponed: Callable[[], bool] = lambda: False,
        ended: Callable[[], object] = lambda: None,
        in_sink: Callable[[], bool] = lambda: False,
    ) -> None:
        self._round = round
        self._clock = clock
        self._tick = tick  # microseconds until time alone may have made something due; None: never
        self._prepare = prepare  # in the thread, before its first round
        self._postponed = postponed  # whether a sink is at work, or to be tried again: something due is not answered
        self._in_sink = in_sink  # whether the calling thread is in a sink
        self._ended = ended  # in the thread, after its last round
        self._changed = Condition()
        self._news = 0  # how often it was woken
        self._seen = 0  # how many of those have been answered by a round that found nothing more to do
        self._held = 0  # how many of those have, but for sinks that are at work or to be tried again
        self._stopping = False
        self._error: BaseException | None = None
        self._thread = Thread(target=self._run, name="penstock-evaluation", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def wake(self) -> None:
        """Start a round: an instant may be due."""
        with self._changed:
            self._news += 1
            self._changed.notify_all()

    def wait_until_idle(self, patience: float | None = None) -> bool:
        """Wait until everything that is due by now has been answered; whether it has.

        Where only sinks are missing, they have `patience` seconds; None: as long as they take."""
        self._not_inside("wait for the answers")
        with self._changed:
            self._news += 1
            wanted = self._news
            self._changed.notify_all()
            self._wait_for(lambda: self._seen >= wanted or (patience is not None and self._held >= wanted))
            self._wait_for(lambda: self._seen >= wanted, patience)
        if self._error is not None:
            raise PenstockError(self.problem) from self._error
        return self._seen >= wanted

    def _wait_for(self, reached: Callable[[], bool], seconds: float | None = None) -> None:
        """Wait until something holds, or no round will follow."""
        self._changed.wait_for(lambda: reached() or not self._thread.is_alive() or self._error, seconds)

    @property
    def problem(self) -> str | None:
        """Why no round will follow, in one sentence."""
        return None if self._error is None else f"The evaluation has stopped: {sentence(self._error)}"

    def stop(self, cancel: Callable[[], object] | None = None) -> None:
        """End after the round that is going on, which `cancel`, called again and again, may shorten."""
        self._not_inside("stop the engine")
        with self._changed:
            self._stopping = True
            self._changed.notify_all()
        while cancel is not None and self._thread.is_alive():
            cancel()
            self._thread.join(_PATIENCE)
        if self._thread.ident is not None:  # where ingest did not start, the thread never did
            self._thread.join()

    def _not_inside(self, doing: str) -> None:
        if current_thread() is self._thread or self._in_sink():
            raise PenstockError(f"A sink cannot {doing}: it would wait for itself.")

    def _run(self) -> None:
        try:
            self._prepare()
            while not self._stopping:
                news = self._news
                more = self._round()
                gc.collect(_YOUNG)
                if not more:
                    self._wait_for_news(news)
        except BaseException as error:  # raised to the threads that wait
            self._error = error
            log.rounds.error("%s", self.problem, exc_info=error, extra={"error": sentence(error)})
        finally:
            self._ended()
            with self._changed:
                self._changed.notify_all()

    def _wait_for_news(self, news: int) -> None:
        with self._changed:
            self._held = news
            if not self._postponed():
                self._seen = news
            self._changed.notify_all()
            if self._news == news and not self._stopping:
                tick = self._tick()
                self._clock.wait(self._changed, None if tick is None else self._clock.now() + tick)
