"""The thresholds by which Penstock chooses how to work: one frozen record, given to `Engine(tuning=…)`.

No value changes the answer at an instant. A size without a unit in its name counts rows. `penstock doctor` prints the
record. This module imports nothing of Penstock, so every part may read it, and it travels to Spark's workers.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, fields
from typing import NamedTuple, TypeVar

__all__ = ["DEFAULT", "SECTIONS", "Setting", "Tuning"]

Value = TypeVar("Value", int, float)


def _set(value: Value, why: str) -> Value:
    """A field with this default and this explanation."""
    return field(default=value, metadata={"why": why})


@dataclass(frozen=True, slots=True, kw_only=True)
class Tuning:
    """All thresholds, each with its default and the reason for it. `replace` makes another record."""

    # Planning of joins and views
    broadcast_elements: int = _set(10_000, "a side with at most so many elements is sent to every task")
    broadcast_view_rows: int = _set(100_000, "a view up to this size is broadcast by Spark itself, without a hint")
    hinted_elements: int = _set(200_000, "from so many elements on, Spark is told how to join")
    bucket_copy_cost: float = _set(30.0, "cost of bringing a row to its join, where looking at a pair of rows costs 1")
    bucket_job_cost: float = _set(2e7, "cost of a job whatever it reads, in the same unit")
    bucket_gain: float = _set(2.0, "a join in buckets of time has to be so many times as cheap, for estimates err")
    semijoin_terms: int = _set(1_000, "the longest list of terms that a semi-join reduction writes into a condition")
    semijoin_share: float = _set(0.2, "a window is reduced if less than this share of its terms is asked for")
    lookup_view_rows: int = _set(5_000, "a view below this size is read whole: nothing is gained by a look-up")
    lookup_share: float = _set(0.5, "a view is read whole if more than this share of its rows is asked for")
    path_edges: int = _set(20_000, "the closure of a path with at most so many edges is computed without Spark jobs")
    path_pairs: int = _set(200_000, "a closure that grows beyond this is left to Spark jobs")
    path_views: int = _set(10, "views of a closure that are united, and planned, in every step")
    entailment_pairs: int = _set(40, "pairs of an ontology that are written into the SQL; more become a view")
    numbering_slice_us: int = _set(10_000_000, "microseconds of a stream that one task numbers, for windows by count")
    sequence_task_elements: int = _set(500_000, "elements that a task of a sequence reads")
    sequence_tasks_per_core: int = _set(2, "tasks of a sequence for each core, at least")
    sequence_margin: int = _set(8, "a task's piece of time is so many times as long as the overlap before it")
    sequence_pairs: int = _set(2_000_000, "pairs of events that a task of a sequence makes at once")
    sequence_batch_rows: int = _set(65_536, "rows that a task of a sequence hands to Spark at once")
    join_order_operands: int = _set(12, "of joins with more operands only greedy orders are tried; this takes some ms")
    join_order_starts: int = _set(3, "greedy join orders start from so many of the smallest operands")
    rule_passes: int = _set(10, "a rule of the optimiser that still changes the plan after so many passes is stopped")
    reorder_gain: float = _set(0.8, "a new join order has to cost less than this share of the present one")
    reorder_history: int = _set(100, "changes of the join order that are remembered")
    static_join_rows: float = _set(5_000_000.0, "a static join up to this estimate is one view")
    static_join_growth: float = _set(4.0, "and so is one with at most so many times the rows of its largest operand")
    pushed_group_rows: float = _set(30_000.0, "rows that take as long to aggregate as the union of two partial results")
    join_us: float = _set(33_000.0, "microseconds that a join costs, whatever it joins, by the cost model")
    moved_row_us: float = _set(0.39, "and for each row that comes to it by a shuffle")
    ready_row_us: float = _set(0.0056, "and for each row of a materialised view, which lies ready for it")
    made_row_us: float = _set(0.068, "and for each row that it makes")
    filter_selectivity: float = _set(0.3, "share of rows that a condition is estimated to keep")
    equality_selectivity: float = _set(0.05, "and that of an equation")
    path_growth: float = _set(5.0, "triples of the closure of a path for each triple of the graph, by estimate")
    inline_chars: int = _set(50, "characters of an expression that is repeated in the SQL, and not made a column")

    # Sizes of Spark jobs
    task_rows: int = _set(250_000, "rows that a task holds with ease, in a hash join and as a part of the answer")
    slice_elements: int = _set(500_000, "elements of one slice of a span, which a task evaluates as a whole")
    slice_overlaps: int = _set(3, "a slice is so many times as long as the overlap before it, if cores are busy")
    parallel_elements: int = _set(50_000, "from so many elements on, there is a slice for every core")
    copied_instants: int = _set(4, "instants at which an element is seen, to which a slice copies the counts of panes")
    driver_elements: int = _set(50_000, 'elements of a round that this process evaluates itself with rounds="auto"')
    shared_job_elements: int = _set(200_000, "elements of a query that shares its Spark job with others that are due")
    slice_table_rows: int = _set(1_000_000, "rows of a table of the background that is sent to every slice")
    broadcast_table_bytes: int = _set(
        1 << 20, "bytes of a table that workers keep, and that is not sent with every job"
    )
    broadcast_tables_bytes: int = _set(1 << 30, "bytes of all tables that workers keep")
    slice_answer_rows: int = _set(100_000, "rows of an answer that the task of a slice sends at once")
    kernel_programs: int = _set(256, "programs of sliced plans whose DuckDB plans are kept: as many as come by turns")
    slice_memory: int = _set(4_096, "mebibytes that a slice uses before DuckDB writes to disk")
    small_job_rows: int = _set(50_000, "a job below this size has one partition, and no compiled or adaptive plan")
    made_rows_per_read: int = _set(10, "rows that a join makes are as much work as one that is read")
    view_rows_per_read: int = _set(40, "rows of a view are as much work as one of a stream: they are only looked up")
    plan_rows: int = _set(5_000, "a table up to this size is part of the plan; a larger one would be hashed repeatedly")
    sent_view_rows: int = _set(100_000, "a view up to this size is sent along with each plan")
    packed_view_rows: int = _set(10_000_000, "a view up to this size is also kept in this process, for look-ups")
    packed_views_bytes: int = _set(256 << 20, "bytes that all these copies may take")
    family_view_rows: int = _set(1_000_000, "a view of a query family with more rows is made without its constants")
    sent_elements: int = _set(50_000, "elements of a window that are read in this process and sent along with a plan")
    sent_files: int = _set(100, "files that are opened for it")
    remembered_elements: int = _set(200_000, "elements of files that were read: windows overlap from round to round")
    window_scans: int = _set(8, "from so many more scans than patterns on, several windows are united in one relation")
    scan_views: int = _set(16, "views of streams that are kept: a round has few streams")
    counted_streams: int = _set(16, "streams whose statistics are kept")
    sample_runs: int = _set(8, "runs of rows that are read to estimate how often the terms of a stream occur")
    sample_run_rows: int = _set(1_024, "rows of such a run")
    sample_gap_rows: int = _set(32_768, "rows at most between two runs in a row group: all of them are read too")
    sample_buffer_bytes: int = _set(1 << 16, "bytes read at a time, lest a whole column be read for its first rows")
    footer_files: int = _set(64, "the predicates of up to so many Parquet files are found without a Spark job")
    footer_rows: int = _set(10_000_000, "and of up to so many rows: numbers and a short dictionary, quicker than a job")
    known_predicates: int = _set(10_000, "predicates that are counted: the most frequent are enough to order joins")
    cached_triples: int = _set(100_000, "from so many triples on, Spark keeps the background in its columnar form")
    short_run_bytes: int = _set(
        4 << 20, "a command on files up to this size in all takes seconds: Java compiles quickly"
    )
    archive_days: int = _set(30, "days after its last use at which a class-data archive is removed")
    archive_room_bytes: int = _set(1 << 30, "bytes that have to be free on the disk to write such an archive of 170 MB")
    open_intervals_here: int = _set(50_000, "open intervals up to this number are written by this process")

    # Evaluation rounds
    job_instants: int = _set(100_000, "instants of one job at most, so that its answers fit into memory")
    smaller_pieces: int = _set(8, "jobs in the place of one whose answers are too large to be collected at once")
    job_elements: int = _set(1_000, "a job with fewer elements is not worth its cost")
    waiting_instants: int = _set(4, "instants that may wait before load shedding leaves some out")
    template_texts: int = _set(4, "from so many texts on that are equal but for constants, the next are not parsed")
    text_templates: int = _set(256, "templates of such texts that are kept")
    answer_rows: int = _set(100_000, "rows of an answer that may be Python objects at the same time")
    live_answer_rows: int = _set(1_000_000, "rows of answers that are kept for a reader of a live query")
    written_answers: int = _set(1_000, "answers that a sink of files writes at once")
    slow_round_us: int = _set(10_000_000, "microseconds after which a round is logged as slow, also without a step")
    sink_patience_us: int = _set(100_000, "microseconds that a round waits for a sink; then it goes on without it")
    stop_patience_us: int = _set(10_000_000, "microseconds that stop() waits for sinks alone; then it leaves them")
    retry_wait_us: int = _set(100_000, "microseconds before a sink is tried again; each further wait is twice as long")
    retry_longest_us: int = _set(10_000_000, "but never longer than this")
    tick_us: int = _set(20_000, "microseconds between two looks at time that moves by itself, at least")
    rule_prune_steps: int = _set(100, "steps of a rule machine after which its memories drop elements that are too old")
    rule_prune_rows: int = _set(1_000, "a memory below this size is not pruned")
    rule_values: int = _set(20_000, "computed values of an expression of a rule that are remembered")
    rule_query_rows: int = _set(5_000, "rows for which an expression of a rule is computed by one query")

    # Ingest and log
    compaction_fanout: int = _set(16, "neighbouring segments that are worth a merge; a row is written log₁₆ n times")
    compaction_rows: int = _set(1 << 18, "a segment of this size is not merged: a file's own cost no longer matters")
    small_files_bytes: int = _set(4 << 20, "files up to this size are parsed here, faster than a Spark job is planned")
    kept_bad_lines: int = _set(1_000, "malformed lines of a file that are kept; all of them are counted")
    kept_line_chars: int = _set(10_000, "characters kept of such a line: a file that is no text has very long ones")
    segment_part_rows: int = _set(1 << 19, "rows of a Parquet file of the log, about")
    sketch_rows: int = _set(10_000, "rows of a file that are sketched; the others are taken to be like these")
    sketch_predicates: int = _set(200, "predicates of a file that have a sketch: manifests stay small")
    pause_us: int = _set(3_600_000_000, "microseconds without an element that segments remember: there they are cut")
    stretches: int = _set(
        16, "stretches of elements between such pauses that a segment remembers, and a span is cut into"
    )
    push_bytes: int = _set(8 << 20, "bytes of pushed text that are parsed and made durable at once, about")
    staged_segments: int = _set(16, "rounds whose pushes are read from unsynced files, before the journal is folded")
    backlog_bytes: int = _set(64 << 20, "bytes of a stream that wait for a round before its producers are slowed")
    journal_bytes: int = _set(8 << 20, "a journal of this size becomes a segment: its elements are held in memory")

    # Reading of text
    slow_lines: int = _set(64, "lines that are read one by one before the kernel's expression would be compiled")
    block_bytes: int = _set(8 << 20, "bytes of a block of lines: few calls, and still near the processor")
    split_bytes: int = _set(80 << 20, "bytes of a split of a file: half a second of parsing, far above a task's cost")
    chunk_bytes: int = _set(8 << 20, "bytes of a file that are read at a time")
    plan_depth: int = _set(1_000, "operators in one another, or conditions in a row: the stacks of stores are short")
    lift_messages: int = _set(32_768, "messages that are lifted at once: whole columns, still near the processor")
    slow_messages: int = _set(32, "messages of JSON that Python reads one by one before a call of DuckDB pays")
    query_depth: int = _set(100, "levels of brackets in a query: each takes a part of Python's stack")
    graph_lines: int = _set(10_000, "lines of a stream of graphs that are parsed one by one; then whole blocks are")
    graph_rows: int = _set(1 << 16, "rows of graphs that are handed on at once")
    lift_depth: int = _set(8, "names of a path to a nested object of JSON-LD that is lifted by columns")
    lift_names: int = _set(200, "names of the objects of a batch; objects with others are lifted one by one")
    lift_rules: int = _set(10_000, "rules or IRIs of a context that are remembered")

    # Diagnosis
    why_solutions: int = _set(10_000, "solutions of a widened pattern that `why` looks at")
    why_derived: int = _set(1_000, "elements derived by rules that `why` explains in turn")
    why_values: int = _set(1_000, "values of a variable that `why` compares")
    why_letters: int = _set(100_000, "dead letters that `why` reads")

    def settings(self) -> Iterator[Setting]:
        """The fields in order, with their values and explanations."""
        section = ""
        for each in fields(self):
            section = SECTIONS.get(each.name, section)
            yield Setting(section, each.name, getattr(self, each.name), each.metadata["why"])


class Setting(NamedTuple):
    """A threshold as it is printed."""

    section: str
    name: str
    value: int | float
    explanation: str

    @property
    def text(self) -> str:
        """The value for people."""
        return f"{self.value:,}" if isinstance(self.value, int) or self.value < 1_000 else f"{self.value:,.0f}"


SECTIONS = {
    "broadcast_elements": "Planning of joins and views",
    "task_rows": "Sizes of Spark jobs",
    "job_instants": "Evaluation rounds",
    "compaction_fanout": "Ingest and log",
    "slow_lines": "Reading of text",
    "why_solutions": "Diagnosis",
}
"""The titles, each at the first field of its section."""

DEFAULT = Tuning()
