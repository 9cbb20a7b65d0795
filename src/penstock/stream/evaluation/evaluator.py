"""The evaluation of a group for a span: run the plan, write the operator state, deliver answers, save the progress."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Protocol

from penstock.io.sinks import Batch
from penstock.model.span import Span
from penstock.model.stream_files import StreamFiles
from penstock.spark.query.evaluation import Evaluation
from penstock.stream.answers.answer_batch import AnswerSchema, Frame, Uncollected, collect
from penstock.stream.answers.split_by_query import QueryAnswers, split_by_query
from penstock.stream.base.failpoints import reach
from penstock.stream.evaluation.report_state import ReportState
from penstock.stream.registry.due_instants import CompiledQuery
from penstock.stream.registry.evaluation_group import EvaluationGroup
from penstock.stream.registry.evaluation_groups import EvaluationGroups
from penstock.stream.registry.metadata_store import GroupProgress
from penstock.stream.registry.registered_query import RegisteredQuery
from penstock.tuning import DEFAULT, Tuning

if TYPE_CHECKING:
    from penstock.spark.query.open_intervals import OpenIntervalFiles

__all__ = ["Deriving", "Evaluator"]

_WHOLE = ("rstream", "events")  # reports that leave nothing open


class Deriving(Protocol):
    """Where derived streams are written."""

    def derive(self, stream: str, batch: Batch) -> None:
        """Append the batch's triples to the stream, in place of an earlier batch of that number."""

    def undo(self, stream: str, number: int) -> None:
        """Remove the elements of a batch whose delivery was interrupted."""


class Evaluator:
    """Evaluates groups and delivers their answers. `answered` is called after a delivery."""

    def __init__(
        self,
        inputs: Deriving,
        groups: EvaluationGroups,
        answered: Callable[[], None],
        report_state: ReportState | None = None,
        tuning: Tuning = DEFAULT,
    ) -> None:
        self._tuning = tuning
        self._inputs, self._groups, self._report_state, self._answered = inputs, groups, report_state, answered

    def answer(
        self, group: EvaluationGroup, plan: CompiledQuery, span: Span, streams: Mapping[str, StreamFiles], final: bool
    ) -> bool:
        """Evaluate a group for a span and deliver its answers; whether a delivery was made or has failed. A query that
        was paused meanwhile keeps its progress."""
        members = group.members(self._groups.planner)
        before = self._before(group, members is None)
        frame = plan.evaluate(Evaluation(streams, span, before, final, members))
        batches = self._alone(group.first, plan, frame) if members is None else self._each(group, plan, frame)
        reached = replace(group.after(span), open=0)
        if plan.carries:
            reached = self._kept(reached, frame, group.first.entry.number if members is None else None)
        elif not batches and plan.emit in _WHOLE:
            group.passed(span)
            return False
        return self._deliver(group, reached, batches)

    def _before(self, group: EvaluationGroup, alone: bool) -> OpenIntervalFiles:
        """The files of operator state. A query that is answered alone has one at most; those of dropped queries may
        have been removed."""
        if self._report_state is None:
            return None
        found = [(self._report_state.path(name), number) for name, number in group.reached.states]
        files = [(path, number) for path, number in found if path and (number is None or number in group.tasks)]
        if not files:
            return None
        return files[0][0] if alone else files

    def _alone(self, task: RegisteredQuery, plan: CompiledQuery, frame: Frame) -> Mapping[RegisteredQuery, Batch]:
        """The answers of one query, if there are any. Where Spark writes them into files, it has not run yet."""
        shape, number = _shape(task, plan), task.entry.batches
        if not task.fetches:
            return {task: Uncollected(shape, number, frame)}
        batch = collect(frame, shape, number)
        return {task: batch} if batch.size else {}

    def _each(self, group: EvaluationGroup, plan: CompiledQuery, frame: Frame) -> Mapping[RegisteredQuery, Batch]:
        """The answers of a family, by query, for queries that have some. A query dropped meanwhile is left out."""
        tasks, shape = dict(group.tasks), _shape(group.first, plan)
        looks = shape.kind, shape.variables, shape.bounds
        cuts = split_by_query(frame.collect(), len(shape.columns), self._tuning.answer_rows)
        found = ((tasks.get(cut.number), cut) for cut in cuts)
        return {
            task: QueryAnswers(AnswerSchema(task.name, *looks), task.entry.batches, cut)
            for task, cut in found
            if task is not None
        }

    def _kept(self, reached: GroupProgress, frame: Frame, number: int | None) -> GroupProgress:
        """The progress with the operator state written, also where there is no answer."""
        assert self._report_state is not None
        name, count = self._report_state.keep(frame)
        reach("carried")
        return replace(reached, states=((name, number),), open=count)

    def _deliver(
        self, group: EvaluationGroup, reached: GroupProgress, batches: Mapping[RegisteredQuery, Batch]
    ) -> bool:
        wanted = {task: self._delivered(task, batch) for task, batch in batches.items()}
        delivered, refused = ([task for task in wanted if wanted[task] is which] for which in (True, False))
        files = {name for name, _ in (*group.reached.states, *reached.states)}
        if len(group.tasks) > sum(not task.dropped for task in refused):
            self._groups.moved(group, reached, delivered, refused)
            reach("saved" if delivered else "skipped")
        if self._report_state is not None and files:
            self._report_state.remove((files - self._groups.files()) | self._groups.unused_files())
        if delivered:
            self._answered()
        return bool(delivered) or any(task.error is not None for task in refused)

    def _delivered(self, task: RegisteredQuery, batch: Batch) -> bool:
        """Whether the query took the batch. An error fails this query only."""
        try:
            return task.deliver(batch, lambda made: self._inputs.derive(task.output or "", made))
        except Exception as error:
            self.fail(task, error)
            return False

    def fail(self, task: RegisteredQuery, error: Exception) -> None:
        """Mark a query as failed, and remove the derived elements of its interrupted delivery."""
        task.fail(error)
        if task.output is not None:
            self._inputs.undo(task.output, task.entry.batches)


def _shape(task: RegisteredQuery, plan: CompiledQuery) -> AnswerSchema:
    return AnswerSchema.of(task.name, task.query, plan.emit)
