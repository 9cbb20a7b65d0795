"""Activation of queries: where a new query begins, and the clean-up after a crash."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress

from penstock.errors import PenstockError
from penstock.io.sinks import Batch
from penstock.stream.answers.answer_batch import single_answer
from penstock.stream.base.watermark import Watermarks
from penstock.stream.evaluation.evaluator import log_failure
from penstock.stream.evaluation.plan_cache import PlanCache
from penstock.stream.ingest.stream_view import StreamView
from penstock.stream.registry.catalogue import memory_of
from penstock.stream.registry.evaluation_groups import Delivery, EvaluationGroups
from penstock.stream.registry.registered_query import RegisteredQuery, SinkFailure

__all__ = ["Activation", "beginning", "raise_failures"]


class Activation:
    """Prepares queries for evaluation. A query that reads no stream is answered here, once."""

    def __init__(self, plans: PlanCache, inputs: StreamView, groups: EvaluationGroups) -> None:
        self._plans, self._inputs, self._groups = plans, inputs, groups

    def open(self, task: RegisteredQuery, *, live: bool) -> None:
        """Prepare a query. An error fails this query only; a query that failed before is tried again."""
        try:
            task.forget_failure()
            if task.inputs:
                self._prepare(task, live)
            elif task.ready and not task.done and task.original.emit != "events":  # which waits for a stream
                answer = self._plans.answer(task.query, task.entry.text, task.entry.base)
                if _delivered(task, single_answer(answer, task.name)):
                    self._groups.save_progress([Delivery(task.group, task.group.reached, [task])])
        except Exception as error:
            task.fail(error)
            log_failure(task)

    def _prepare(self, task: RegisteredQuery, live: bool) -> None:
        if task.output is not None:
            self._inputs.undo(task.output, task.entry.batches)
        if (memory := memory_of(task.sink)) is not None:
            memory.live(live)


def _delivered(task: RegisteredQuery, batch: Batch) -> bool:
    """Whether the query took its only batch. No other query waits, so the sink is tried again at once."""
    for _ in range(task.entry.retry):
        with suppress(SinkFailure):
            return task.deliver(batch, lambda _: None)
    return task.deliver(batch, lambda _: None)


def beginning(
    task: RegisteredQuery,
    derived: Mapping[str, RegisteredQuery],
    inputs: StreamView,
    watermarks: Watermarks,
    *,
    live: bool,
) -> int | None:
    """The instant after which a new query starts; None: with the first element.

    A query that is registered on a live engine starts at the watermark. So does one whose streams have dropped
    segments, since its first windows would be incomplete. `derived` are the streams of queries.
    """
    if not live and not any(inputs.dropped(stream) for stream in task.inputs):
        return None
    ends = [derived[name].progress if name in derived else watermarks.of(name) for name in task.inputs]
    return None if None in ends else min((end for end in ends if end is not None), default=None)


def raise_failures(tasks: Iterable[RegisteredQuery]) -> None:
    """Raise the errors of failed queries at the end of a run, one line for each."""
    failed = [task for task in tasks if task.error is not None]
    if len(failed) == 1 and isinstance(failed[0].cause, PenstockError):
        raise failed[0].cause
    if failed:
        raise PenstockError("\n".join(f"{task.name}: {task.error}" for task in failed)) from failed[0].cause
