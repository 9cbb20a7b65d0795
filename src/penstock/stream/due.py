"""Which instants are due, over which segments, and which segments nobody needs any more. Pure arithmetic."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Protocol

from penstock.algebra.ops import Query
from penstock.algebra.windows import CountWindow, TimeWindow
from penstock.spark.contents import Stream
from penstock.spark.timeline import Span
from penstock.stream.evaluate import Frame
from penstock.stream.log import Segment

__all__ = ["Plan", "chunks", "has_news", "keep", "needed", "next_instant", "span", "view"]

_INSTANTS = 100_000  # in one job at most, unless elements are rarer than instants
_ELEMENTS = 1_000  # fewer than this in a job is not worth one

Segments = Mapping[str, Sequence[Segment]]


class Plan(Protocol):
    """A compiled query: see `penstock.spark.continuous.ContinuousQuery`."""

    emit: str

    def evaluate(
        self, streams: Mapping[str, Stream], span: Span, before: str | None = None, final: bool = False
    ) -> Frame: ...
    def instants(self, after: int, through: int) -> bool: ...
    def last_instant(self, last: int) -> int: ...
    def horizon(self, progress: int, stream: str) -> int | None: ...
    def tail(self, stream: str) -> int: ...


def span(progress: int | None, through: int | None, segments: Segments) -> Span | None:
    """The time that can be answered now: after what has been, as far as the streams are complete.

    A query that has not been answered yet begins with the first element that there is: before it, nothing is visible.
    Also without one its time goes on, since others may wait for what it derives.
    """
    if through is None:
        return None
    firsts = [segment.first for parts in segments.values() for segment in parts]
    after = progress if progress is not None else min([*firsts, through]) - 1
    return Span(after, through) if after < through else None


def has_news(query: Query, plan: Plan, due: Span, segments: Segments) -> bool:
    """Whether there may be an instant with something to see in one of its windows. No means that there is none."""
    if not plan.instants(due.after, due.through):
        return False
    counting = [isinstance(window.window, CountWindow) for window in query.streams]
    if all(counting) and (query.registration is None or query.registration.every is None):
        return any(part.last > due.after for parts in segments.values() for part in parts)
    return any(needed(plan, name, parts, due) for name, parts in segments.items())


def needed(plan: Plan, stream: str, segments: Sequence[Segment], due: Span) -> list[Segment]:
    """The segments that hold something which those instants can see."""
    horizon = plan.horizon(due.after, stream)
    if horizon is None:
        return list(segments)
    return [part for part in segments if part.last > horizon and part.first <= due.through]


def view(plan: Plan, due: Span, segments: Segments, dropped: Callable[[str], int]) -> dict[str, Stream]:
    """The streams as the compiler reads them for those instants."""
    return {name: _stream(needed(plan, name, parts, due), dropped(name)) for name, parts in segments.items()}


def _stream(parts: Sequence[Segment], dropped: int) -> Stream:
    known = all(part.predicates for part in parts)
    predicates = frozenset(predicate for part in parts for predicate in part.predicates) if known else None
    paths = tuple(path for part in parts for path in part.paths)
    return Stream(paths, predicates, dropped, sum(part.rows for part in parts))


def chunks(query: Query, due: Span, elements: int) -> Iterator[Span]:
    """The span in pieces whose answers fit into memory; one piece, unless there are very many instants in it."""
    step = _step(query)
    instants = 0 if step is None else (due.through - due.after) // step
    count = max(1, min(-(-instants // _INSTANTS), elements // _ELEMENTS))
    width = -(-(due.through - due.after) // count)
    for start in range(due.after, due.through, width):
        yield Span(start, min(start + width, due.through))


def next_instant(plan: Plan, after: int) -> int:
    """The first instant after that time: found by asking whether there is one in spans that grow, then shrink."""
    width = 1
    while not plan.instants(after, after + width):
        width *= 2
    low, high = after + width // 2, after + width
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if plan.instants(after, middle) else (middle, high)
    return high


def _step(query: Query) -> int | None:
    """The time between two instants; None where elements make them, as windows that count do."""
    if query.registration is not None and query.registration.every is not None:
        return query.registration.every
    return min((w.window.step for w in query.streams if isinstance(w.window, TimeWindow)), default=None)


def keep(readers: Iterable[tuple[Plan, int | None]], stream: str, complete: int | None) -> tuple[int, int] | None:
    """Up to which time elements may go, and how many of the newest among those must stay; None: none may go.

    Each reader has a plan and the instant up to which it is answered. Without a reader, what is complete may go.
    """
    horizon, tail = complete, 0
    for plan, progress in readers:
        if progress is None or horizon is None:
            return None
        own = plan.horizon(progress, stream)
        horizon = min(horizon, progress if own is None else own)
        tail = max(tail, plan.tail(stream))
    return None if horizon is None else (horizon, tail)
