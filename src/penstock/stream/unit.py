"""What is answered together: a query, or those of a family that are equally far."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Protocol

from penstock.algebra.ops import Query
from penstock.algebra.template import Constants
from penstock.spark.timeline import Span
from penstock.stream import due
from penstock.stream.due import Plan
from penstock.stream.family import Family
from penstock.stream.registry import Entry, Reached

if TYPE_CHECKING:
    from penstock.spark.members import Members
    from penstock.stream.task import Task

__all__ = ["Planner", "Unit"]


class Planner(Protocol):
    """What compiles: see `penstock.stream.plans.Plans`."""

    def plan(self, task: Task, stretched: int = 1) -> Plan: ...
    def compiled(self, query: Query, entry: Entry) -> Plan: ...
    def members(self, numbers: Sequence[int], rows: Sequence[Constants]) -> Members: ...
    def release(self, plan: Plan) -> None: ...


class Unit:
    """Tasks by number, and how far they are. `reached.progress` may be ahead of the registry's: time without an instant
    in it passes without being written down."""

    def __init__(self, number: int, reached: Reached) -> None:
        self.number = number
        self.reached = reached
        self.tasks: dict[int, Task] = {}
        self.first: Task  # one of them; the last one, when that is gone
        self.family: Family | None = None
        self.placed = False  # whether it is known of which family it is
        self._members: tuple[Plan | None, tuple[int, ...], Members] | None = None

    def take(self, task: Task) -> None:
        if not self.tasks:
            self.first = task
        self.tasks[task.entry.number] = task

    def lose(self, task: Task) -> None:
        self.tasks.pop(task.entry.number, None)
        if self.first is task:
            self.first = next(iter(self.tasks.values()), task)

    @property
    def name(self) -> str:
        return self.first.name

    @property
    def inputs(self) -> tuple[str, ...]:
        return self.first.inputs

    @property
    def output(self) -> str | None:
        return self.first.output

    @property
    def query(self) -> Query:
        """One of them: they differ in nothing that has to do with time."""
        return self.first.query

    @property
    def ready(self) -> bool:
        return self.first.ready

    @property
    def progress(self) -> int | None:
        return self.reached.progress

    @property
    def plan(self) -> Plan | None:
        return self.first.plan if self.family is None else self.family.plans.get(self.reached.stretched)

    def planned(self, planner: Planner) -> Plan:
        """The plan, made if there is none that fits."""
        for gone in () if self.family is None else self.family.fitted():
            planner.release(gone)
        if (plan := self.plan) is not None:
            return plan
        if self.family is None:
            self.first.plan = planner.plan(self.first, self.reached.stretched)
            return self.first.plan
        assert self.family.query is not None
        query = due.stretched(self.family.query, self.reached.stretched)
        plan = self.family.plans[self.reached.stretched] = planner.compiled(query, self.first.entry)
        return plan

    def stretch(self, factor: int) -> None:
        """Of so many instants one is evaluated from now on."""
        self.reached = replace(self.reached, stretched=factor)
        if self.family is None:
            self.first.plan = None

    def members(self, planner: Planner) -> Members | None:
        """The table of its queries for the plan; None where there is one, and nothing says that there were more."""
        varying = () if self.family is None else self.family.varying
        if len(self.tasks) == 1 and not varying and all(number is not None for _, number in self.reached.states):
            return None
        numbers = tuple(self.tasks)
        known = self._members
        if known is None or known[0] is not self.plan or known[1] != numbers:
            rows = [() if self.family is None else self.family.row(number) for number in numbers]
            known = self._members = self.plan, numbers, planner.members(numbers, rows)
        return known[2]

    def passed(self, span: Span) -> None:
        """There was nothing to report up to the end of the span."""
        self.reached = self.after(span)

    def after(self, span: Span) -> Reached:
        """How far it is after the span: what the stretched time has left out of it is skipped for good."""
        skipped = self.reached.skipped
        if self.reached.stretched > 1:
            query = self.query
            skipped += due.instants(query, span) - due.instants(due.stretched(query, self.reached.stretched), span)
        return replace(self.reached, progress=span.through, skipped=skipped)
