"""The slices of all queries that are due together are one Spark job, in which each query can fail alone."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from typing import Any

import pyarrow as pa
import pytest

from penstock import Engine, PenstockError
from penstock.compile.kernels.slice_kernel import Program, Scan, Slice
from penstock.spark.query.sliced_rows import SlicedRows, SliceJob
from penstock.spark.session import tasks
from penstock.spark.session.jobs import Jobs
from penstock.spark.session.sent_tables import sent_tables
from penstock.spark.session.session import private
from penstock.tuning import Tuning

S = "http://e/s"
LIST = f"PREFIX : <http://e/> SELECT ?x FROM STREAM <{S}> [RANGE 1s STEP 1s] {{ ?x :at :r%s }}"
COUNT = f"PREFIX : <http://e/> SELECT (COUNT(?x) AS ?n) FROM STREAM <{S}> [RANGE 1s STEP 1s] {{ ?x :at :r%s }}"
SCHEMA = pa.schema([("c0", pa.int64())])


def rows(jobs: Jobs, query: str, slices: int = 1) -> SlicedRows:
    elements = pa.table({"n": [1, 2, 3]})
    pieces = [Slice(number, number + 1, {"elements": Scan(elements)}) for number in range(slices)]
    return SlicedRows(jobs, Program(query, SCHEMA), ["n"], {"more": pa.table({"m": [10]})}, pieces, None)


def jobs_of(spark: Any, work: Any) -> int:
    """Return how many jobs of Spark `work` starts."""
    tracker = spark.sparkContext.statusTracker()
    before = set(tracker.getJobIdsForGroup(None))
    work()
    return len(set(tracker.getJobIdsForGroup(None)) - before)


@pytest.fixture(scope="module")
def jobs(spark: Any) -> Jobs:
    return Jobs(private(spark))


def test_rows_of_several_queries_are_computed_by_one_job(spark: Any, jobs: Jobs) -> None:
    job = SliceJob()
    several = [
        rows(jobs, "SELECT n FROM elements"),
        rows(jobs, "SELECT n + m FROM elements, more WHERE span_after() < 2", slices=3),
        rows(jobs, "SELECT n FROM elements WHERE n > 5"),
    ]
    for one in several:
        one.share(job)
    assert len(job) == 3
    found: list[list[Any]] = []
    started = jobs_of(spark, lambda: found.extend(sorted(one.collect().column("n").to_pylist()) for one in several))
    assert (started, len(job)) == (1, 0)
    assert found == [[1, 2, 3], [11, 11, 12, 12, 13, 13], []]


def test_a_query_that_fails_leaves_the_others_their_rows(jobs: Jobs) -> None:
    job = SliceJob()
    good, bad = rows(jobs, "SELECT n FROM elements"), rows(jobs, "SELECT error('no such lane') FROM elements")
    good.share(job)
    bad.share(job)
    with pytest.raises(PenstockError, match=r"^DuckDB failed: Invalid Input Error: no such lane$"):
        bad.collect()
    assert good.collect().column("n").to_pylist() == [1, 2, 3]


def test_rows_that_share_no_job_have_one_of_their_own(spark: Any, jobs: Jobs) -> None:
    alone = rows(jobs, "SELECT n FROM elements", slices=2)
    assert jobs_of(spark, alone.collect) == 1
    assert jobs_of(spark, alone.collect) == 0
    assert alone.collect().column("n").to_pylist() == [1, 2, 3, 1, 2, 3]


def test_all_queries_of_a_run_are_one_job(spark: Any, tmp_path: Any) -> None:
    """Queries of different shapes; one reads the stream that another derives, and so has to wait for it."""
    path = tmp_path / "s.nq"
    stamp = '"2026-03-02T09:00:0{}Z"^^<http://www.w3.org/2001/XMLSchema#dateTime>'
    path.write_text("".join(f"<http://e/x{n}> <http://e/at> <http://e/r1> {stamp.format(n)} .\n" for n in range(4)))
    derived = f"""PREFIX : <http://e/> REGISTER STREAM <http://e/d> AS CONSTRUCT {{ ?x :seen true }}
    FROM STREAM <{S}> [RANGE 1s STEP 1s] {{ ?x :at :r1 }}"""
    reader = "PREFIX : <http://e/> SELECT ?x FROM STREAM <http://e/d> [RANGE 1s STEP 1s] { ?x :seen true }"
    with Engine(spark=spark) as engine:
        engine.stream(S, path)
        queries = [engine.register(text) for text in (LIST % 1, COUNT % 1, derived, reader)]
        started = jobs_of(spark, engine.run)
        answers = [[[str(row) for row in answer] for answer in query.answers()] for query in (queries[0], queries[3])]
    assert started == 2
    assert answers[0] == answers[1]
    assert len(answers[0]) == 4


def test_workers_keep_large_tables(spark: Any) -> None:
    """The second job sends nothing but the name of the table; a third table leaves no place for the first."""
    jobs = Jobs(private(spark), Tuning(broadcast_table_bytes=1_000, broadcast_tables_bytes=25_000))
    large = [pa.table({"m": list(range(at, at + 1_000))}) for at in range(3)]
    pieces = [Slice(0, 1)]

    def total(table: pa.Table) -> int:
        rows = SlicedRows(jobs, Program("SELECT sum(m) FROM more", SCHEMA), ["n"], {"more": table}, pieces, None)
        found: int = rows.collect().column("n")[0].as_py()
        return found

    sums = [total(table) for table in (large[0], large[0], large[1], large[2], large[0])]
    assert sums == [499_500, 499_500, 500_500, 501_500, 499_500]
    kept = sent_tables(spark.sparkContext).broadcasts([], 0, 25_000)
    again = sent_tables(spark.sparkContext).broadcasts([large[0], large[2]], 1_000, 25_000)
    assert (kept, set(again)) == ({}, {id(large[0]), id(large[2])})
    assert jobs.broadcasts([pa.table({"m": [1]})]) == {}


def worker(_share: bytes, _large: Mapping[int, pa.Table]) -> list[int]:
    """Return the process that runs a task."""
    return [os.getpid()]


def test_workers_last_from_job_to_job(spark: Any) -> None:
    """A worker starts in half a second, and has to load the kernel."""
    modules = (sys.modules[__name__],)
    workers = [tasks.collect(spark.sparkContext, [b""], worker, modules)[0] for _ in range(8)]
    assert len(set(workers)) <= spark.sparkContext.defaultParallelism
    assert os.getpid() not in workers
