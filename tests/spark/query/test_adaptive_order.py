"""The order of joins on Spark: as the algebra has it, another one when the stream has changed, and the same answers."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from penstock.algebra.build import translate
from penstock.algebra.ops import Bgp
from penstock.knowledge.oxigraph import OxigraphStore
from penstock.model.span import Span
from penstock.model.stream_files import StreamFiles
from penstock.optimise.walk import nodes
from penstock.spark.query.continuous_query import ContinuousQuery
from penstock.spark.query.evaluation import Evaluation
from penstock.spark.session.session import private
from penstock.spark.views.background_tables import BackgroundTables
from penstock.stream.log.segment import segment_of, write_part
from penstock.tuning import Tuning

NS, STREAM, STEP = "http://example.org/", "http://example.org/stream", 1_000_000
QUERY = f"""PREFIX : <{NS}> SELECT ?k ?m FROM STREAM <{STREAM}> [RANGE 1s TUMBLING]
WHERE {{ ?x :a ?k . ?k :b ?m . ?m :c ?y }}"""
SHUFFLED = ["-sliced_plan"]
WITHOUT = ["-order_joins", *SHUFFLED]
KEYS = 20


@pytest.fixture(scope="module")
def background(spark: Any) -> BackgroundTables:
    return BackgroundTables(private(spark), OxigraphStore())


def elements(number: int, a: int, c: int, folder: Path) -> StreamFiles:
    """A second of the stream: so many :a and :c, and a :b between any two keys."""
    rows = [(f"x{i}", "a", f"k{i % KEYS}") for i in range(a)]
    rows += [(f"k{i}", "b", f"m{j}") for i in range(KEYS) for j in range(KEYS)]
    rows += [(f"m{i % KEYS}", "c", f"y{i}") for i in range(c)]
    columns = [[f"<{NS}{row[place]}>" for row in rows] for place in range(3)]
    times = [number * STEP + 1 + i for i in range(len(rows))]
    table = pa.table(dict(zip("spo", columns, strict=True)) | {"ts": times})
    segment = segment_of([write_part(table, folder / f"{number}.parquet")], number, {})
    return StreamFiles(segment.paths, frozenset(segment.predicates or ()), 0, segment.rows, (segment,))


def test_the_order_follows_the_stream(spark: Any, tmp_path: Path) -> None:
    """So few elements that hardly anything is gained."""
    background = BackgroundTables(private(spark), OxigraphStore(), Tuning(reorder_gain=0.999))
    adaptive = ContinuousQuery(translate(QUERY), background, rules=SHUFFLED)
    fixed = ContinuousQuery(translate(QUERY), background, rules=WITHOUT)
    for number, (a, c) in enumerate([(2, 400), (2, 300), (400, 2)]):
        stream = {STREAM: elements(number, a, c, tmp_path)}
        span = Span(number * STEP, (number + 1) * STEP)
        answers = [
            sorted(map(str, way.evaluate(Evaluation(stream, span)).collect().to_pylist())) for way in (adaptive, fixed)
        ]
        assert answers[0] == answers[1]
        assert len(answers[0]) == 2 * max(a, c) * (KEYS if max(a, c) >= KEYS else 1) // KEYS
    (change,) = adaptive.history
    assert change.time == 3 * STEP
    assert (first(change.before), first(change.after)) == ("a", "c")
    assert fixed.history == ()


def first(op: Any) -> str:
    """The predicate that is read first."""
    bgp = next(node for node in nodes(op) if isinstance(node, Bgp))
    return str(bgp.patterns[0].predicate).removesuffix(">")[-1]


def test_spark_joins_in_that_order(background: BackgroundTables, tmp_path: Path) -> None:
    """From the left, whatever it may think of the sizes: the last join is the first one that its plan names."""
    stream = {STREAM: elements(0, 300, 2, tmp_path)}
    for rules, variables in ((SHUFFLED, ["k", "m"]), (WITHOUT, ["m", "k"])):
        evaluated = ContinuousQuery(translate(QUERY), background, rules=rules).evaluate(
            Evaluation(stream, Span(0, STEP))
        )
        plan = evaluated.frame._jdf.queryExecution().optimizedPlan().toString()
        joins = [line for line in plan.splitlines() if "Join Inner" in line]
        assert [var for line in joins for var in re.findall(r"\b([km])#\d+ =", line)] == variables, plan
