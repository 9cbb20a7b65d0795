"""The evaluation of a group for a span: run the plan, write the operator state, deliver answers. Then the progress of
all groups that were evaluated together is saved."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Protocol

from penstock import log
from penstock.io.sinks import Batch
from penstock.model.span import Span
from penstock.model.stream_files import StreamFiles
from penstock.spark.query.evaluation import Evaluation
from penstock.spark.session.cancellation import bounded_result
from penstock.stream.answers.answer_batch import AnswerSchema, Frame, Uncollected, collect
from penstock.stream.answers.split_by_query import QueryAnswers, split_by_query
from penstock.stream.base.clock import Clock, SystemClock
from penstock.stream.base.failpoints import reach
from penstock.stream.evaluation.deliveries import Deliveries, SinkCall
from penstock.stream.evaluation.report_state import ReportState
from penstock.stream.evaluation.round_watch import DELIVERY, JOB, PLANNING, STATE, RoundWatch
from penstock.stream.registry.due_instants import CompiledQuery
from penstock.stream.registry.evaluation_group import EvaluationGroup
from penstock.stream.registry.evaluation_groups import Delivery, EvaluationGroups
from penstock.stream.registry.metadata_store import GroupProgress
from penstock.stream.registry.registered_query import RegisteredQuery, SinkFailure
from penstock.tuning import DEFAULT, Tuning

if TYPE_CHECKING:
    from penstock.spark.query.open_intervals import OpenIntervalFiles
    from penstock.spark.query.sliced_rows import SliceJob

__all__ = ["Deriving", "Evaluator", "PlannedEvaluation", "log_failure"]

_WHOLE = ("rstream", "events")  # reports that leave nothing open


class Deriving(Protocol):
    """The writer of derived streams."""

    def derive(self, stream: str, batch: Batch) -> None:
        """Append the batch's triples to the stream, in place of an earlier batch of that number."""

    def undo(self, stream: str, number: int) -> None:
        """Remove the elements of a batch whose delivery was interrupted."""


@dataclass(frozen=True, slots=True)
class PlannedEvaluation:
    """The evaluation of a group for a span. `alone`: of one query, not of a family."""

    group: EvaluationGroup
    plan: CompiledQuery
    span: Span
    frame: Frame
    alone: bool


