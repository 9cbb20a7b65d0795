"""How an engine is doing, put together from what its parts know. Streams are looked at once, and so are units."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import TYPE_CHECKING

from penstock.algebra.schedule import is_periodic, schedule, stretched
from penstock.stream.base.time_values import to_datetime
from penstock.stream.base.watermark import Watermarks
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
    """Looks at the parts."""

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
        """The whole of it."""
        ends, waits = self._ends(), dict[int, _Wait]()
        queries = {task.name: _query(task, _waiting(task.unit, ends, waits)) for task in self._catalogue}
        return EngineStatus(live is not None, self._seen(live, ends), queries, self._lag())

    def query(self, task: RegisteredQuery) -> QueryStatus:
        """One query."""
        return _query(task, _waiting(task.unit, self._ends(), {}))

    def progress(self) -> Progress:
        """Of a run, without a look at each query."""
        answers = sum(task.answers for task in self._catalogue)
        stretched = max((unit.reached.stretched for unit in self._catalogue.units), default=1)
        return Progress.of(self._seen(None, self._ends()).values(), answers, self._lag(), stretched)

    def _ends(self) -> dict[str, int | None]:
        """The watermarks of all streams; that of a derived one is the progress of its query."""
        derived = {name: task.progress for name, task in self._catalogue.derived.items()}
        return {name: self._watermarks.of(name) for name in self._streams} | derived

    def _seen(self, live: LiveEngine | None, ends: Mapping[str, int | None]) -> dict[str, StreamStatus]:
        problems = {} if live is None else live.ingest.problems
        return {name: self._stream(name, end, problems.get(name)) for name, end in ends.items()}

    def _stream(self, name: str, watermark: int | None, problem: str | None) -> StreamStatus:
        counts = self._log.counts(name)
        elements = counts.elements + sum(part.rows for part in self._inputs.in_place(name))
        newest, end = to_datetime(self._newest(name)), to_datetime(watermark)
        return StreamStatus(elements, counts.late, counts.malformed, newest, end, problem)

    def _newest(self, name: str) -> int | None:
        times = [self._log.newest(name), *(part.last for part in self._inputs.in_place(name))]
        return max((time for time in times if time is not None), default=None)

    def _lag(self) -> timedelta | None:
        """How far the slowest running query is behind the newest element of its streams."""
        newest = {name: self._newest(name) for name in (*self._streams, *self._catalogue.derived)}
        behind = [lag for unit in self._catalogue.units if (lag := _behind(unit, newest)) is not None]
        return timedelta(microseconds=max(behind)) if behind else None


_Wait = tuple[timedelta, int | None]


def _behind(unit: EvaluationGroup, newest: Mapping[str, int | None]) -> int | None:
    times = [time for name in unit.inputs if (time := newest.get(name)) is not None]
    if not unit.ready or not times or unit.progress is None:
        return None
    return max(0, max(times) - unit.progress)


def _waiting(unit: EvaluationGroup, ends: Mapping[str, int | None], known: dict[int, _Wait]) -> _Wait:
    """How much time, and how many instants, are complete and not answered."""
    if unit.number not in known:
        known[unit.number] = _wait(unit, [ends.get(name) for name in unit.inputs])
    return known[unit.number]


def _wait(unit: EvaluationGroup, ends: Sequence[int | None]) -> _Wait:
    complete = [end for end in ends if end is not None]
    through = min(complete) if complete and len(complete) == len(ends) else None
    if unit.progress is None or through is None or through <= unit.progress:
        return timedelta(0), 0
    instants = schedule(stretched(unit.query, unit.reached.stretched)).count(unit.progress, through)
    return timedelta(microseconds=through - unit.progress), instants if is_periodic(unit.query) else None


def _query(task: RegisteredQuery, wait: _Wait) -> QueryStatus:
    reached = task.unit.reached
    answered = to_datetime(reached.progress)
    skipped = reached.skipped + task.entry.skipped
    return QueryStatus(task.name, task.state, task.error, answered, task.answers, *wait, reached.stretched, skipped)
