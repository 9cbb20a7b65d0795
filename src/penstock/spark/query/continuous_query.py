"""Continuous queries: the same plan at every instant, all due instants in one Spark job.

An evaluation is a pure function of the streams' elements, the background and the span of instants.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager

from pyspark.sql import DataFrame

from penstock.algebra import ops
from penstock.algebra.schedule import Schedule
from penstock.compile import probe
from penstock.compile.context import Context, Plan
from penstock.compile.operators.operators import compile_op
from penstock.compile.parameter_table import ParameterTable
from penstock.compile.physical import physical_plan
from penstock.compile.reports import rstream, validity
from penstock.compile.windows.evaluation_instants import PeriodicInstants
from penstock.model.span import Span
from penstock.model.stream_files import StreamFiles
from penstock.optimise.adaptive import Adaptive, Reordered
from penstock.optimise.cost import rows_made
from penstock.options import Duplicates, Emit
from penstock.spark.query.answer_rows import SparkRows
from penstock.spark.query.change_result import ChangeResult
from penstock.spark.query.context_builder import ContextBuilder, non_empty_instants, of_physical
from penstock.spark.query.evaluation import Evaluation
from penstock.spark.query.open_intervals import read_open_intervals
from penstock.spark.query.query_traits import traits_of
from penstock.spark.query.sliced_query import SlicedQuery
from penstock.spark.query.snapshot_result import SlicedSnapshot, SnapshotResult
from penstock.spark.query.spark_target import SparkTarget
from penstock.spark.session.jobs import Jobs
from penstock.spark.views.background_tables import BackgroundTables

__all__ = ["ContinuousQuery"]


class ContinuousQuery:
    """One registered query, optimised once and evaluated span by span: by slices, or by Spark's shuffled plan."""

    def __init__(
        self,
        query: ops.Query,
        background: BackgroundTables,
        *,
        duplicates: Duplicates = "keep",
        emit: Emit | None = None,
        rules: Collection[str] | None = None,
        retention: int | None = None,
        local: bool = False,
    ) -> None:
        if duplicates not in ("keep", "merge"):
            raise ValueError(f'duplicates is "keep" or "merge", not {duplicates!r}')
        self._background = background
        self._traits = traits_of(query, duplicates, emit, rules, retention)
        self._query = self._traits.query
        self._adaptive = Adaptive(self._query, rules, background.tuning)
        self._jobs = Jobs(background.session, background.tuning)
        self._contexts = ContextBuilder(self._traits, background, SparkTarget(background, self._jobs, self), self)
        self._sliced = SlicedQuery(self._traits, background, self._adaptive, self, local)
        self._members: ParameterTable | None = None

    @property
    def emit(self) -> str:
        """The report: rstream, istream, dstream, intervals or events."""
        return self._traits.emit

    @property
    def schedule(self) -> Schedule:
        return self._traits.schedule

    def evaluate(self, evaluation: Evaluation) -> SnapshotResult | SlicedSnapshot | ChangeResult:
        """Return the answers at the instants of the span, as rows that are not computed yet.

        A probe sees the shuffled plan, whose relations can be counted one by one."""
        self._set_members(evaluation.members)
        sliced = None if probe.is_active() else self._sliced.result(evaluation)
        if sliced is not None:
            return sliced
        self._tune_jobs(_rows(evaluation.streams))
        return self._result(evaluation)

    def engine_for(self, evaluation: Evaluation) -> str:
        """Return which engine evaluates it, for `explain`: in how many slices, or why not in slices. Nothing runs."""
        self._set_members(evaluation.members)
        if self._sliced.result(evaluation) is None:
            return f"by Spark's shuffled plan: {self._sliced.reason}"
        slices = self._sliced.slices
        return f"by DuckDB, {slices:,} slice{'s' * (slices > 1)} of time"

    def _tune_jobs(self, rows: int, joined_rows: float = 0.0) -> None:
        """Set partitions and code generation for the rows that are read, with those of the members, and joined."""
        member_rows = 0 if self._members is None else len(self._members.numbers)
        self._jobs.tune_for(rows + member_rows, self._traits.joins or self._members is not None, joined_rows)

    def _set_members(self, members: ParameterTable | None) -> None:
        """Replace the members of the family, and drop the table of the former ones."""
        if self._members is not None and members is not self._members:
            self._members.drop(self._jobs.catalog)
        self._members = members

    def _result(self, evaluation: Evaluation) -> SnapshotResult | ChangeResult:
        """Return the result of the report that the query has."""
        streams, span = evaluation.streams, evaluation.span
        with self._planned(streams, span) as (query, context):
            if self.emit == "events":
                frame = self._jobs.rows(rstream.events(query, context))
                return SnapshotResult(frame, [], lambda _: frame)
            if self._traits.by_deltas:
                frame = self._jobs.rows(rstream.delta_rows(query, self.emit, context))
                return SnapshotResult(frame, [], lambda _: frame)
            if self.emit != "rstream":
                return self._interval_result(query, evaluation, context)
            frame = self._jobs.rows(rstream.answers(query, context))
            streaming = context.plan.streaming
            assert streaming is not None
            if isinstance(streaming.timeline, PeriodicInstants):
                instants = streaming.timeline
                return SnapshotResult(frame, instants, lambda missing: self._non_empty(streams, missing))
            times = self._jobs.rows(context.universes[0].sql)
            return SnapshotResult(frame, None, lambda _: times)

    def _interval_result(self, query: ops.Query, evaluation: Evaluation, context: Context) -> ChangeResult:
        """Return the result with operator state; only instants with a change have an answer."""
        view, frame = None, read_open_intervals(self._jobs.session, evaluation.before, self._members)
        if frame is not None:
            view = context.plan.new_view()
            frame.createOrReplaceTempView(view)
        columns, rows = rstream.intervals(query, view, context)
        intervals = self._jobs.rows(
            validity.reported_intervals(self.emit, rows, columns, evaluation.span, evaluation.final)
        )
        return ChangeResult(
            SparkRows(intervals), columns, self.emit == "intervals", self._background.tuning.open_intervals_here
        )

    def _non_empty(self, streams: Mapping[str, StreamFiles], span: Span) -> DataFrame:
        """Return the instants of the span at which some window holds an element."""
        contents = self._contexts.contents(streams, span)
        return self._jobs.rows(non_empty_instants(PeriodicInstants(self.schedule.steps, span), contents))

    @property
    def history(self) -> tuple[Reordered, ...]:
        """The changes of the join order with their reasons, the newest last."""
        return tuple(self._adaptive.history)

    @property
    def carries(self) -> bool:
        """Whether an evaluation reads the operator state of the one before."""
        return self._traits.carries

    @property
    def report(self) -> str | None:
        """The algorithm of the report, for `explain`; None if the answers of an instant are the report."""
        if self._traits.by_deltas:
            return "from deltas, without operator state"
        return "from validity intervals, with operator state" if self.carries else None

    def close(self) -> None:
        """Release the views that this query has in Spark."""
        self._background.static_views.release(self)
        self._background.change_instants.release(self)
        self._background.window_unions.release(self)
        self._set_members(None)

    # Planning

    @contextmanager
    def _planned(self, streams: Mapping[str, StreamFiles], span: Span) -> Iterator[tuple[ops.Query, Context]]:
        """Yield the optimised query and the context to compile it in.

        The views of the plan exist until the block ends: inside it the SQL text has to become a DataFrame. Its job runs
        later, when the result is collected.
        """
        self._background.static_views.refresh()
        self._background.window_unions.release(self)  # those of an older span
        contents = self._contexts.contents(streams, span)
        statistics, tables = self._contexts.statistics(contents, streams, span), self._contexts.tables(contents)
        optimised = self._adaptive.plan(statistics, span.through)
        query, jobs = optimised.query, self._jobs
        plan = Plan(tables, jobs.materialise, query.base, "", jobs.fetch, jobs.publish, jobs.run_tasks, jobs.cores)
        plan.dataset, plan.members, plan.tuning = query.dataset, self._members, self._background.tuning
        read_rows, joined_rows = 0, 0.0
        try:
            context = self._contexts.context(query, contents, span, plan)
            physical = physical_plan(query, context, self._traits.choices, compile_op)
            read_rows = int(physical.background_rows) + physical.view_rows // plan.tuning.view_rows_per_read
            joined_rows = rows_made(query.pattern, statistics, plan.tuning, physical.selectivity)
            plan.streaming = of_physical(physical.query, plan.streaming)
            probe.planned(optimised, physical.query, statistics, contents)
            yield physical.query, context
        finally:
            # Spark resolved the views' names when the caller made its DataFrame: the job, which runs later, does not
            # need them.
            jobs.drop(plan.views)
            self._tune_jobs(_rows(streams) + read_rows, joined_rows)


def _rows(streams: Mapping[str, StreamFiles]) -> int:
    return sum(stream.rows for stream in streams.values())