class Evaluator:
    """Evaluates groups and delivers their answers. `answered` is called when deliveries have been saved, and `wake`
    when a slow one has ended; without it, sinks are called by the thread that evaluates."""

    def __init__(
        self,
        inputs: Deriving,
        groups: EvaluationGroups,
        answered: Callable[[], None],
        report_state: ReportState | None = None,
        tuning: Tuning = DEFAULT,
        clock: Clock | None = None,
        watch: RoundWatch | None = None,
        wake: Callable[[], object] | None = None,
    ) -> None:
        self._tuning, self._clock = tuning, clock or SystemClock()
        self._watch = watch or RoundWatch(self._clock.now, tuning)
        self._inputs, self._groups, self._report_state, self._answered = inputs, groups, report_state, answered
        self._unsaved: list[Delivery] = []
        self.deliveries = Deliveries(wake or (lambda: None), tuning.sink_patience_us)
        self._may_leave, self.is_live = wake is not None, False  # a live engine does not wait for slow sinks

    def plan(
        self,
        group: EvaluationGroup,
        plan: CompiledQuery,
        span: Span,
        streams: Mapping[str, StreamFiles],
        final: bool,
        job: SliceJob | None = None,
    ) -> PlannedEvaluation:
        """Return the evaluation of a group for a span, before its job has run. It may share a `job` with others."""
        members = group.members(self._groups.planner)
        before = self._state_files(group, members is None)
        shared = None if members is None and not group.first.fetches else job
        with self._watch.part(PLANNING):
            frame = plan.evaluate(Evaluation(streams, span, before, final, members, shared))
        return PlannedEvaluation(group, plan, span, frame, members is None)

    def answer(self, planned: PlannedEvaluation) -> bool:
        """Run the job and deliver the answers; whether a delivery was made or has failed. `save` saves the progress; a
        query that was paused meanwhile keeps its own. Nothing is delivered of a result that is too large."""
        group, plan, frame = planned.group, planned.plan, planned.frame
        with self._watch.part(JOB), bounded_result():
            batches = self._batch(group.first, plan, frame) if planned.alone else self._batches(group, plan, frame)
        reached = replace(group.progress_after(planned.span), open=0)
        if plan.carries:
            with self._watch.part(STATE):
                reached = self._save_state(reached, frame, group.first.entry.number if planned.alone else None)
        elif not batches and plan.emit in _WHOLE:
            group.pass_over(planned.span)
            return False
        with self._watch.part(DELIVERY):
            return self._deliver(group, reached, batches)

    def _state_files(self, group: EvaluationGroup, alone: bool) -> OpenIntervalFiles:
        """The files of operator state. A query that is answered alone has one at most; those of dropped queries may
        have been removed."""
        if (held := self._report_state) is None:
            return None
        states = [(name, number) for name, number in group.reached.states if number is None or number in group.tasks]
        files = [(held.path(name), number) for name, number in states]
        if not files:
            return None
        return files[0][0] if alone else files

    def _batch(self, task: RegisteredQuery, plan: CompiledQuery, frame: Frame) -> Mapping[RegisteredQuery, Batch]:
        """The answers of one query, if there are any. Where Spark writes them into files, it has not run yet."""
        shape, number = _shape(task, plan), task.entry.batches
        if not task.fetches:
            return {task: Uncollected(shape, number, frame)}
        batch = collect(frame, shape, number)
        return {task: batch} if batch.size else {}

    def _batches(self, group: EvaluationGroup, plan: CompiledQuery, frame: Frame) -> Mapping[RegisteredQuery, Batch]:
        """The answers of a family, by query, for queries that have some. A query dropped meanwhile is left out."""
        tasks, shape = dict(group.tasks), _shape(group.first, plan)
        looks = shape.kind, shape.variables, shape.bounds
        members = tasks if plan.emit == "rstream" else None
        cuts = split_by_query(frame.collect(), len(shape.columns), members, self._tuning.answer_rows)
        answers = ((tasks.get(cut.number), cut) for cut in cuts)
        return {
            task: QueryAnswers(AnswerSchema(task.name, *looks), task.entry.batches, cut)
            for task, cut in answers
            if task is not None
        }

    def _save_state(self, reached: GroupProgress, frame: Frame, number: int | None) -> GroupProgress:
        """Write the operator state, also where there is no answer, and return the progress that refers to it."""
        assert self._report_state is not None
        name, count = self._report_state.keep(frame)
        reach("carried")
        return replace(reached, states=((name, number),), open=count)

    def _deliver(
        self, group: EvaluationGroup, progress: GroupProgress, batches: Mapping[RegisteredQuery, Batch]
    ) -> bool:
        outcomes = {task: self._delivered(task, batch) for task, batch in batches.items()}
        delivered, refused, slow = ([task for task in outcomes if outcomes[task] is one] for one in (True, False, None))
        for task in slow:
            self._groups.begin_delivery(task, progress)
        self._unsaved.append(Delivery(group, progress, delivered, [*refused, *slow]))
        return bool(delivered) or any(task.error is not None for task in refused)

    def save(self) -> None:
        """Save the progress of all deliveries since the last call in one transaction. A crash before it repeats them:
        their sinks are rewound. An error fails the queries of all these groups."""
        deliveries, self._unsaved = self._unsaved, []
        files = {name for one in deliveries for name, _ in (*one.group.reached.states, *one.reached.states)}
        try:
            self._groups.save_progress(deliveries)
        except Exception as error:
            for task in [task for one in deliveries for task in one.group.tasks.values()]:
                self.fail(task, error)
            return
        for one in deliveries:
            reach("saved" if one.delivered else "skipped")
        if self._report_state is not None and files:
            self._report_state.remove((files - self._groups.files()) | self._groups.unused_files())
        if any(one.delivered for one in deliveries):
            self._answered()

    def end_deliveries(self) -> None:
        """Save the progress of queries whose slow sinks have ended by now."""
        for delivery in self.deliveries.finished():
            taken = self._outcome(delivery.task, delivery.batch.number, delivery.result)
            self._groups.end_delivery(delivery.task, taken is True)
            if taken:
                reach("saved")
                self._answered()

    def _delivered(self, task: RegisteredQuery, batch: Batch) -> bool | None:
        """Whether the query took the batch; None: its sink is still at work."""
        return self._outcome(task, batch.number, lambda: self._begin_delivery(task, batch))

    def _begin_delivery(self, task: RegisteredQuery, batch: Batch) -> bool | None:
        derive = partial(self._inputs.derive, task.output or "")
        if not (self._may_leave and self.is_live and task.may_be_slow):
            return task.deliver(batch, derive)
        if not task.derive(batch, derive):
            return False
        call = SinkCall(task, batch)
        return call.result() if self.deliveries.ends_soon(call) else None

    def _outcome(self, task: RegisteredQuery, number: int, deliver: Callable[[], bool | None]) -> bool | None:
        """Whether the query took the batch. An error fails this query only, or postpones it."""
        try:
            return deliver()
        except SinkFailure as failure:
            if task.failures < task.entry.retry:
                self._postpone(task, number, failure)
            else:
                self.fail(task, failure)
        except Exception as error:
            self.fail(task, error)
        return False

    def _postpone(self, task: RegisteredQuery, number: int, failure: SinkFailure) -> None:
        """Try the sink again later, with the batch of the same number. The query keeps its progress until then, as a
        paused one does, and the others go on."""
        wait = min(self._tuning.retry_wait_us << task.failures, self._tuning.retry_longest_us)
        self._groups.postpone(task, failure, self._clock.now() + wait)
        fields = {"query": task.name, "batch": number, "attempt": task.failures, "retries": task.entry.retry}
        log.sinks.warning(
            "%s: the sink failed, retry %d of %d in %g s: %s",
            task.name,
            task.failures,
            task.entry.retry,
            wait / 1e6,
            task.sink_error,
            exc_info=failure.cause,
            extra=fields | {"wait_s": wait / 1e6, "error": task.sink_error},
        )
        self._undo(task)

    def fail(self, task: RegisteredQuery, error: Exception) -> None:
        """Mark a query as failed, and remove the derived elements of its interrupted delivery."""
        self.fail_all([task], error)

    def fail_all(self, tasks: Iterable[RegisteredQuery], error: Exception) -> None:
        """Mark queries as failed. Their error is put into a sentence once, and logged with its traceback once: an error
        of Java's is asked for its whole stack each time."""
        message: str | None = None
        for task in tasks:
            task.fail(error, message)
            log_failure(task, with_traceback=message is None)
            message = task.error
            self._undo(task)

    def _undo(self, task: RegisteredQuery) -> None:
        if task.output is not None:
            self._inputs.undo(task.output, task.entry.batches)


def log_failure(task: RegisteredQuery, *, with_traceback: bool = True) -> None:
    """Log that a query has failed."""
    fields, cause = {"query": task.name, "error": task.error}, task.cause if with_traceback else None
    log.rounds.error("%s: the query failed: %s", task.name, task.error, exc_info=cause, extra=fields)


def _shape(task: RegisteredQuery, plan: CompiledQuery) -> AnswerSchema:
    return AnswerSchema.of(task.name, task.query, plan.emit)
