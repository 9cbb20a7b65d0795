"""A round: every query that has due instants is answered, those that derive streams before those that read them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Protocol

from penstock.errors import PenstockError
from penstock.io.sinks import Batch
from penstock.spark.contents import Stream
from penstock.spark.timeline import Span
from penstock.stream import due
from penstock.stream.carried import Carried
from penstock.stream.evaluate import Results
from penstock.stream.failpoints import reach
from penstock.stream.log import Segment
from penstock.stream.order import in_order
from penstock.stream.task import Task

__all__ = ["Inputs", "Rounds"]


class Inputs(Protocol):
    """What a round needs of the log, and of what is known about time."""

    @property
    def streams(self) -> Iterable[str]:
        """The declared ones."""

    def segments(self, stream: str) -> Sequence[Segment]: ...
    def dropped(self, stream: str) -> int: ...

    def tidy(self, stream: str, horizon: int, keep_last: int) -> None:
        """Let go of what has ts <= horizon, except the newest `keep_last` of it. Nobody reads segments just now."""

    def derive(self, stream: str, batch: Batch) -> None:
        """Append the batch's triples to the stream, in place of those that a batch of its number left there."""

    def undo(self, stream: str, number: int) -> None:
        """Take back what a batch of that number, whose delivery was cut off, has left in the stream."""

    def complete(self, streams: Iterable[str], others: Iterable[int | None] = ()) -> int | None:
        """Through when these declared streams are complete together, beside others that know their ends.

        It is for good: what comes for that time later is late. None: nothing can be said yet.
        """

    def ripe(self, stream: str) -> int | None:
        """Through when one declared stream is complete by what is known now; asking changes nothing."""


class Rounds:
    """Answers what is due. `answered` is told of each task that has been."""

    def __init__(
        self, inputs: Inputs, answered: Callable[[Task], None] = lambda _: None, carried: Carried | None = None
    ) -> None:
        self._inputs = inputs
        self._carried = carried
        self._answered = answered

    def live(self, tasks: Iterable[Task], present: Iterable[Task] | None = None) -> bool:
        """All that is due now; whether anything was. `present` are those that there were when they were arranged; by
        the end of the round there may be others, who keep what they will need."""
        ordered = in_order(tasks if present is None else present)
        busy = [self._attempt(task, lambda task=task: self._due(task, ordered), final=False) for task in ordered]  # type: ignore[misc]
        self._retain(tasks)
        return any(busy)

    def bounded(self, tasks: Iterable[Task]) -> None:
        """Every instant up to that of the last element, streams that are derived on the way included."""
        ordered = in_order(tasks)
        for task in ordered:
            cause = next((other for other in ordered if other.output in task.inputs and not other.ready), None)
            if cause is None:
                self._attempt(task, lambda task=task: self._whole(task), final=True)  # type: ignore[misc]
            elif task.ready and cause.error is not None:
                task.fail(PenstockError(f"the query {cause.name}, whose stream it reads, failed"))

    def _attempt(self, task: Task, span_of: Callable[[], Span | None], final: bool) -> bool:
        """An error is the task's own, and stops no other."""
        if not task.ready or not task.inputs or task.plan is None:
            return False
        try:
            span = span_of()
            return span is not None and self._answer(task, span, final)
        except Exception as error:
            if task.output is not None:
                self._inputs.undo(task.output, task.entry.batches)
            task.fail(error)
            return True

    def _due(self, task: Task, tasks: Sequence[Task]) -> Span | None:
        derived = {other.output: other.progress for other in tasks if other.output is not None}
        declared = [name for name in task.inputs if name not in derived]
        through = self._inputs.complete(declared, [derived[name] for name in task.inputs if name in derived])
        return due.span(task.progress, through, self._segments(task))

    def _whole(self, task: Task) -> Span | None:
        segments = self._segments(task)
        lasts = [part.last for parts in segments.values() for part in parts]
        if not lasts or task.plan is None:
            return None
        return due.span(task.progress, task.plan.last_instant(max(lasts)), segments)

    def _segments(self, task: Task) -> dict[str, Sequence[Segment]]:
        return {name: self._inputs.segments(name) for name in task.inputs}

    def _answer(self, task: Task, span: Span, final: bool) -> bool:
        """Whether something was delivered. A piece that is not wanted any more is the last: resumed, it comes again.

        `final`: the run ends with the span."""
        segments = self._segments(task)
        elements = sum(part.rows for parts in segments.values() for part in parts)
        delivered = False
        for piece in due.chunks(task.query, span, elements):
            delivered |= self._piece(task, piece, segments, final and piece.through == span.through)
            if task.progress != piece.through:
                break
        return delivered

    def _piece(self, task: Task, span: Span, segments: due.Segments, final: bool) -> bool:
        plan = task.plan
        assert plan is not None
        ends = task.entry.open > 0 and plan.instants(span.after, span.through)
        if not (ends or due.has_news(task.query, plan, span, segments)):
            task.passed(span.through)
            return False
        streams = due.view(plan, span, segments, self._inputs.dropped)
        if plan.emit not in ("rstream", "events"):  # which leave nothing open
            return self._changes(task, plan, span, streams, final)
        batch = Results(task.shape, task.entry.batches, plan.evaluate(streams, span))
        if task.fetches and batch.is_empty:
            task.passed(span.through)
            return False
        return self._delivered(task, span, batch)

    def _changes(self, task: Task, plan: due.Plan, span: Span, streams: Mapping[str, Stream], final: bool) -> bool:
        """What came and went since the last evaluation; also if that is nothing, what goes on is written down."""
        assert self._carried is not None
        batches = task.entry.batches
        frame = plan.evaluate(streams, span, self._carried.path(task.name, batches), final)
        batch = Results(task.shape, batches, frame)
        silent = task.fetches and batch.is_empty
        count = self._carried.keep(task.name, batches + 1, frame)
        reach("carried")
        if silent:
            task.skipped(span.through, count)
            return False
        return self._delivered(task, span, batch, count)

    def _delivered(self, task: Task, span: Span, batch: Results, open: int = 0) -> bool:
        delivered = task.deliver(batch, span.through, lambda made: self._inputs.derive(task.output or "", made), open)
        self._answered(task)
        return delivered

    def _retain(self, tasks: Iterable[Task]) -> None:
        """Let the log drop what no query can see any more. A query that stands still keeps what it will need.

        How far streams are is asked first, and then who reads them: a query that is registered while the round goes on
        is among those, or it begins after all that may go.
        """
        ends = {stream: self._inputs.ripe(stream) for stream in self._inputs.streams}
        ends |= {task.output: task.progress for task in tasks if task.output is not None}
        everybody = list(tasks)
        for stream, complete in ends.items():
            readers = [(task.plan, task.progress) for task in everybody if stream in task.inputs]
            if any(plan is None for plan, _ in readers):
                continue
            known = [(plan, progress) for plan, progress in readers if plan is not None]
            if (kept := due.keep(known, stream, complete)) is not None:
                self._inputs.tidy(stream, *kept)
