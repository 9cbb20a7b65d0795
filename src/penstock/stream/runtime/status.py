"""Collects the status of an engine from its parts. Each stream and each group is read once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING

from penstock.algebra.schedule import is_periodic, schedule, stretched
from penstock.stream.base.time_values import to_datetime
from penstock.stream.base.watermark import Watermarks, minimum
from penstock.stream.ingest.stream_declaration import Declared
from penstock.stream.ingest.stream_view import StreamView
from penstock.stream.log.stream_log import StreamLog
from penstock.stream.registry.catalogue import Catalogue
from penstock.stream.registry.evaluation_group import EvaluationGroup
from penstock.stream.registry.registered_query import RegisteredQuery
from penstock.stream.runtime.progress import EngineStatus, Progress, QueryStatus, StreamStatus

if TYPE_CHECKING:
    from penstock.stream.runtime.live_engine import LiveEngine

__all__ = ["Status"]


class Status:
    """Reads the status of streams and queries."""

    def __init__(
        self,
        log: StreamLog,
        inputs: StreamView,
        watermarks: Watermarks,
        streams: Mapping[str, Declared],
        catalogue: Catalogue,
    ) -> None:
        self._log, self._inputs, self._watermarks = log, inputs, watermarks
        self._streams, self._catalogue = streams, catalogue

    def engine(self, live: LiveEngine | None) -> EngineStatus:
        """The status of the engine."""
        ends, waits = self._all_watermarks(), dict[int, _Wait]()
        queries = {task.name: _query(task, _waiting(task.group, ends, waits)) for task in self._catalogue}
        problem = None if live is None else live.problem
        return EngineStatus(live is not None, self._stream_statuses(live, ends), queries, self._lag(), problem)

    def query(self, task: RegisteredQuery) -> QueryStatus:
        """The status of one query."""
        return _query(task, _waiting(task.group, self._all_watermarks(), {}))

    def progress(self) -> Progress:
        """The progress of a run, without the status of each query."""
        answers = sum(task.answers for task in self._catalogue)
        stretched = max((group.reached.stretched for group in self._catalogue.groups), default=1)
        streams = self._stream_statuses(None, self._all_watermarks())
        return Progress.of(streams.values(), answers, self._lag(), stretched)

    def _all_watermarks(self) -> dict[str, int | None]:
        """The watermarks of all streams; that of a derived one is the progress of its query."""
        derived = {name: task.progress for name, task in self._catalogue.derived.items()}
        return {name: self._watermarks.of(name) for name in self._streams} | derived

    def _stream_statuses(self, live: LiveEngine | None, ends: Mapping[str, int | None]) -> dict[str, StreamStatus]:
        if live is None:
            return {name: self._stream(name, end, None) for name, end in ends.items()}
        problems, backlog = live.ingest.problems, live.ingest.backlog
        return {
            name: replace(
                self._stream(name, end, problems.get(name)),
                waiting=backlog.waiting(name),
                refused=backlog.refused[name],
            )
            for name, end in ends.items()
        }

    def _stream(self, name: str, watermark: int | None, problem: str | None) -> StreamStatus:
        counts = self._log.counts(name)
        elements = counts.elements + sum(part.rows for part in self._inputs.in_place(name))
        newest, end = to_datetime(self._newest(name)), to_datetime(watermark)
        status = StreamStatus(elements, counts.late, counts.malformed, newest, end, problem, counts.ahead)
        partitions = self._watermarks.partitions(name)
        times = {partition: to_datetime(position.newest) for partition, position in partitions.items()}
        return replace(status, partitions=times, held_back_by=self._watermarks.slowest(name)) if times else status

    def _newest(self, name: str) -> int | None:
        times = [self._log.newest(name), *(part.last for part in self._inputs.in_place(name))]
        return max((time for time in times if time is not None), default=None)

    def _lag(self) -> timedelta | None:
        """The lag of the slowest running query behind the newest element of its streams."""
        newest = {name: self._newest(name) for name in (*self._streams, *self._catalogue.derived)}
        behind = [lag for group in self._catalogue.groups if (lag := _behind(group, newest)) is not None]
        return timedelta(microseconds=max(behind)) if behind else None


_Wait = tuple[timedelta, int | None]


def _behind(group: EvaluationGroup, newest: Mapping[str, int | None]) -> int | None:
    times = [time for name in group.inputs if (time := newest.get(name)) is not None]
    if not group.ready or not times or group.progress is None:
        return None
    return max(0, max(times) - group.progress)


def _waiting(group: EvaluationGroup, ends: Mapping[str, int | None], cache: dict[int, _Wait]) -> _Wait:
    """The time and the number of instants that are complete and not answered."""
    if group.number not in cache:
        cache[group.number] = _wait(group, [ends.get(name) for name in group.inputs])
    return cache[group.number]


def _wait(group: EvaluationGroup, ends: Sequence[int | None]) -> _Wait:
    through = minimum(ends)
    if group.progress is None or through is None or through <= group.progress:
        return timedelta(0), 0
    instants = schedule(stretched(group.query, group.reached.stretched)).count(group.progress, through)
    return timedelta(microseconds=through - group.progress), instants if is_periodic(group.query) else None


def _query(task: RegisteredQuery, wait: _Wait) -> QueryStatus:
    reached = task.group.reached
    answered = to_datetime(reached.progress)
    skipped = reached.skipped + task.entry.skipped
    error = task.error or task.sink_error
    return QueryStatus(task.name, task.state, error, answered, task.answers, *wait, reached.stretched, skipped)
