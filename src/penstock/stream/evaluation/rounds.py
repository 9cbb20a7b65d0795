"""Rounds: each evaluates the groups that have due instants, in dependency order, over one snapshot of the log."""

from __future__ import annotations

from collections import Counter, defaultdict, deque
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, partial
from typing import TYPE_CHECKING, Protocol, TypeAlias

from penstock import log
from penstock.algebra.schedule import Schedule
from penstock.errors import PenstockError, StoreError
from penstock.model.span import Span
from penstock.model.stream_files import StreamFiles
from penstock.spark.session.cancellation import ResultTooLarge
from penstock.stream.base.clock import Clock, SystemClock
from penstock.stream.evaluation.deliveries import Deliveries
from penstock.stream.evaluation.evaluator import Deriving, Evaluator
from penstock.stream.evaluation.report_state import ReportState
from penstock.stream.evaluation.round_watch import PLANNING, RoundWatch
from penstock.stream.log.stream_log import Segment
from penstock.stream.registry import due_instants
from penstock.stream.registry.busy_spans import BusySpan, Segments, busy_spans, pieces, smaller_pieces
from penstock.stream.registry.dependency_order import in_order
from penstock.stream.registry.evaluation_group import EvaluationGroup
from penstock.stream.registry.evaluation_groups import EvaluationGroups
from penstock.stream.registry.load_shedding import pace
from penstock.tuning import DEFAULT, Tuning

if TYPE_CHECKING:
    from penstock.spark.query.sliced_rows import SliceJob

__all__ = ["Inputs", "RoundSnapshot", "Rounds"]


class Inputs(Deriving, Protocol):
    """The streams as a round reads and derives them."""

    @property
    def streams(self) -> Iterable[str]:
        """The declared ones."""

    def segments(self, stream: str) -> Sequence[Segment]: ...
    def dropped(self, stream: str) -> int: ...
    def verify(self, stream: str, segments: Iterable[Segment]) -> None:
        """Raise a StoreError if one of these segments is damaged; each is looked at once."""

    def tidy(self, stream: str, horizon: int, keep_last: int) -> None:
        """Drop elements with ts <= horizon, except the newest `keep_last`. No evaluation reads segments meanwhile."""


class StreamTime(Protocol):
    """The watermarks of declared streams: see `penstock.stream.base.watermark.Watermarks`."""

    def combined(self, streams: Iterable[str], others: Iterable[int | None] = ()) -> int | None: ...
    def of(self, stream: str) -> int | None: ...


class RoundSnapshot:
    """The segments of streams in one round. Groups that are due together read the same ones, and can share them.

    Segments are read once the watermark is known, and belong to that time. They are read only where an instant is due:
    that stages the pushes of the journal in a file, which is not worth it for each push.
    """

    def __init__(self, inputs: Inputs) -> None:
        self._inputs = inputs
        self._segments: dict[tuple[str, int | None], Sequence[Segment]] = {}
        self._streams: dict[tuple[str, tuple[str, ...]], StreamFiles] = {}

    def segments(self, streams: Iterable[str], through: int | None) -> dict[str, Sequence[Segment]]:
        """The segments of streams, at least through that time."""
        return {name: self._of(name, through) for name in streams}

    def _of(self, stream: str, through: int | None) -> Sequence[Segment]:
        key = stream, through
        if key not in self._segments:
            self._segments[key] = self._inputs.segments(stream)
        return self._segments[key]

    def streams(self, files: Mapping[str, StreamFiles]) -> dict[str, StreamFiles]:
        """The streams, each replaced by an equal one that another group has read in this round."""
        return {name: self._streams.setdefault((name, stream.paths), stream) for name, stream in files.items()}


Steps: TypeAlias = Generator[bool, None, bool]
"""The evaluation of a group, which waits where others may be planned. Its values say whether it had something to do."""


@dataclass(slots=True)
class _Attempt:
    """The evaluation of a group in this round, with the microseconds that its parts have taken."""

    group: EvaluationGroup
    steps: Steps
    parts: Counter[str] = field(default_factory=Counter)
    busy: bool = False


