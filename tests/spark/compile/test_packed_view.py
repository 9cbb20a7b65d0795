"""Kept parts of which only the rows are read that a few elements ask for: the answers stay as they are without."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from penstock.algebra.build import translate
from penstock.algebra.windows import SlideWindow
from penstock.compile import probe, sql
from penstock.compile.views import packed_view
from penstock.compile.windows import stream_to_relation
from penstock.compile.windows.evaluation_instants import ChangeInstants
from penstock.model.span import Span
from penstock.model.stream_files import StreamFiles
from penstock.spark.query.continuous_query import ContinuousQuery
from penstock.spark.query.evaluation import Evaluation
from penstock.spark.session import catalog
from penstock.spark.session.session import private
from penstock.spark.store.store import SparkStore
from penstock.spark.views.background_tables import BackgroundTables
from penstock.tuning import Tuning
from tests.support.plan_probe import PlanProbe
from tests.support.tables import table_of

pytestmark = pytest.mark.filterwarnings("ignore::penstock.errors.PenstockWarning")  # windows that nothing reads

S, SECOND = "http://e/s", 1_000_000
PEOPLE = range(40)
FROM = f"FROM NAMED <{S}> [NOW] AS ?now FROM NAMED <{S}> [RANGE 5 s] AS ?last"
HIDING = "{ SELECT ?x ?n { ?x :knows ?r . ?r :name ?n } }"
STREAM = f"FROM STREAM <{S}> [RANGE 5s STEP 1s]"
NOW, LAST = "GRAPH ?now { ?x :at ?r }", "GRAPH ?last { ?y :at ?r }"
ALWAYS = Tuning(lookup_view_rows=0, lookup_share=1.0, semijoin_share=10.0)  # views and windows of any size are reduced
AS_WRITTEN = ["-order_joins"]
MET = "?x :knows ?y . GRAPH ?last { ?y :at ?q }"
QUERIES = {
    "by one key": f"SELECT ?x ?n {FROM} {{ {NOW} ?x :name ?n }}",
    "by both keys": f"SELECT ?x ?y {FROM} {{ {NOW} {LAST} ?x :knows ?y }}",
    "by a key that comes later": f"SELECT ?x ?y ?n {FROM} {{ {NOW} ?x :knows ?y . {LAST} ?y :name ?n }}",
    "a sub-query that hides a variable": f"SELECT ?x ?n {FROM} {{ {NOW} {HIDING} }}",
    "what has no partner": f"SELECT ?x ?y ?n {FROM} {{ {NOW} OPTIONAL {{ {LAST} ?x :knows ?y . ?y :name ?n }} }}",
    "unbound beside": f"SELECT ?x ?y ?n {FROM} {{ {{ {NOW} OPTIONAL {{ {LAST} FILTER (?x != ?y) }} }} ?y :name ?n }}",
    "what is taken away": f"SELECT ?x ?n {FROM} {{ {NOW} MINUS {{ ?x :knows ?y . ?y :name ?n }} ?x :name ?n }}",
    "either window": f"SELECT ?x ?n {FROM} {{ {{ {NOW} }} UNION {{ GRAPH ?last {{ ?x :at ?q }} }} ?x :name ?n }}",
    "counted": f"SELECT ?x (COUNT(?y) AS ?n) {FROM} {{ {NOW} {LAST} ?x :knows ?y }} GROUP BY ?x",
    "by what a look-up found": f"SELECT ?x ?y {FROM} {{ {{ {NOW} {LAST} }} ?x :knows ?y }}",
    "by what a join found": f"SELECT ?x ?y {FROM} {{ {{ {NOW} ?x :knows ?y }} GRAPH ?last {{ ?y :at ?q }} }}",
    "found, and hidden": f"SELECT ?x ?y {FROM} {{ {{ SELECT ?x {{ {NOW} {MET} }} }} {LAST} }}",
    "found, hidden, and bound anew":
        f"SELECT ?x ?y {FROM} {{ {{ SELECT ?x (?r AS ?y) {{ {{ SELECT ?x ?r {{ {NOW} {MET} }} }} }} }} "
        "GRAPH ?last { ?z :at ?y } }",
    "found in one branch": f"SELECT ?x ?y {FROM} {{ {{ {NOW} ?x :knows ?y }} UNION "
        "{ GRAPH ?last { ?x :at ?q } GRAPH ?last { ?y :at ?q } ?x :knows ?y } }",
    "in the default graph": f"SELECT ?x ?n {STREAM} {{ ?x :at ?r . ?x :knows ?y . ?y :name ?n }}",
}  # fmt: skip


def turtle() -> bytes:
    known = [f":p{i} :name '{i % 7}' ; :knows :p{(3 * i + 1) % 40}, :p{(i + 5) % 40} ." for i in PEOPLE]
    return ("@prefix : <http://e/> . " + " ".join(known)).encode()


@pytest.fixture(scope="module")
def store(spark: Any) -> SparkStore:
    store = SparkStore(spark=spark)
    store.load(turtle(), format="turtle")
    return store


@pytest.fixture(scope="module")
def background(store: SparkStore) -> BackgroundTables:
    return BackgroundTables(store.private_session, store, ALWAYS)


@pytest.fixture(scope="module")
def streams(tmp_path_factory: pytest.TempPathFactory) -> dict[str, StreamFiles]:
    """Two people a second, each in one of three rooms."""
    seen = [(f"<http://e/p{i * 7 % 40}>", "<http://e/at>", f"<http://e/r{i % 3}>", i * SECOND // 2) for i in range(24)]
    path = Path(tmp_path_factory.mktemp("seen")) / "0.parquet"
    pq.write_table(table_of(seen, "s", "p", "o", "ts"), path)
    return {S: StreamFiles((str(path),), frozenset(("<http://e/at>",)), rows=len(seen))}


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many rows were looked up each time."""
    found: list[int] = []
    with_terms = packed_view.DictionaryEncodedRows.with_terms

    def noted(*args: Any) -> pa.Table:
        table = with_terms(*args)
        found.append(table.num_rows)
        return table

    monkeypatch.setattr(packed_view.DictionaryEncodedRows, "with_terms", noted)
    return found


