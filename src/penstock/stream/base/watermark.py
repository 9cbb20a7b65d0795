"""Up to when streams are complete: pure arithmetic on what is known of them and the time.

A stream is *complete through* X when every element with ts ≤ X that will ever count is in the log: one that comes
later is late. An element may be older than the newest one by the stream's lateness, so a stream is complete through
`newest − lateness − 1`. Three things move it further: somebody says so, the clock (where the user asks for it), and
silence, which makes a stream *idle*, so that it does not hold back others in the same query.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

__all__ = ["Position", "combined", "late_before", "next_change", "watermark"]


@dataclass(frozen=True, slots=True)
class Position:
    """What is known of a stream. All times are microseconds; `heard` and `idle` are by the clock, the others by data.

    `said` is through when somebody has said that the stream is complete, `heard` when something came last (or when
    listening began). `idle` is the silence after which it is idle (None: never); with `advance` the clock's time is the
    stream's.
    """

    newest: int | None = None
    said: int | None = None
    lateness: int = 0
    heard: int = 0
    idle: int | None = None
    advance: bool = False

    def is_idle(self, now: int) -> bool:
        return self.idle is not None and now - self.heard >= self.idle


def watermark(position: Position, now: int) -> int | None:
    """Through when the stream is complete by itself; None: nothing can be said yet."""
    ends = [position.said]
    if position.newest is not None:
        ends.append(position.newest - position.lateness - 1)
    if position.advance:
        ends.append(now - position.lateness - 1)
    return max((end for end in ends if end is not None), default=None)


def combined(positions: Iterable[Position], now: int, others: Iterable[int | None] = ()) -> int | None:
    """Through when all these streams are complete, where idle ones hold nobody back.

    `others` are the ends of streams that know theirs, as derived ones do. Where all are idle, the one that has come
    furthest counts: none of them holds that one back.
    """
    streams = list(positions)
    awake = [watermark(position, now) for position in streams if not position.is_idle(now)] + list(others)
    if awake:
        known = [end for end in awake if end is not None]
        return min(known) if len(known) == len(awake) else None
    return max((end for position in streams if (end := watermark(position, now)) is not None), default=None)


def late_before(position: Position) -> int | None:
    """The time before which the next element is late: said to be over, or too far behind the newest."""
    said = None if position.said is None else position.said + 1
    behind = None if position.newest is None else position.newest - position.lateness
    return max((time for time in (said, behind) if time is not None), default=None)


def next_change(positions: Iterable[Position], now: int) -> int | None:
    """When, without any element, the clock alone will next make a stream idle; None: not by itself."""
    moments = (position.heard + position.idle for position in positions if position.idle is not None)
    return min((moment for moment in moments if moment > now), default=None)