class Rounds:
    """Evaluates due instants. `answered` is called when deliveries have been saved."""

    def __init__(
        self,
        inputs: Inputs,
        watermarks: StreamTime,
        groups: EvaluationGroups,
        answered: Callable[[], None] = lambda: None,
        report_state: ReportState | None = None,
        tuning: Tuning = DEFAULT,
        clock: Clock | None = None,
        wake: Callable[[], object] | None = None,
    ) -> None:
        self._inputs, self._watermarks, self._tuning = inputs, watermarks, tuning
        self._groups, self._clock = groups, clock or SystemClock()
        self._watch = RoundWatch(self._clock.now, tuning)
        self._evaluator = Evaluator(inputs, groups, answered, report_state, tuning, self._clock, self._watch, wake)

    @property
    def deliveries(self) -> Deliveries:
        """The threads of sinks."""
        return self._evaluator.deliveries

    def end_deliveries(self) -> None:
        """Save the progress of queries whose slow sinks have ended since the last round."""
        self._evaluator.end_deliveries()

    def live(self) -> bool:
        """Evaluate all instants that are due now; whether any were. A watermark is computed once for the round."""
        ordered, snapshot = self._ordered(live=True), RoundSnapshot(self._inputs)
        derived, combined = {group.output: group for group in ordered if group.output}, cache(self._watermarks.combined)
        due = partial(_due_span, derived=derived, combined=combined, snapshot=snapshot)
        with self._watch.round():
            busy = [self._together([(group, partial(due, group)) for group in run], snapshot) for run in _runs(ordered)]
        self._retain()
        return any(busy)

    def bounded(self) -> None:
        """Evaluate every instant up to that of the last element, also of streams that are derived on the way."""
        ordered, snapshot = self._ordered(live=False), RoundSnapshot(self._inputs)
        deriving = [group for group in ordered if group.output is not None]
        with self._watch.round():
            for run in _runs(ordered):
                due = []
                for group in run:
                    unread = (other for other in deriving if other.output in group.inputs and not other.ready)
                    if (cause := next(unread, None)) is None:
                        due.append((group, partial(_full_span, group, snapshot)))
                    elif group.ready and cause.first.error is not None:
                        self._fail(group, PenstockError(f"the query {cause.name}, whose stream it reads, failed"))
                self._together(due, snapshot, final=True)

    def _ordered(self, live: bool) -> list[EvaluationGroup]:
        """The groups in dependency order, with the queries whose sinks are to be tried again by now, or have ended."""
        self._evaluator.is_live = live
        self._evaluator.end_deliveries()
        self._groups.release_postponed(self._clock.now())
        return in_order(self._groups.arranged())

    def _together(
        self,
        groups: Iterable[tuple[EvaluationGroup, Callable[[], Span | None]]],
        snapshot: RoundSnapshot,
        final: bool = False,
    ) -> bool:
        """Evaluate groups of which none reads a stream of another; whether one had something to do.

        All are planned before the first is answered: small ones share a job, which runs then. Their progress is saved
        together, when all are answered.
        """
        job = self._groups.planner.slice_job()
        attempts = [_Attempt(group, self._attempt(group, snapshot, due, final, job)) for group, due in groups]
        waiting = [attempt for attempt in attempts if self._advance(attempt)]
        for attempt in waiting:
            while self._advance(attempt):
                pass
        self._evaluator.save()
        return any(attempt.busy for attempt in attempts)

    def _advance(self, attempt: _Attempt) -> bool:
        """Go on with the evaluation of a group; whether it waits for its job. An error fails this group only."""
        self._watch.resume(attempt.parts)
        try:
            with log.about(attempt.group.name):
                attempt.busy |= next(attempt.steps)
            return True
        except StopIteration as end:
            attempt.busy |= bool(end.value)
        except Exception as error:
            self._fail(attempt.group, error)
            attempt.busy = True
        return False

    def _attempt(
        self,
        group: EvaluationGroup,
        snapshot: RoundSnapshot,
        span_of: Callable[[], Span | None],
        final: bool,
        job: SliceJob | None,
    ) -> Steps:
        """Evaluate a group; see `_answer`."""
        if not group.inputs or (group.plan is None and group.first.error is not None):
            return False
        self._planned(group)  # also for paused queries: the retention bound needs the plan
        span = span_of() if group.ready else None
        if span is None:
            return False
        pace(group, span, final, partial(_busy, group, span, snapshot), self._tuning)
        return (yield from self._answer(group, self._planned(group), span, snapshot, final, job))

    def _planned(self, group: EvaluationGroup) -> due_instants.CompiledQuery:
        with self._watch.part(PLANNING):
            return group.planned(self._groups.planner)

    def _fail(self, group: EvaluationGroup, error: Exception) -> None:
        self._evaluator.fail_all(list(group.tasks.values()), error)

    def _answer(
        self,
        group: EvaluationGroup,
        plan: due_instants.CompiledQuery,
        span: Span,
        snapshot: RoundSnapshot,
        final: bool,
        job: SliceJob | None,
    ) -> Steps:
        """Evaluate the span in pieces; whether an answer was delivered. A piece that was refused is the last, and comes
        again when the query is resumed. `final`: the run ends with the span."""
        has_instant = plan.schedule.has_instant(span.after, span.through)
        segments = snapshot.segments(group.inputs, span.through) if has_instant else {}
        busy, waiting = False, deque(pieces(plan.schedule, span, segments, self._tuning))
        while waiting:
            piece = waiting.popleft()
            last = final and piece.through == span.through
            try:
                busy |= yield from self._answer_piece(group, plan, piece, segments, snapshot, last, job)
            except ResultTooLarge as error:
                smaller = smaller_pieces(plan.schedule, piece, self._tuning)
                if not smaller:
                    raise
                log.fallback(None, "one job for all instants", str(error).partition(". ")[0])
                waiting.extendleft(reversed(smaller))
                continue
            if piece.through < span.through:
                self._evaluator.save()
            if group.progress != piece.through or not group.tasks:
                break
        return busy

    def _answer_piece(
        self,
        group: EvaluationGroup,
        plan: due_instants.CompiledQuery,
        piece: Span,
        segments: Segments,
        snapshot: RoundSnapshot,
        last: bool,
        job: SliceJob | None,
    ) -> Steps:
        """Evaluate a piece, or pass over it; whether an answer was delivered. If it has few elements, it waits after
        planning, so that other groups can share its job. `last`: the run ends with the piece."""
        ends = group.reached.open > 0 and plan.schedule.has_instant(piece.after, piece.through)
        if not ends and not due_instants.has_news(group.query, plan, piece, segments):
            group.pass_over(piece)
            return False
        for name, parts in segments.items():
            self._inputs.verify(name, due_instants.needed_segments(plan, name, parts, piece))
        streams = snapshot.streams(due_instants.visible_segments(plan, piece, segments, self._inputs.dropped))
        read = sum(files.rows for files in streams.values())
        self._watch.span(group, plan, piece, read, live=self._evaluator.is_live)
        shared = job if read <= self._tuning.shared_job_elements else None
        before = 0 if shared is None else len(shared)
        planned = self._evaluator.plan(group, plan, piece, streams, last, shared)
        if shared is not None and len(shared) > before:
            yield False
        return self._evaluator.answer(planned)

    def _retain(self) -> None:
        """Let the log drop elements that no query can read any more. Paused and failed queries keep theirs.

        The watermarks are read before the readers: a query that is registered during the round is among the readers,
        or it begins after all elements that are dropped.
        """
        ends = {stream: self._watermarks.of(stream) for stream in self._inputs.streams}
        ends |= {group.output: group.progress for group in self._groups if group.output is not None}
        readers: defaultdict[str, list[tuple[due_instants.CompiledQuery | None, int | None]]] = defaultdict(list)
        for group in self._groups:
            for stream in group.inputs:
                readers[stream].append((group.plan, group.progress))
        for stream, complete in ends.items():
            planned = [(plan, progress) for plan, progress in readers[stream] if plan is not None]
            if len(planned) < len(readers[stream]):
                continue
            if (bound := due_instants.retention_bound(planned, stream, complete)) is not None:
                self._tidy(stream, *bound)

    def _tidy(self, stream: str, horizon: int, keep_last: int) -> None:
        """Drop and merge segments of a stream. What a failing disk prevents is tried again after the next round."""
        try:
            self._inputs.tidy(stream, horizon, keep_last)
        except StoreError as error:
            log.rounds.warning(
                "%s: the log was not tidied: %s", stream, error, extra={"stream": stream, "error": str(error)}
            )


