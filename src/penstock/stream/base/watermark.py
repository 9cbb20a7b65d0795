"""Watermarks: the event time up to which streams are complete.

The watermark of a stream is X when every element with ts ≤ X that will ever count is in the log: one that comes later
is late. An element may be older than the newest one by the allowed lateness, so the watermark is
`newest − lateness − 1`. Three things move it further: `advance`, the clock (for a stream declared so), and silence,
which makes a stream *idle*, so that it does not hold back other streams of the same query.

A source with partitions brings each in its own order. Each then has a position as if it were a stream: the watermark of
the stream is the minimum of its partitions, and an idle partition holds back none.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from itertools import chain
from threading import RLock
from typing import Protocol

from penstock.stream.base.clock import Clock, elapsed

__all__ = [
    "Position", "Watermarks", "combined", "late_before", "minimum", "next_change", "slowest",
    "watermark",
]  # fmt: skip


@dataclass(frozen=True, slots=True)
class Position:
    """The event time of a stream. All times are microseconds.

    `newest` is the greatest time of an element, `advanced_to` the time through which `advance` has called the stream
    complete, `lateness` the allowed lateness. `last_arrival` is the clock's time of the last arrival, or of the start.
    `idle` is the silence after which the stream is idle (None: never); with `advance` the clock's time is the stream's.
    `max_ahead` is how far an element may be ahead of the clock, which is at `now` (None: as far as it likes).
    """

    newest: int | None = None
    advanced_to: int | None = None
    lateness: int = 0
    last_arrival: int = 0
    idle: int | None = None
    advance: bool = False
    max_ahead: int | None = None
    now: int = 0

    def is_idle(self, now: int) -> bool:
        return self.idle is not None and now - self.last_arrival >= self.idle


def watermark(position: Position, now: int) -> int | None:
    """The watermark of one stream; None: there is none yet."""
    ends = [position.advanced_to]
    if position.newest is not None:
        ends.append(position.newest - position.lateness - 1)
    if position.advance:
        ends.append(now - position.lateness - 1)
    return max((end for end in ends if end is not None), default=None)


def combined(positions: Iterable[Position], now: int, others: Iterable[int | None] = ()) -> int | None:
    """The minimum watermark of the streams, where idle ones do not count.

    `others` are the watermarks of derived streams. Where all streams are idle, the maximum counts: none of them holds
    back the one that has come furthest.
    """
    streams = list(positions)
    awake = [watermark(position, now) for position in streams if not position.is_idle(now)] + list(others)
    if awake:
        return minimum(awake)
    return max((end for position in streams if (end := watermark(position, now)) is not None), default=None)


def minimum(watermarks: Collection[int | None]) -> int | None:
    """The minimum of the watermarks; None if a stream has none yet, or there is no stream."""
    times = [time for time in watermarks if time is not None]
    return min(times, default=None) if len(times) == len(watermarks) else None


def late_before(position: Position) -> int | None:
    """The time before which the next element is late: advanced beyond it, or too far behind the newest."""
    advanced = None if position.advanced_to is None else position.advanced_to + 1
    behind = None if position.newest is None else position.newest - position.lateness
    return max((time for time in (advanced, behind) if time is not None), default=None)


def slowest(partitions: Mapping[str, Position], now: int) -> str | None:
    """The partition that holds back the others: it is awake, and not as far as they are. None if there is none."""
    ends = {name: watermark(position, now) for name, position in partitions.items() if not position.is_idle(now)}
    behind = min(ends, key=lambda name: (ends[name] is not None, ends[name] or 0), default=None)
    everyone = [watermark(position, now) for position in partitions.values()]
    return behind if behind is not None and any(_is_before(ends[behind], end) for end in everyone) else None


def _is_before(end: int | None, other: int | None) -> bool:
    return other is not None and (end is None or end < other)


def next_change(positions: Iterable[Position], now: int) -> int | None:
    """The time at which the clock alone makes the next stream idle; None: it makes none idle."""
    moments = (position.last_arrival + position.idle for position in positions if position.idle is not None)
    return min((moment for moment in moments if moment > now), default=None)


class ReachedTime(Protocol):
    """The newest event time of a partition: see `penstock.stream.log.source_positions.Reached`."""

    @property
    def newest(self) -> int | None: ...


class EventTimes(Protocol):
    """The part of the log that watermarks are made of: see `penstock.stream.log.stream_log.StreamLog`."""

    def newest(self, stream: str) -> int | None: ...
    def reached(self, stream: str, source: str) -> Mapping[str, ReachedTime]: ...
    def advanced_to(self, stream: str) -> int | None: ...
    def advance(self, stream: str, through: int) -> None: ...


class Timing(Protocol):
    """The options of a stream's event time: see `penstock.stream.ingest.stream_declaration.Declared`."""

    @property
    def allowed_lateness(self) -> int: ...
    @property
    def idle(self) -> int | None: ...
    @property
    def advance(self) -> bool: ...
    @property
    def max_ahead(self) -> int | None: ...
    @property
    def origin(self) -> str | None:
        """The name of the stream's source, if it has partitions or positions."""


