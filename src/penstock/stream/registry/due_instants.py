"""Due instants: the span to evaluate, the segments that it needs, and the retention bound. Pure arithmetic."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Protocol

from penstock.algebra.ops import Query
from penstock.algebra.schedule import Schedule
from penstock.algebra.windows import CountWindow
from penstock.model.span import Span
from penstock.model.stream_files import StreamFiles
from penstock.model.stretches import known_stretches
from penstock.spark.query.evaluation import Evaluation
from penstock.stream.answers.answer_batch import Frame
from penstock.stream.log.stream_log import Segment
from penstock.stream.registry.busy_spans import Segments
from penstock.tuning import DEFAULT, Tuning

__all__ = [
    "CompiledQuery",
    "coarsen",
    "has_news",
    "needed_segments",
    "retention_bound",
    "span",
    "visible_segments",
]  # fmt: skip


class CompiledQuery(Protocol):
    """A compiled query: see `penstock.spark.query.continuous_query.ContinuousQuery`."""

    @property
    def emit(self) -> str:
        """The report."""

    def evaluate(self, evaluation: Evaluation) -> Frame: ...
    @property
    def schedule(self) -> Schedule: ...
    @property
    def carries(self) -> bool: ...


def span(progress: int | None, through: int | None, segments: Segments) -> Span | None:
    """The span of due instants: from the progress to the watermark; None if it is empty.

    A query that has not been answered yet begins with the first element that there is: before it, nothing is visible.
    The progress of a query moves without elements, too, since other queries may wait for its derived stream.
    """
    if through is None:
        return None
    firsts = [segment.first for parts in segments.values() for segment in parts]
    after = progress if progress is not None else min([*firsts, through]) - 1
    return Span(after, through) if after < through else None


def has_news(query: Query, plan: CompiledQuery, due: Span, segments: Segments) -> bool:
    """Whether there may be an instant at which a window holds an element. False means that there is none."""
    if not plan.schedule.has_instant(due.after, due.through):
        return False
    counting = [isinstance(window.window, CountWindow) for window in query.streams]
    if all(counting) and (query.registration is None or query.registration.every is None):
        return any(_has_within(segment, due.after, due.through) for own in segments.values() for segment in own)
    return any(needed_segments(plan, name, own, due) for name, own in segments.items())


def needed_segments(plan: CompiledQuery, stream: str, segments: Sequence[Segment], due: Span) -> list[Segment]:
    """The segments with elements that are visible at those instants."""
    horizon = plan.schedule.horizon(due.after, stream)
    if horizon is None:
        return list(segments)
    return [segment for segment in segments if _has_within(segment, horizon, due.through)]


def _has_within(segment: Segment, after: int, through: int) -> bool:
    """Whether a stretch of the segment touches after < ts <= through."""
    return any(stretch.last > after and stretch.first <= through for stretch in known_stretches(segment))


def visible_segments(
    plan: CompiledQuery, due: Span, segments: Segments, dropped: Callable[[str], int]
) -> dict[str, StreamFiles]:
    """The streams as the compiler reads them for those instants."""
    return {name: _stream(needed_segments(plan, name, parts, due), dropped(name)) for name, parts in segments.items()}


def _stream(segments: Sequence[Segment], dropped: int) -> StreamFiles:
    counted = [segment.predicates for segment in segments if segment.predicates is not None]
    predicates = frozenset().union(*counted) if len(counted) == len(segments) else None
    paths = tuple(path for segment in segments for path in segment.paths)
    return StreamFiles(paths, predicates, dropped, sum(segment.rows for segment in segments), tuple(segments))


# Falling behind


def coarsen(factor: int, waiting: int, tuning: Tuning = DEFAULT) -> int:
    """The load shedding factor for this round, when so many instants wait under the last factor.

    The factor doubles while many instants wait, and halves when a single one does.
    """
    if waiting > tuning.waiting_instants:
        return factor * 2
    return max(1, factor // 2) if waiting == 1 else factor


def retention_bound(
    readers: Iterable[tuple[CompiledQuery, int | None]], stream: str, complete: int | None
) -> tuple[int, int] | None:
    """The time up to which elements may be dropped, and how many of the newest of these must stay; None: none.

    Each reader has a plan and a progress. Without a reader, all elements up to the watermark may be dropped.
    """
    horizon, tail = complete, 0
    for plan, progress in readers:
        if progress is None or horizon is None:
            return None
        own = plan.schedule.horizon(progress, stream)
        horizon = min(horizon, progress if own is None else own)
        tail = max(tail, plan.schedule.tail(stream))
    return None if horizon is None else (horizon, tail)