def _runs(groups: Iterable[EvaluationGroup]) -> Iterator[list[EvaluationGroup]]:
    """Yield the groups in runs. None reads a stream that another of its run derives."""
    run: list[EvaluationGroup] = []
    for group in groups:
        if any(other.output in group.inputs for other in run if other.output is not None):
            yield run
            run = []
        run.append(group)
    yield run


def _due_span(
    group: EvaluationGroup,
    derived: Mapping[str, EvaluationGroup],
    combined: Callable[..., int | None],
    snapshot: RoundSnapshot,
) -> Span | None:
    """The time from its progress to the watermark of its streams. That of a derived stream is its query's progress."""
    declared = tuple(name for name in group.inputs if name not in derived)
    through = combined(declared, tuple(derived[name].progress for name in group.inputs if name in derived))
    if through is None:
        return None
    segments = snapshot.segments(group.inputs, through) if group.progress is None else {}
    return due_instants.span(group.progress, through, segments)


def _busy(group: EvaluationGroup, span: Span, snapshot: RoundSnapshot, times: Schedule) -> list[BusySpan]:
    return busy_spans(times, span, snapshot.segments(group.inputs, span.through))


def _full_span(group: EvaluationGroup, snapshot: RoundSnapshot) -> Span | None:
    segments = snapshot.segments(group.inputs, None)
    lasts = [part.last for parts in segments.values() for part in parts]
    if not lasts or group.plan is None:
        return None
    return due_instants.span(group.progress, group.plan.schedule.last_instant(max(lasts)), segments)
