"""The status records of an engine, its streams and its queries."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from html import escape

from penstock.stream.runtime.status_table import status_text

__all__ = ["EngineStatus", "Progress", "QueryStatus", "StreamStatus"]


@dataclass(frozen=True, slots=True)
class StreamStatus:
    """A stream: how many elements are in the log, how many were late or malformed, its newest time and its watermark.

    `problem` is a sentence when its source has trouble. `ahead` counts elements that were further ahead of the clock
    than `max_ahead` allows. On a live engine `waiting` is the size in bytes of what was accepted and has not been
    evaluated, and `refused` the number of pushes that were refused for that. `partitions` has the newest time of each
    partition of its source, and `held_back_by` is the one whose silence holds back the watermark.
    """

    elements: int = 0
    late: int = 0
    malformed: int = 0
    newest: datetime | None = None
    watermark: datetime | None = None
    problem: str | None = None
    ahead: int = 0
    waiting: int = 0
    refused: int = 0
    partitions: Mapping[str, datetime | None] = field(default_factory=dict)
    held_back_by: str | None = None


@dataclass(frozen=True, slots=True)
class QueryStatus:
    """A query: `state` is running, delivering (its slow sink is at work), retrying, paused, failed, waiting for its
    sink, or dropped; `error` says why it failed, or why its sink is tried again.

    Every instant up to `answered` has been answered; `answers` counts the answers that this process has delivered.
    `behind` is the time to the watermark of its streams, and `due` the number of due instants (None: it is evaluated at
    every change of its windows). One of `stretched` instants is evaluated, and `skipped` counts the others so far: see
    `overload` of `Engine.register`.
    """

    name: str
    state: str
    error: str | None = None
    answered: datetime | None = None
    answers: int = 0
    behind: timedelta = timedelta(0)
    due: int | None = 0
    stretched: int = 1
    skipped: int = 0


@dataclass(frozen=True, slots=True)
class EngineStatus:
    """An engine: its streams and queries by name, and the lag of the slowest query behind its newest element.

    `problem` is a sentence when a live engine has stopped by itself. `str(status)` is a table.
    """

    live: bool = False
    streams: Mapping[str, StreamStatus] = field(default_factory=dict)
    queries: Mapping[str, QueryStatus] = field(default_factory=dict)
    lag: timedelta | None = None
    problem: str | None = None

    def __str__(self) -> str:
        return status_text(self)

    def _repr_html_(self) -> str:
        return f"<pre>{escape(str(self))}</pre>"


@dataclass(frozen=True, slots=True)
class Progress:
    """The progress of a run: passed to `on_progress` after every step."""

    elements: int
    late: int
    malformed: int
    newest: datetime | None
    answers: int
    lag: timedelta | None
    stretched: int = 1  # of so many instants one is evaluated, of the query for which this is most

    @classmethod
    def of(cls, streams: Collection[StreamStatus], answers: int, lag: timedelta | None, stretched: int = 1) -> Progress:
        newest = max((stream.newest for stream in streams if stream.newest is not None), default=None)
        counts = (sum(getattr(stream, name) for stream in streams) for name in ("elements", "late", "malformed"))
        elements, late, malformed = counts
        return cls(elements, late, malformed, newest, answers, lag, stretched)
