"""Before a query is answered: where it begins, and what a crash may have left of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from penstock.errors import PenstockError
from penstock.stream.catalogue import memory_of
from penstock.stream.evaluate import once
from penstock.stream.inputs import LogInputs
from penstock.stream.plans import Plans
from penstock.stream.task import Task
from penstock.stream.units import Units

__all__ = ["Opening", "beginning", "raise_failures"]


class Opening:
    """Makes tasks ready. A query that needs no stream is answered here, once."""

    def __init__(self, plans: Plans, inputs: LogInputs, units: Units) -> None:
        self._plans, self._inputs, self._units = plans, inputs, units

    def open(self, task: Task, *, live: bool) -> None:
        """What goes wrong is the task's own; one that failed before gets another chance."""
        try:
            task.error = None
            if task.inputs:
                self._prepare(task, live)
            elif task.ready and not task.done and task.asked.emit != "events":  # which waits for a stream
                answer = self._plans.answer(task.query, task.entry.text, task.entry.base)
                if task.deliver(once(answer, task.name), lambda _: None):
                    self._units.moved(task.unit, task.unit.reached, [task])
        except Exception as error:
            task.fail(error)

    def _prepare(self, task: Task, live: bool) -> None:
        if task.output is not None:
            self._inputs.undo(task.output, task.entry.batches)
        if (memory := memory_of(task.sink)) is not None:
            memory.live(live)


def beginning(task: Task, derived: Mapping[str, Task], inputs: LogInputs, *, live: bool) -> int | None:
    """After which instant a new query starts; None: with the first element.

    One that comes while others run starts with what comes next; so does one that comes when the log has let go of
    elements, whose first windows would be incomplete. `derived` are the streams of queries.
    """
    if not live and not any(inputs.dropped(stream) for stream in task.inputs):
        return None
    ends = [derived[name].progress if name in derived else inputs.ripe(name) for name in task.inputs]
    return None if None in ends else min((end for end in ends if end is not None), default=None)


def raise_failures(tasks: Iterable[Task]) -> None:
    """At the end of a run: what went wrong, a line a query."""
    failed = [task for task in tasks if task.error is not None]
    if len(failed) == 1 and isinstance(failed[0].cause, PenstockError):
        raise failed[0].cause
    if failed:
        raise PenstockError("\n".join(f"{task.name}: {task.error}" for task in failed)) from failed[0].cause