def answers(text: str, background: BackgroundTables, streams: dict[str, StreamFiles], rules: Any = None) -> list[Any]:
    """Of the last of three spans; what Spark has to answer is kept from the second time on."""
    query = ContinuousQuery(
        translate(f"PREFIX : <http://e/> {text}"),
        background,
        rules=["-sliced_plan"] if rules is None else rules,
        emit="rstream",
    )
    for span in (Span(0, 4 * SECOND), Span(4 * SECOND, 8 * SECOND), Span(8 * SECOND, 10 * SECOND)):
        found = query.evaluate(Evaluation(streams, span)).collect()
    query.close()
    return sorted(zip(*(column.to_pylist() for column in found.columns), strict=True), key=repr)


@pytest.mark.parametrize("name", QUERIES)
def test_the_same_answers(
    name: str, background: BackgroundTables, streams: dict[str, StreamFiles], asked: list[int]
) -> None:
    plain = answers(QUERIES[name], background, streams, rules=[])
    assert asked == []
    assert plain
    assert answers(QUERIES[name], background, streams) == plain
    assert answers(QUERIES[name], background, streams, rules=AS_WRITTEN) == plain
    assert bool(asked) is (name != "unbound beside")
    assert all(rows <= 80 for rows in asked)


def test_explain_says_which_rows_were_looked_up(background: BackgroundTables, streams: dict[str, StreamFiles]) -> None:
    plans = PlanProbe()
    with probe.probing(plans):
        answers(QUERIES["by both keys"], background, streams)
    assert "5 of 78 rows looked up by ?x ?y" in plans.algorithms
    assert any("only 5 terms of ?y, 35.7% of the distinct terms" in algorithm for algorithm in plans.algorithms)


def test_rows_that_many_ask_for_are_not_sent(store: SparkStore, streams: dict[str, StreamFiles]) -> None:
    background = BackgroundTables(store.private_session, store, replace(ALWAYS, lookup_share=0.0))
    plain = answers(QUERIES["by one key"], background, streams, rules=[])
    assert answers(QUERIES["by one key"], background, streams) == plain


def test_through_a_file(spark: Any) -> None:
    table = pa.table({"a b": ["<x:1>", "<x:2>", "<x:1>"], "c.d": ['"one"', None, '"ü\n"@de']})
    found = packed_view.collect_packed(spark.createDataFrame(table), 3)
    assert found is not None
    assert found.table.cast(table.schema).sort_by("a b").to_pylist() == table.sort_by("a b").to_pylist()
    assert packed_view.collect_packed(spark.createDataFrame(table), 4) is None  # some are elsewhere


def test_rows_that_a_plan_only_knows_the_number_of(spark: Any) -> None:
    table = pa.table({"a": [1, 2, 3]})
    frame = catalog.frame(spark, table, plan_rows=2)
    assert frame.toArrow().equals(table)
    assert "LogicalRDD" in frame._jdf.queryExecution().logical().toString()
    assert frame._jdf.queryExecution().optimizedPlan().stats().sizeInBytes() < 1_000


@given(times=st.lists(st.integers(-5, 40), max_size=12), slide=st.integers(1, 4), after=st.integers(0, 20))
@settings(max_examples=15, deadline=None)
def test_instants_as_spark_finds_them(times: list[int], slide: int, after: int, spark: Any) -> None:
    session, span, windows = private(spark), Span(after, after + 7), (SlideWindow(6, slide), SlideWindow(1))
    elements = pa.table({"ts": pa.array(times, pa.int64())})
    filled = elements.append_column("start", elements.column("ts"))
    for column in "spog":
        filled = filled.append_column(column, pa.array(["x"] * len(times)))
    session.createDataFrame(filled).createOrReplaceTempView("elements")
    query = ChangeInstants.numbered(
        [stream_to_relation.in_slides("elements", window, span) for window in windows], [], [], span
    )
    found = ChangeInstants.counted(
        [stream_to_relation.bounds(window, elements.column("ts").to_numpy()) for window in windows], span
    )
    told = {(row["t"], row["due"], row["held"]) for row in session.sql(sql.write(query)).toArrow().to_pylist()}
    counted = {(row["t"], row["due"], row["held"]) for row in found.to_pylist()}
    assert {row for row in counted if row[1]} == {row for row in told if row[1]}
    assert {t for t, _, _ in told} <= {t for t, _, _ in counted}