class Watermarks:
    """The watermarks of the streams of one log, for any thread.

    `lock` is held while a watermark is decided, and has to be held while arrivals are judged by one.
    """

    def __init__(self, log: EventTimes, clock: Clock, streams: Mapping[str, Timing]) -> None:
        self._log, self._clock, self._streams = log, clock, streams
        self.lock = RLock()
        self.begin(clock.now)

    def begin(self, accepted: Callable[[], int]) -> None:
        """Count silence from now on. `accepted` is the clock's time up to which all that was accepted is in the log:
        the clock must not overtake elements that came before."""
        self._arrivals: dict[tuple[str, str | None], int] = {}  # of a stream, and of its partitions
        self._began, self._accepted = elapsed(self._clock), accepted

    def note_arrival(self, stream: str, partitions: Iterable[str | None] = ()) -> None:
        """Note an arrival on the stream, and on some partitions; its elements may not be in the log yet."""
        now = elapsed(self._clock)
        for partition in (None, *partitions):
            self._arrivals[stream, partition] = now

    def position(self, stream: str) -> Position:
        """The event time of a stream now. An undeclared stream has no allowed lateness and is never idle."""
        position = Position(self._log.newest(stream), self._log.advanced_to(stream))
        position = replace(position, last_arrival=self._last_arrival(stream, None))
        if (timing := self._streams.get(stream)) is None:
            return position
        position = replace(position, max_ahead=timing.max_ahead, now=self._clock.now())
        return replace(position, lateness=timing.allowed_lateness, idle=timing.idle, advance=timing.advance)

    def partitions(self, stream: str) -> dict[str, Position]:
        """The event time of each partition of the stream's source; empty: the stream has none."""
        timing = self._streams.get(stream)
        if timing is None or timing.origin is None or not (reached := self._log.reached(stream, timing.origin)):
            return {}
        position = self.position(stream)
        return {
            name: replace(position, newest=one.newest, last_arrival=self._last_arrival(stream, name))
            for name, one in reached.items()
        }

    def positions(self, stream: str) -> list[Position]:
        """The event times whose minimum is the stream's: those of its partitions, or its own."""
        return list(self.partitions(stream).values()) or [self.position(stream)]

    def slowest(self, stream: str) -> str | None:
        """The partition of the stream that holds back the others now; None: there is none."""
        return slowest(self.partitions(stream), self._clock.now())

    def arrival_time(self, stream: str) -> int:
        """The time of an element that has none of its own: now, but not so early that it is late."""
        return max(self._clock.now(), *(late_before(position) or 0 for position in self.positions(stream)))

    def of(self, stream: str) -> int | None:
        """The watermark of one stream by its elements and `advance`, without the clock. Asking changes nothing: a
        stream that no query reads need not follow the clock."""
        still = (replace(position, advance=False) for position in self.positions(stream))
        return combined(still, self._clock.now())

    def _last_arrival(self, stream: str, partition: str | None) -> int:
        """When something came last, by the clock as it is now: also if it has jumped since."""
        return self._clock.now() - (elapsed(self._clock) - self._arrivals.get((stream, partition), self._began))

    def combined(self, streams: Iterable[str], others: Iterable[int | None] = ()) -> int | None:
        """The watermark of a query that reads these streams, decided for good: later arrivals for that time are late.

        `others` are the watermarks of the derived streams that it reads. None: there is none yet.
        """
        with self.lock:
            positions = {stream: self.positions(stream) for stream in streams}
            through = combined(chain.from_iterable(positions.values()), self._accepted(), others)
            for stream, several in positions.items():
                limit = minimum([late_before(position) for position in several])
                if through is not None and (limit is None or limit <= through):
                    self._log.advance(stream, through)
            return through

    def next_change(self) -> int | None:
        """The clock's time at which silence alone may move a watermark; None: it moves none."""
        return next_change(chain.from_iterable(map(self.positions, list(self._streams))), self._clock.now())
