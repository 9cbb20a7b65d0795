"""The side of a join that Spark is told to broadcast: one with a bound on its elements, and no other."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from penstock.algebra.build import translate
from penstock.knowledge.oxigraph import OxigraphStore
from penstock.model.span import Span
from penstock.model.stream_files import StreamFiles
from penstock.spark.query.continuous_query import ContinuousQuery
from penstock.spark.query.evaluation import Evaluation
from penstock.spark.session.session import private
from penstock.spark.views.background_tables import BackgroundTables
from penstock.stream.base.clock import SystemClock
from penstock.stream.ingest.bounded_sources import BoundedSources
from penstock.stream.ingest.dead_letters import DeadLetters
from penstock.stream.ingest.stream_declaration import declare
from penstock.stream.log.stream_log import StreamLog
from penstock.tuning import DEFAULT

NS, STREAM = "http://example.org/", "http://example.org/stream"
QUERY = f"""PREFIX : <{NS}> SELECT ?x ?z FROM STREAM <{STREAM}> [RANGE 1s TUMBLING] WHERE {{ ?x :a ?y . ?y :b ?z }}"""

FEW = DEFAULT.broadcast_elements


def in_place(rows: int, folder: Path) -> StreamFiles:
    """A stream of Parquet as a bounded run reads it: where it lies, with nothing counted."""
    half = rows // 2
    subjects = [f"<{NS}x{i}>" for i in range(half)] + [f"<{NS}y{i}>" for i in range(half)]
    objects = [f"<{NS}y{i}>" for i in range(half)] + [f"<{NS}z{i}>" for i in range(half)]
    predicates = [f"<{NS}a>"] * half + [f"<{NS}b>"] * half
    path = folder / "stream.parquet"
    pq.write_table(pa.table({"s": subjects, "p": predicates, "o": objects, "ts": list(range(1, 2 * half + 1))}), path)
    streams = {STREAM: declare(path, None, None, False, None)}
    sources = BoundedSources(StreamLog(folder / "log"), DeadLetters(folder / "dead"), SystemClock(), streams)
    (segment,) = sources.read(STREAM, lambda: pytest.fail("needs no Spark"), in_place=True)
    return StreamFiles(segment.paths, None, 0, segment.rows, (segment,))


@pytest.mark.parametrize(("rows", "hint"), [(FEW, True), (4 * FEW, False)])
def test_a_stream_that_is_read_where_it_lies_is_broadcast_only_if_it_has_few_rows(
    spark: Any, tmp_path: Path, rows: int, hint: bool
) -> None:
    stream = {STREAM: in_place(rows, tmp_path)}
    background = BackgroundTables(private(spark), OxigraphStore())
    query = ContinuousQuery(translate(QUERY), background, rules=["-sliced_plan"])
    evaluated = query.evaluate(Evaluation(stream, Span(0, 1_000_000)))
    plan = evaluated.frame._jdf.queryExecution().optimizedPlan().toString()
    assert ("strategy=broadcast" in plan) is hint, plan
    assert evaluated.collect().num_rows == rows // 2
