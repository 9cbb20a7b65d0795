"""How an engine is doing, put together from what its parts know."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import timedelta
from typing import TYPE_CHECKING

from penstock.stream.declared import Declared
from penstock.stream.inputs import LogInputs
from penstock.stream.log import StreamLog
from penstock.stream.moments import to_datetime
from penstock.stream.progress import EngineStatus, QueryStatus, StreamStatus
from penstock.stream.task import Task

if TYPE_CHECKING:
    from penstock.stream.live import Live

__all__ = ["engine_status", "query_status"]


def engine_status(
    live: Live | None, log: StreamLog, inputs: LogInputs, streams: Mapping[str, Declared], tasks: Iterable[Task]
) -> EngineStatus:
    """The whole of it."""
    known = list(tasks)
    outputs = [task.output for task in known if task.output is not None]
    newest = {name: _newest(name, log, inputs) for name in (*streams, *outputs)}
    problems = _problems(live)
    seen = {
        name: _stream(name, log, inputs, newest[name], _complete(name, inputs, known), problems.get(name))
        for name in (*streams, *outputs)
    }
    queries = {task.name: query_status(task) for task in known}
    return EngineStatus(live is not None, seen, queries, _lag(known, newest))


def query_status(task: Task) -> QueryStatus:
    """One query."""
    return QueryStatus(task.name, task.state, task.error, to_datetime(task.progress), task.answers)


def _stream(
    name: str, log: StreamLog, inputs: LogInputs, newest: int | None, complete: int | None, problem: str | None
) -> StreamStatus:
    counts = log.counts(name)
    elements = counts.elements + sum(part.rows for part in inputs.in_place.get(name, ()))
    return StreamStatus(elements, counts.late, counts.malformed, to_datetime(newest), to_datetime(complete), problem)


def _newest(name: str, log: StreamLog, inputs: LogInputs) -> int | None:
    times = [log.newest(name), *(part.last for part in inputs.in_place.get(name, ()))]
    return max((time for time in times if time is not None), default=None)


def _complete(name: str, inputs: LogInputs, tasks: Iterable[Task]) -> int | None:
    producer = next((task for task in tasks if task.output == name), None)
    return inputs.ripe(name) if producer is None else producer.progress


def _problems(live: Live | None) -> dict[str, str]:
    if live is None:
        return {}
    return {name: status.message for name, status in live.ingest.status().items() if status.message is not None}


def _lag(tasks: Iterable[Task], newest: Mapping[str, int | None]) -> timedelta | None:
    """How far the slowest running query is behind the newest element of its streams."""
    behind = []
    for task in tasks:
        times = [time for name in task.inputs if (time := newest.get(name)) is not None]
        if task.ready and times and task.progress is not None:
            behind.append(max(0, max(times) - task.progress))
    return timedelta(microseconds=max(behind)) if behind else None
