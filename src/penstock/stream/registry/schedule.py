"""Which instants are due, over which segments, and which segments nobody needs any more. Pure arithmetic."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from math import lcm
from typing import TYPE_CHECKING, Protocol

from penstock.algebra.ops import Query, Registration
from penstock.algebra.windows import CountWindow, TimeWindow
from penstock.model.span import Span
from penstock.model.stream_files import StreamFiles
from penstock.stream.evaluation.answer_batch import Frame
from penstock.stream.log.stream_log import Segment

if TYPE_CHECKING:
    from penstock.compile.operators.query_family import ParameterTable
    from penstock.spark.query.open_intervals import OpenIntervalFiles

__all__ = [
    "CompiledQuery",
    "chunks",
    "coarsen",
    "coarsened",
    "has_lattice",
    "has_news",
    "instants",
    "needed_segments",
    "next_instant",
    "retention_bound",
    "span",
    "visible_segments",
]  # fmt: skip

_INSTANTS = 100_000  # in one job at most, unless elements are rarer than instants
_ELEMENTS = 1_000  # fewer than this in a job is not worth one
_MANY = 4  # instants that may wait without anything being wrong

Segments = Mapping[str, Sequence[Segment]]


class CompiledQuery(Protocol):
    """A compiled query: see `penstock.spark.query.continuous_query.ContinuousQuery`."""

    emit: str

    def evaluate(
        self,
        streams: Mapping[str, StreamFiles],
        span: Span,
        before: OpenIntervalFiles = None,
        final: bool = False,
        members: ParameterTable | None = None,
    ) -> Frame: ...
    def instants(self, after: int, through: int) -> bool: ...
    def last_instant(self, last: int) -> int: ...
    def horizon(self, progress: int, stream: str) -> int | None: ...
    def tail(self, stream: str) -> int: ...
    @property
    def carries(self) -> bool: ...


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


def has_news(query: Query, plan: CompiledQuery, due: Span, segments: Segments) -> bool:
    """Whether there may be an instant with something to see in one of its windows. No means that there is none."""
    if not plan.instants(due.after, due.through):
        return False
    counting = [isinstance(window.window, CountWindow) for window in query.streams]
    if all(counting) and (query.registration is None or query.registration.every is None):
        return any(part.last > due.after for parts in segments.values() for part in parts)
    return any(needed_segments(plan, name, parts, due) for name, parts in segments.items())


def needed_segments(plan: CompiledQuery, stream: str, segments: Sequence[Segment], due: Span) -> list[Segment]:
    """The segments that hold something which those instants can see."""
    horizon = plan.horizon(due.after, stream)
    if horizon is None:
        return list(segments)
    return [part for part in segments if part.last > horizon and part.first <= due.through]


def visible_segments(
    plan: CompiledQuery, due: Span, segments: Segments, dropped: Callable[[str], int]
) -> dict[str, StreamFiles]:
    """The streams as the compiler reads them for those instants."""
    return {name: _stream(needed_segments(plan, name, parts, due), dropped(name)) for name, parts in segments.items()}


def _stream(parts: Sequence[Segment], dropped: int) -> StreamFiles:
    known = all(part.predicates for part in parts)
    predicates = frozenset(predicate for part in parts for predicate in part.predicates) if known else None
    paths = tuple(path for part in parts for path in part.paths)
    return StreamFiles(paths, predicates, dropped, sum(part.rows for part in parts), tuple(parts))


def chunks(query: Query, due: Span, elements: int) -> Iterator[Span]:
    """The span in pieces whose answers fit into memory; one piece, unless there are very many instants in it."""
    step = min(_steps(query), default=None)
    inside = 0 if step is None else (due.through - due.after) // step
    count = max(1, min(-(-inside // _INSTANTS), elements // _ELEMENTS))
    width = -(-(due.through - due.after) // count)
    for start in range(due.after, due.through, width):
        yield Span(start, min(start + width, due.through))


def next_instant(plan: CompiledQuery, after: int) -> int:
    """The first instant after that time: found by asking whether there is one in spans that grow, then shrink."""
    width = 1
    while not plan.instants(after, after + width):
        width *= 2
    low, high = after + width // 2, after + width
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if plan.instants(after, middle) else (middle, high)
    return high


def _steps(query: Query) -> tuple[int, ...]:
    """Of whose multiples instants are; none where elements make them, as windows that count do."""
    if query.registration is not None and query.registration.every is not None:
        return (query.registration.every,)
    return tuple(dict.fromkeys(w.window.step for w in query.streams if isinstance(w.window, TimeWindow)))


# Falling behind


def has_lattice(query: Query) -> bool:
    """Whether all its instants are multiples of something, so that there may be fewer of them."""
    if query.emit == "events" or not query.streams:
        return False
    fixed = query.registration is not None and query.registration.every is not None
    return fixed or all(isinstance(w.window, TimeWindow) for w in query.streams)


def coarsened(query: Query, factor: int) -> Query:
    """The query with one instant in the place of so many: at these the answers are what they were."""
    if factor == 1:
        return query
    every = min(_steps(query)) * factor
    return replace(query, registration=replace(query.registration or Registration(None), every=every))


def instants(query: Query, due: Span) -> int:
    """How many multiples of its steps there are in the span."""
    steps = _steps(query)
    several = (some for size in range(1, len(steps) + 1) for some in combinations(steps, size))
    return sum(_multiples(lcm(*some), due) * (1 if len(some) % 2 else -1) for some in several)


def _multiples(step: int, due: Span) -> int:
    return due.through // step - due.after // step


def coarsen(factor: int, waiting: int) -> int:
    """The factor for this round, when so many instants wait that are left by the one before.

    Where many wait, evaluation does not keep up, and half of them will do; where one does, it keeps up.
    """
    if waiting > _MANY:
        return factor * 2
    return max(1, factor // 2) if waiting == 1 else factor


def retention_bound(
    readers: Iterable[tuple[CompiledQuery, int | None]], stream: str, complete: int | None
) -> tuple[int, int] | None:
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
