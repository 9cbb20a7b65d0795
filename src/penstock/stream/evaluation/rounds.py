"""A round: every unit that has due instants is answered, those that derive streams before those that read them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from typing import Protocol

from penstock.algebra.schedule import stretched
from penstock.errors import PenstockError
from penstock.model.span import Span
from penstock.model.stream_files import StreamFiles
from penstock.stream.evaluation.evaluator import Deriving, Evaluator
from penstock.stream.evaluation.report_state import ReportState
from penstock.stream.log.stream_log import Segment
from penstock.stream.registry import due_instants
from penstock.stream.registry.dependency_order import in_order
from penstock.stream.registry.evaluation_group import EvaluationGroup
from penstock.stream.registry.evaluation_groups import EvaluationGroups
from penstock.stream.registry.load_shedding import pace

__all__ = ["Inputs", "RoundSnapshot", "Rounds"]


class Inputs(Deriving, Protocol):
    """The streams as a round reads and derives them."""

    @property
    def streams(self) -> Iterable[str]:
        """The declared ones."""

    def segments(self, stream: str) -> Sequence[Segment]: ...
    def dropped(self, stream: str) -> int: ...

    def tidy(self, stream: str, horizon: int, keep_last: int) -> None:
        """Let go of what has ts <= horizon, except the newest `keep_last` of it. Nobody reads segments just now."""


class StreamTime(Protocol):
    """The watermarks of declared streams: see `penstock.stream.base.watermark.Watermarks`."""

    def combined(self, streams: Iterable[str], others: Iterable[int | None] = ()) -> int | None: ...
    def of(self, stream: str) -> int | None: ...


class RoundSnapshot:
    """The segments of streams in one round. Groups that are due together read the same ones, and can share them.

    Segments are read once the watermark is known, and belong to that time.
    """

    def __init__(self, inputs: Inputs) -> None:
        self._inputs = inputs
        self._segments: dict[tuple[str, int | None], Sequence[Segment]] = {}
        self._streams: dict[tuple[str, tuple[str, ...]], StreamFiles] = {}

    def segments(self, streams: Iterable[str], through: int | None) -> dict[str, Sequence[Segment]]:
        """What there is of them, at least through that time."""
        return {name: self._of(name, through) for name in streams}

    def _of(self, stream: str, through: int | None) -> Sequence[Segment]:
        key = stream, through
        if key not in self._segments:
            self._segments[key] = self._inputs.segments(stream)
        return self._segments[key]

    def streams(self, found: Mapping[str, StreamFiles]) -> dict[str, StreamFiles]:
        """These, or in their place those that another unit has read in this round, if they are the same."""
        return {name: self._streams.setdefault((name, stream.paths), stream) for name, stream in found.items()}


class Rounds:
    """Answers what is due. `answered` is told whenever something has been delivered."""

    def __init__(
        self,
        inputs: Inputs,
        watermarks: StreamTime,
        units: EvaluationGroups,
        answered: Callable[[], None] = lambda: None,
        carried: ReportState | None = None,
    ) -> None:
        self._inputs, self._watermarks = inputs, watermarks
        self._units = units
        self._answering = Evaluator(inputs, units, answered, carried)

    def live(self) -> bool:
        """Answer all that is due now; whether anything was. A watermark is asked for once, and holds for the round."""
        ordered, seen = in_order(self._units.arranged()), RoundSnapshot(self._inputs)
        derived, combined = {unit.output: unit for unit in ordered if unit.output}, cache(self._watermarks.combined)
        busy = [self._attempt(unit, seen, lambda unit=unit: _due(unit, derived, combined, seen)) for unit in ordered]  # type: ignore[misc]
        self._retain()
        return any(busy)

    def bounded(self) -> None:
        """Every instant up to that of the last element, streams that are derived on the way included."""
        ordered, seen = in_order(self._units.arranged()), RoundSnapshot(self._inputs)
        deriving = [unit for unit in ordered if unit.output is not None]
        for unit in ordered:
            cause = next((other for other in deriving if other.output in unit.inputs and not other.ready), None)
            if cause is None:
                self._attempt(unit, seen, lambda unit=unit: _whole(unit, seen), final=True)  # type: ignore[misc]
            elif unit.ready and cause.first.error is not None:
                self._fail(unit, PenstockError(f"the query {cause.name}, whose stream it reads, failed"))

    def _attempt(
        self, unit: EvaluationGroup, seen: RoundSnapshot, span_of: Callable[[], Span | None], final: bool = False
    ) -> bool:
        """An error is the unit's own, and stops no other."""
        if not unit.inputs or (unit.plan is None and unit.first.error is not None):
            return False
        try:
            unit.planned(self._units.planner)  # also for those who stand still: it says what they will need
            span = span_of() if unit.ready else None
            if span is None:
                return False
            pace(unit, span, final)
            return self._answer(unit, unit.planned(self._units.planner), span, seen, final)
        except Exception as error:
            self._fail(unit, error)
            return True

    def _fail(self, unit: EvaluationGroup, error: Exception) -> None:
        for task in list(unit.tasks.values()):
            self._answering.fail(task, error)

    def _answer(
        self, unit: EvaluationGroup, plan: due_instants.CompiledQuery, span: Span, seen: RoundSnapshot, final: bool
    ) -> bool:
        """Whether something was delivered. A piece that is not wanted any more is the last: resumed, it comes again.

        `final`: the run ends with the span."""
        segments = seen.segments(unit.inputs, span.through)
        elements = sum(part.rows for parts in segments.values() for part in parts)
        busy = False
        for piece in due_instants.chunks(stretched(unit.query, unit.reached.stretched), span, elements):
            ends = unit.reached.open > 0 and plan.schedule.has_instant(piece.after, piece.through)
            if ends or due_instants.has_news(unit.query, plan, piece, segments):
                streams = seen.streams(due_instants.visible_segments(plan, piece, segments, self._inputs.dropped))
                busy |= self._answering.answer(unit, plan, piece, streams, final and piece.through == span.through)
            else:
                unit.passed(piece)
            if unit.progress != piece.through or not unit.tasks:
                break
        return busy

    def _retain(self) -> None:
        """Let the log drop what no query can see any more. A query that stands still keeps what it will need.

        How far streams are is asked first, and then who reads them: a query that is registered while the round goes on
        is among those, or it begins after all that may go.
        """
        ends = {stream: self._watermarks.of(stream) for stream in self._inputs.streams}
        ends |= {unit.output: unit.progress for unit in self._units if unit.output is not None}
        readers: defaultdict[str, list[tuple[due_instants.CompiledQuery | None, int | None]]] = defaultdict(list)
        for unit in self._units:
            for stream in unit.inputs:
                readers[stream].append((unit.plan, unit.progress))
        for stream, complete in ends.items():
            known = [(plan, progress) for plan, progress in readers[stream] if plan is not None]
            kept = due_instants.retention_bound(known, stream, complete) if len(known) == len(readers[stream]) else None
            if kept is not None:
                self._inputs.tidy(stream, *kept)


def _due(
    unit: EvaluationGroup,
    derived: Mapping[str, EvaluationGroup],
    combined: Callable[..., int | None],
    seen: RoundSnapshot,
) -> Span | None:
    """The time from its progress to the watermark of its streams. That of a derived stream is its query's progress."""
    declared = tuple(name for name in unit.inputs if name not in derived)
    through = combined(declared, tuple(derived[name].progress for name in unit.inputs if name in derived))
    return None if through is None else due_instants.span(unit.progress, through, seen.segments(unit.inputs, through))


def _whole(unit: EvaluationGroup, seen: RoundSnapshot) -> Span | None:
    segments = seen.segments(unit.inputs, None)
    lasts = [part.last for parts in segments.values() for part in parts]
    if not lasts or unit.plan is None:
        return None
    return due_instants.span(unit.progress, unit.plan.schedule.last_instant(max(lasts)), segments)
