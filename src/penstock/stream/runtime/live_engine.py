"""The live engine: ingest and the evaluation thread, with the log between them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING

from penstock import log
from penstock.stream.base.clock import Clock
from penstock.stream.base.watermark import Watermarks
from penstock.stream.ingest.ingest import Ingest
from penstock.stream.ingest.stream_declaration import Declared
from penstock.stream.log.stream_log import StreamLog
from penstock.stream.registry.evaluation_group import EvaluationGroup
from penstock.stream.registry.evaluation_groups import EvaluationGroups
from penstock.stream.runtime.evaluation_thread import EvaluationThread
from penstock.tuning import DEFAULT, Tuning

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from penstock.stream.ingest.bounded_sources import BoundedSources

__all__ = ["LiveEngine", "next_by_clock"]

_numbers = count()


class LiveEngine:
    """Ingest and evaluation from `start` to `stop`."""

    def __init__(
        self,
        session: SparkSession,
        root: Path,
        clock: Clock,
        streams: Mapping[str, Declared],
        stream_log: StreamLog,
        watermarks: Watermarks,
        round: Callable[[], bool],
        groups: EvaluationGroups,
        tuning: Tuning = DEFAULT,
        in_sink: Callable[[], bool] = lambda: False,
    ) -> None:
        self._session = session
        self._clock, self._tuning = clock, tuning
        self._streams = streams
        self._groups, self._evaluate = groups, round
        options = {name: declared.live() for name, declared in streams.items()}
        self.ingest = Ingest(session, root, clock, options, stream_log, watermarks, tuning)
        self._tag = f"penstock-live-{next(_numbers)}"
        self._thread = EvaluationThread(
            self._round,
            clock,
            self._tick,
            prepare=lambda: session.sparkContext.addJobTag(self._tag),
            postponed=lambda: groups.next_retry() is not None or groups.is_delivering,
            ended=self.ingest.backlog.open,
            in_sink=in_sink,
        )
        self.ingest.backlog.listen(self._thread.wake)

    def start(self) -> None:
        self.ingest.start()
        self._thread.start()

    def stop(self, *, finish: bool = True) -> None:
        """Bring dropped files to the log, answer due instants, and end; or end at once, and cancel the Spark jobs.

        A sink that does not return is given up: its query keeps its progress, and has its batch again later."""
        try:
            if finish:
                self.ingest.drain()
                if not self._thread.wait_until_idle(self._tuning.stop_patience_us / 1e6):
                    self._log_held()
        finally:
            self._thread.stop(None if finish else lambda: self._session.sparkContext.cancelJobsWithTag(self._tag))
            self.ingest.close()

    def flush(self) -> None:
        self.ingest.drain()
        self._thread.wait_until_idle()

    def _log_held(self) -> None:
        """Log the queries that stop with answers which their sinks have not taken."""
        for group in self._groups:
            for task in group.tasks.values():
                if task.state in ("delivering", "retrying"):
                    wait = self._tuning.stop_patience_us / 1e6
                    log.sinks.warning(
                        "%s: stopped without its sink, which has not taken its answers in %g s; they come again",
                        task.name,
                        wait,
                        extra={"query": task.name, "state": task.state, "wait_s": wait},
                    )

    def push(self, stream: str, data: bytes, kind: str | None = None) -> int:
        return self.ingest.push(stream, data, kind)

    def advance(self, stream: str, time: int) -> None:
        self.ingest.advance(stream, time)

    def add(self, stream: str, declared: Declared, bounded: BoundedSources) -> None:
        """Add a stream while the others run."""
        if declared.is_file:
            bounded.read(stream, lambda: self._session, in_place=False)
        self.ingest.add(stream, declared.live())

    @property
    def problem(self) -> str | None:
        """Why ingest or evaluation has stopped, in one sentence."""
        return self.ingest.error or self._thread.problem

    def wake(self) -> None:
        self._thread.wake()

    def _round(self) -> bool:
        with self.ingest.backlog.round():
            return self._evaluate()

    def _tick(self) -> int | None:
        """The time until the clock alone may move a watermark, or a sink is tried again; None if neither can be."""
        moved = next_by_clock(self._groups, self._streams), self.ingest.watermarks.next_change()
        changes = (*moved, self._groups.next_retry())
        moments = [moment for moment in changes if moment is not None]
        return max(self._tuning.tick_us, min(moments) - self._clock.now()) if moments else None


def next_by_clock(groups: Iterable[EvaluationGroup], streams: Mapping[str, Declared]) -> int | None:
    """The clock's time of the next instant of a query whose streams advance with the clock; None if there is none."""
    moments = []
    for group in groups:
        moving = [streams[name] for name in group.inputs if name in streams and streams[name].advance]
        if moving and group.ready and group.plan is not None and group.progress is not None:
            patience = max(declared.allowed_lateness for declared in moving)
            moments.append(group.plan.schedule.next_instant(group.progress) + patience + 1)
    return min(moments, default=None)
