"""The sliced plan of a continuous query: every slice of time is evaluated as a whole by the kernel, without a shuffle.

    span            |-----------|-----------|-----------|    slices with about equally many elements
    task 2     (range)---------->                            reads its elements and those of one range before it

Windows are bounded in time, so a task has all that its instants see. A query that DuckDB cannot answer exactly as
SPARQL means it, or that needs more than fits into a slice, stays on the shuffled plan; `reason` says why.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import pyarrow as pa

from penstock import log
from penstock.algebra import ops
from penstock.algebra.windows import CountWindow, Window
from penstock.compile.context import Context, Plan
from penstock.compile.kernels import slices
from penstock.compile.kernels.slice_kernel import Program, Scan, Slice
from penstock.compile.operators.operators import compile_op
from penstock.compile.physical import counts_by_instant, physical_plan
from penstock.compile.reports import rstream, validity
from penstock.compile.sql import Query
from penstock.model.span import Span
from penstock.model.stream_files import StreamFiles
from penstock.optimise.adaptive import Adaptive
from penstock.spark.query.change_result import ChangeResult
from penstock.spark.query.context_builder import ContextBuilder, of_physical
from penstock.spark.query.evaluation import Evaluation
from penstock.spark.query.open_intervals import open_interval_table
from penstock.spark.query.query_traits import QueryTraits
from penstock.spark.query.slice_seams import JoinedSlices
from penstock.spark.query.slice_target import SliceTarget
from penstock.spark.query.sliced_rows import SlicedRows
from penstock.spark.query.snapshot_result import SlicedSnapshot
from penstock.spark.session.driver_kernel import driver_kernel
from penstock.spark.session.jobs import Jobs
from penstock.spark.views.background_tables import BackgroundTables

__all__ = ["SlicedQuery"]

BEFORE = "penstock_before"  # the open intervals that the evaluation before has left
_SHUFFLED = frozenset(("sequence_tasks", "view_lookup", "semijoin_reduction", "broadcast_join", "hash_join"))


@dataclass(frozen=True, slots=True)
class _Prepared:
    """A program for every span, the names of its columns, and the tables that it reads."""

    program: Program
    columns: tuple[str, ...]
    solution: tuple[str, ...]
    tables: Mapping[str, pa.Table]
    scans: Mapping[str, tuple[str, bool]]


class SlicedQuery:
    """The sliced plans of one query. `owner` is the user of the views that they read."""

    def __init__(
        self, traits: QueryTraits, background: BackgroundTables, adaptive: Adaptive, owner: object, local: bool
    ) -> None:
        self._traits, self._background, self._adaptive, self._owner = traits, background, adaptive, owner
        self._tuning, self._local = background.tuning, local
        self._jobs = Jobs(background.session, background.tuning)
        self._prepared: dict[Hashable, _Prepared] = {}
        self._refused: tuple[int, str] | None = None  # the background's version, and the reason
        self.reason: str | None = None
        self.slices = 0

    def result(self, evaluation: Evaluation) -> SlicedSnapshot | ChangeResult | None:
        """Return the answers of an evaluation; None if the shuffled plan has to give them: `reason` says why."""
        planned = self._refusal(evaluation) or self._prepare(evaluation)
        if isinstance(planned, str):
            if self.reason != planned:
                self.reason = planned
                log.fallback(None, "sliced_plan", self.reason)
            return None
        pieces, prepared = planned
        self.reason, self.slices = None, len(pieces)
        return self._answers(evaluation, prepared, pieces)

    def _refusal(self, evaluation: Evaluation) -> str | None:
        """Return why the shuffled plan is taken without a try; None if it is not."""
        if "sliced_plan" not in self._traits.choices:
            return "it is switched off"
        rows = sum(stream.rows for stream in evaluation.streams.values())
        if rows > self._tuning.slice_elements and self._is_one_slice:
            return f"a window has no bound, and {rows:,} elements do not fit into one slice"
        version, reason = self._refused or (None, None)
        return reason if version == self._background.version else None

    def _prepare(self, evaluation: Evaluation) -> tuple[list[Slice], _Prepared] | str:
        """Return the slices and the program, or why there are none. A query is not compiled again and again in vain."""
        spans = self._spans(evaluation)
        prepared = self._plan(evaluation)
        if isinstance(prepared, str):
            return self._refuse(prepared)
        pieces = [self._slice(span, prepared, evaluation.streams) for span in spans]
        if any(_is_remote(path) for piece in pieces for scan in piece.scans.values() for path in scan.paths):
            return self._refuse("the stream is on a file system that only Spark reads")
        return pieces, prepared

    def _refuse(self, reason: str) -> str:
        """Remember the reason until the background changes, and return it."""
        self._refused = self._background.version, reason
        return reason

    def _answers(
        self, evaluation: Evaluation, prepared: _Prepared, pieces: Sequence[Slice]
    ) -> SlicedSnapshot | ChangeResult:
        if self._traits.carries:
            return self._changes(evaluation, prepared, pieces)
        return SlicedSnapshot(self._rows(evaluation, prepared.program, prepared, pieces))

    def _changes(self, evaluation: Evaluation, prepared: _Prepared, pieces: Sequence[Slice]) -> ChangeResult:
        """Return the answers of a report with operator state, which the first slice continues."""
        traits, few, program = self._traits, self._tuning.open_intervals_here, prepared.program
        before = Scan(open_interval_table(evaluation.before, evaluation.members, prepared.solution))
        pieces = [replace(pieces[0], scans={**pieces[0].scans, BEFORE: before}), *pieces[1:]]
        if len(pieces) == 1:
            whole = self._rows(evaluation, replace(program, instants=None), prepared, pieces)
            return ChangeResult(whole, prepared.solution, traits.emit == "intervals", few)
        rows = self._rows(evaluation, program, prepared, pieces)
        spans, kernel = [Span(piece.after, piece.through) for piece in pieces], driver_kernel(self._jobs, self._tuning)
        joined = JoinedSlices(rows, spans, prepared.solution, traits.emit, evaluation.final, kernel)
        return ChangeResult(joined, prepared.solution, traits.emit == "intervals", few)

    def _rows(
        self, evaluation: Evaluation, program: Program, prepared: _Prepared, pieces: Sequence[Slice]
    ) -> SlicedRows:
        few = sum(stream.rows for stream in evaluation.streams.values()) <= self._tuning.driver_elements
        here = driver_kernel(self._jobs, self._tuning) if self._local and few else None
        rows = SlicedRows(self._jobs, program, prepared.columns, prepared.tables, pieces, here)
        if evaluation.job is not None:
            rows.share(evaluation.job)
        return rows

    # Slices

    @property
    def _is_one_slice(self) -> bool:
        """Whether the span cannot be cut: an instant may need all elements before it."""
        return None in self._reaches()

    def _reaches(self) -> list[int | None]:
        return [_lasts(stream.window) for stream in self._traits.query.streams]

    def _spans(self, evaluation: Evaluation) -> list[Span]:
        """Return the span in slices."""
        span, tuning = evaluation.span, self._tuning
        if self._is_one_slice:
            return [span]
        segments = [segment for stream in evaluation.streams.values() for segment in stream.segments]
        rows = sum(stream.rows for stream in evaluation.streams.values())
        wanted = self._jobs.cores if rows >= tuning.parallel_elements else 1
        overlap = max(reach or 0 for reach in self._reaches())
        most, overlaps = tuning.slice_elements, tuning.slice_overlaps
        return slices.cut(span, segments, rows, most, overlap, wanted, overlaps, self._before_instant)

    def _before_instant(self, time: int) -> int:
        """Return the last moment before the next instant: a slice that begins there reads no element in vain."""
        return self._traits.schedule.next_instant(time) - 1

    def _slice(self, span: Span, prepared: _Prepared, streams: Mapping[str, StreamFiles]) -> Slice:
        steps = self._traits.schedule
        has_count = not steps.at_changes and not self._traits.carries  # else it is unknown, or not needed
        count = steps.count(span.after, span.through) if has_count else None
        scans = {
            name: self._scan(streams[iri], ordered, self._near(iri, span))
            for name, (iri, ordered) in prepared.scans.items()
        }
        return Slice(span.after, span.through, scans, count)

    def _near(self, iri: str, span: Span) -> Span | None:
        """Return the timestamps that instants of a slice can see in a stream; None: any."""
        windows = [s.window for s in self._traits.query.streams if s.iri.value == iri]
        reaches = [self._traits.reach(window, span) for window in windows]
        bounded = [reach for reach in reaches if reach is not None]
        if len(bounded) < len(reaches):
            return None
        return Span(min(reach.after for reach in bounded), max(reach.through for reach in bounded))

    def _scan(self, stream: StreamFiles, ordered: bool, near: Span | None) -> Scan:
        table = self._background.scans.table(stream, None if near is None else (near,), ordered)
        if table is not None:
            return Scan(table)
        after, through = (None, None) if near is None else (near.after, near.through)
        return Scan(None, tuple(file for path in stream.paths for file in _files(path)), after, through)

    # Planning

    def _plan(self, evaluation: Evaluation) -> _Prepared | str:
        """Return the program of the query, or why there is none. That of few elements is used again until something
        else changes."""
        few = sum(stream.rows for stream in evaluation.streams.values()) < self._tuning.hinted_elements
        background = self._background
        background.static_views.refresh()
        predicates = tuple(background.stream_predicates(stream) for stream in evaluation.streams.values())
        key = (
            background.version,
            predicates,
            evaluation.members,
            evaluation.final,
            background.entailed,
            self._dropped(evaluation.streams),
        )
        if few and (reusable := self._prepared.get(key)) is not None:
            return reusable
        prepared = self._compiled(evaluation)
        if not isinstance(prepared, str):
            self._prepared = {key: prepared} if few else {}
        return prepared

    def _dropped(self, streams: Mapping[str, StreamFiles]) -> tuple[int, ...]:
        """Return how many elements the log has dropped, of streams whose elements a window counts: the text has these
        numbers."""
        counted = [s.iri.value for s in self._traits.query.streams if isinstance(s.window, CountWindow)]
        return tuple(streams[iri].dropped for iri in counted)

    def _compiled(self, evaluation: Evaluation) -> _Prepared | str:
        target, span, streams = SliceTarget(), evaluation.span, evaluation.streams
        builder = ContextBuilder(self._traits, self._background, target, self._owner)
        contents = builder.contents(streams, span)
        query = self._adaptive.plan(builder.statistics(contents, streams, span), span.through).query
        jobs = self._jobs
        tables = builder.tables(contents)
        plan = Plan(tables, target.materialise, query.base, "", target.fetch, target.publish)
        plan.dataset, plan.members, plan.tuning = query.dataset, evaluation.members, self._tuning
        plan.store, plan.filters_in_joins = target.store, True
        views = Plan(tables, jobs.materialise, query.base, "", jobs.fetch, jobs.publish, jobs.run_tasks, jobs.cores)
        views.dataset, views.members, views.tuning = plan.dataset, plan.members, plan.tuning
        views.counter, plan.view_plan = plan.counter, views
        try:
            context = builder.context(query, contents, span, plan)
            views.streaming = plan.streaming
            choices = self._traits.choices - _SHUFFLED
            if self._traits.emit == "rstream" and counts_by_instant(query, context):
                choices -= {"running_counts"}
            physical = physical_plan(query, context, choices, compile_op).query
            plan.streaming = views.streaming = of_physical(physical, plan.streaming)
            return self._written(physical, context, target, evaluation)
        finally:
            jobs.drop(views.views)

    def _written(
        self, query: ops.Query, context: Context, target: SliceTarget, evaluation: Evaluation
    ) -> _Prepared | str:
        rows, instants, solution = self._report(query, context, evaluation)
        program = target.program(rows, instants)
        if self._traits.carries:  # of every slice but the first, which continues the evaluation before
            target.publish(BEFORE, open_interval_table(None, evaluation.members, solution))
        read = (rows,) if instants is None else (rows, instants)
        tables = target.tables(read, self._jobs.catalog, self._tuning.slice_table_rows)
        if target.refusals:
            return target.refusals[0]
        refusal = driver_kernel(self._jobs, self._tuning).refusal(program, tables, target.scans)
        if refusal is not None:
            return f"DuckDB refuses its text: {refusal}"
        assert rows.columns is not None
        return _Prepared(program, rows.columns, tuple(solution), tables, dict(target.scans))

    def _report(
        self, query: ops.Query, context: Context, evaluation: Evaluation
    ) -> tuple[Query, Query | None, Sequence[str]]:
        """Return the rows of the report, the instants that have an answer, and the columns of a solution.

        With operator state the only such instant is the first one, at which the intervals of two slices are joined."""
        traits = self._traits
        if traits.emit == "events":
            return rstream.events(query, context), None, ()
        if traits.by_deltas:
            return rstream.delta_rows(query, traits.emit, context), None, ()
        if traits.emit == "rstream":
            return rstream.answers(query, context), context.universes[0].sql, ()
        columns, rows = rstream.intervals(query, BEFORE, context)
        span = context.span
        assert span is not None
        reported = validity.reported_intervals(traits.emit, rows, columns, span, evaluation.final)
        return reported, validity.first_instant(context), columns


def _lasts(window: Window) -> int | None:
    """Return how far back an instant sees; None if that has no bound in time."""
    if isinstance(window, CountWindow) or window.range is None:
        return None
    return window.range + getattr(window, "delay", 0) + getattr(window, "step", 0)


def _files(path: str) -> list[str]:
    """Return the Parquet files of a path, which may be a folder that Spark has written, or a remote one."""
    if _is_remote(path):
        return [path]
    place = Path(path.removeprefix("file://"))
    return sorted(map(str, place.glob("*.parquet"))) if place.is_dir() else [str(place)]


def _is_remote(path: str) -> bool:
    """Whether a path is that of a file system which DuckDB does not read here."""
    return "://" in path and not path.startswith("file://")
