"""Before a query is answered: where it begins, and what a crash may have left of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from penstock.errors import PenstockError
from penstock.stream.base.watermark import Watermarks
from penstock.stream.evaluation.answer_batch import single_answer
from penstock.stream.evaluation.plan_cache import PlanCache
from penstock.stream.ingest.stream_view import StreamView
from penstock.stream.registry.catalogue import memory_of
from penstock.stream.registry.evaluation_groups import EvaluationGroups
from penstock.stream.registry.registered_query import RegisteredQuery

__all__ = ["Activation", "beginning", "raise_failures"]


class Activation:
    """Makes tasks ready. A query that needs no stream is answered here, once."""

    def __init__(self, plans: PlanCache, inputs: StreamView, units: EvaluationGroups) -> None:
        self._plans, self._inputs, self._units = plans, inputs, units

    def open(self, task: RegisteredQuery, *, live: bool) -> None:
        """What goes wrong is the task's own; one that failed before gets another chance."""
        try:
            task.error = None
            if task.inputs:
                self._prepare(task, live)
            elif task.ready and not task.done and task.asked.emit != "events":  # which waits for a stream
                answer = self._plans.answer(task.query, task.entry.text, task.entry.base)
                if task.deliver(single_answer(answer, task.name), lambda _: None):
                    self._units.moved(task.unit, task.unit.reached, [task])
        except Exception as error:
            task.fail(error)

    def _prepare(self, task: RegisteredQuery, live: bool) -> None:
        if task.output is not None:
            self._inputs.undo(task.output, task.entry.batches)
        if (memory := memory_of(task.sink)) is not None:
            memory.live(live)


def beginning(
    task: RegisteredQuery,
    derived: Mapping[str, RegisteredQuery],
    inputs: StreamView,
    watermarks: Watermarks,
    *,
    live: bool,
) -> int | None:
    """After which instant a new query starts; None: with the first element.

    One that comes while others run starts with what comes next; so does one that comes when the log has let go of
    elements, whose first windows would be incomplete. `derived` are the streams of queries.
    """
    if not live and not any(inputs.dropped(stream) for stream in task.inputs):
        return None
    ends = [derived[name].progress if name in derived else watermarks.of(name) for name in task.inputs]
    return None if None in ends else min((end for end in ends if end is not None), default=None)


def raise_failures(tasks: Iterable[RegisteredQuery]) -> None:
    """At the end of a run: what went wrong, a line a query."""
    failed = [task for task in tasks if task.error is not None]
    if len(failed) == 1 and isinstance(failed[0].cause, PenstockError):
        raise failed[0].cause
    if failed:
        raise PenstockError("\n".join(f"{task.name}: {task.error}" for task in failed)) from failed[0].cause
