"""Evaluation groups: queries that are evaluated together, with one progress."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Protocol

from penstock.algebra.ops import Query
from penstock.algebra.schedule import schedule, stretched
from penstock.algebra.template import Constants
from penstock.model.span import Span
from penstock.stream.registry.due_instants import CompiledQuery
from penstock.stream.registry.metadata_store import GroupProgress, QueryRecord
from penstock.stream.registry.query_family import Family

if TYPE_CHECKING:
    from penstock.compile.parameter_table import ParameterTable
    from penstock.spark.query.sliced_rows import SliceJob
    from penstock.stream.registry.registered_query import RegisteredQuery

__all__ = ["EvaluationGroup", "Planner"]


class Planner(Protocol):
    """The compiler of queries: see `penstock.stream.evaluation.plan_cache.PlanCache`."""

    def plan(self, task: RegisteredQuery, factor: int = 1) -> CompiledQuery: ...
    def compiled(self, query: Query, entry: QueryRecord) -> CompiledQuery: ...
    def members(self, numbers: Sequence[int], rows: Sequence[Constants]) -> ParameterTable: ...
    def release(self, plan: CompiledQuery) -> None: ...
    def slice_job(self) -> SliceJob | None: ...


class EvaluationGroup:
    """A query, or the queries of a family with equal progress. `reached.progress` may be ahead of the metadata store:
    time without an instant in it passes without being saved."""

    def __init__(self, number: int, reached: GroupProgress) -> None:
        self.number = number
        self.reached = reached
        self.tasks: dict[int, RegisteredQuery] = {}
        self.first: RegisteredQuery  # one of them; the last one, when that is gone
        self.family: Family | None = None
        self.placed = False  # whether it is known of which family it is
        self._members: tuple[CompiledQuery | None, tuple[int, ...], ParameterTable] | None = None

    def add(self, task: RegisteredQuery) -> None:
        if not self.tasks:
            self.first = task
        self.tasks[task.entry.number] = task

    def remove(self, task: RegisteredQuery) -> None:
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
        """The query of one member: all have the same windows and schedule."""
        return self.first.query

    @property
    def ready(self) -> bool:
        return self.first.ready

    @property
    def progress(self) -> int | None:
        return self.reached.progress

    @property
    def plan(self) -> CompiledQuery | None:
        return self.first.plan if self.family is None else self.family.plans.get(self.reached.stretched)

    def planned(self, planner: Planner) -> CompiledQuery:
        """The compiled query, compiled now if there is none that fits."""
        for gone in () if self.family is None else self.family.fitted():
            planner.release(gone)
        if (plan := self.plan) is not None:
            return plan
        if self.family is None:
            self.first.plan = planner.plan(self.first, self.reached.stretched)
            return self.first.plan
        assert self.family.query is not None
        query = stretched(self.family.query, self.reached.stretched)
        plan = self.family.plans[self.reached.stretched] = planner.compiled(query, self.first.entry)
        return plan

    def stretch(self, factor: int) -> None:
        """Evaluate one of `factor` instants from now on (load shedding)."""
        self.reached = replace(self.reached, stretched=factor)
        if self.family is None:
            self.first.plan = None

    def members(self, planner: Planner) -> ParameterTable | None:
        """The parameter table of its queries; None for a query that is evaluated alone."""
        varying = () if self.family is None else self.family.varying
        if len(self.tasks) == 1 and not varying and all(number is not None for _, number in self.reached.states):
            return None
        numbers = tuple(self.tasks)
        cached = self._members
        if cached is None or cached[0] is not self.plan or cached[1] != numbers:
            rows = [() if self.family is None else self.family.row(number) for number in numbers]
            cached = self._members = self.plan, numbers, planner.members(numbers, rows)
        return cached[2]

    def pass_over(self, span: Span) -> None:
        """Move the progress to the end of a span without answers."""
        self.reached = self.progress_after(span)

    def progress_after(self, span: Span) -> GroupProgress:
        """The progress after the span. Instants that load shedding has left out count as skipped."""
        skipped = self.reached.skipped
        if self.reached.stretched > 1:
            several, fewer = schedule(self.query), schedule(stretched(self.query, self.reached.stretched))
            skipped += several.count(span.after, span.through) - fewer.count(span.after, span.through)
        return replace(self.reached, progress=span.through, skipped=skipped)
