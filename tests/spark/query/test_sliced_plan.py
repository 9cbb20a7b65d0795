"""The sliced plan: the same answers in tasks, in this process and shuffled; why a query has none; and `rounds`."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyoxigraph import NamedNode, Triple

from penstock import Engine, OptionError
from penstock.algebra.build import translate
from penstock.algebra.windows import CountWindow
from penstock.knowledge.oxigraph import OxigraphStore
from penstock.model.span import Span
from penstock.model.stream_files import StreamFiles
from penstock.spark.query.continuous_query import ContinuousQuery
from penstock.spark.query.evaluation import Evaluation
from penstock.spark.session.session import private
from penstock.spark.views.background_tables import BackgroundTables
from penstock.tuning import Tuning

S, SECOND, ROWS = "http://e/s", 1_000_000, 400
COUNT = f"""PREFIX : <http://e/> SELECT ?g (COUNT(?x) AS ?n)
FROM STREAM <{S}> [RANGE 4s STEP 2s] {{ ?x :at ?r . ?r :in ?g }} GROUP BY ?g"""
PATHS = f"PREFIX : <http://e/> SELECT ?x FROM STREAM <{S}> [RANGE 4s STEP 2s] {{ ?x :at+ ?r }}"
SLICES = Tuning(slice_elements=50, slice_overlaps=1, sent_elements=0)


@pytest.fixture(scope="module")
def stream(tmp_path_factory: pytest.TempPathFactory) -> dict[str, StreamFiles]:
    path = tmp_path_factory.mktemp("stream") / "s.parquet"
    names = [f"<http://e/x{i % 7}>" for i in range(ROWS)]
    rooms = [f"<http://e/r{i % 5}>" for i in range(ROWS)]
    times = [i * SECOND // 10 + 1 for i in range(ROWS)]
    pq.write_table(pa.table({"s": names, "p": ["<http://e/at>"] * ROWS, "o": rooms, "ts": times}), path)
    return {S: StreamFiles((str(path),), frozenset(("<http://e/at>",)), rows=ROWS)}


def background(spark: Any, tuning: Tuning = Tuning()) -> BackgroundTables:  # noqa: B008 - it is immutable
    store = OxigraphStore()
    triples = [f"<http://e/r{i}> <http://e/in> <http://e/g{i % 2}> ." for i in range(5)]
    store.load("\n".join(triples).encode(), format="nt")
    return BackgroundTables(private(spark), store, tuning)


def answers(query: ContinuousQuery, stream: dict[str, StreamFiles]) -> Counter[Any]:
    rows = query.evaluate(Evaluation(stream, Span(0, 40 * SECOND))).collect().to_pylist()
    return Counter(tuple(row.values()) for row in rows)


def test_tasks_this_process_and_the_shuffled_plan_say_the_same(spark: Any, stream: dict[str, StreamFiles]) -> None:
    tasks = ContinuousQuery(translate(COUNT), background(spark, SLICES))
    here = ContinuousQuery(translate(COUNT), background(spark), local=True)
    shuffled = ContinuousQuery(translate(COUNT), background(spark), rules=["-sliced_plan"])
    expected = answers(shuffled, stream)
    assert len(expected) == 2 * 20
    assert answers(tasks, stream) == answers(here, stream) == expected


def test_the_frame_of_slices_has_the_rows_of_the_answers(spark: Any, stream: dict[str, StreamFiles]) -> None:
    for local in (True, False):
        query = ContinuousQuery(translate(COUNT), background(spark, SLICES), local=local)
        frame = query.evaluate(Evaluation(stream, Span(0, 40 * SECOND))).frame
        assert frame.columns == ["time", "g", "n"]
        assert frame.count() == 2 * 20


@pytest.mark.parametrize("emit", ["istream", "dstream", "intervals"])
@pytest.mark.parametrize("window", ["[RANGE 4s STEP 2s]", "WINDOW RANGE 3 SECOND SLIDE 1 SECOND", "[RANGE 1s STEP 2s]"])
def test_intervals_of_slices_are_joined(
    spark: Any, stream: dict[str, StreamFiles], emit: Any, window: str, tmp_path: Path
) -> None:
    """Some solutions last over many slices, with one copy or several; others come and go."""
    text = f"PREFIX : <http://e/> SELECT ?x ?g FROM STREAM <{S}> {window} {{ ?x :at ?r . ?r :in ?g }}"
    queries = {
        "tasks": ContinuousQuery(translate(text), background(spark, SLICES), emit=emit),
        "here": ContinuousQuery(translate(text), background(spark, SLICES), emit=emit, local=True),
        "shuffled": ContinuousQuery(translate(text), background(spark), emit=emit, rules=["-sliced_plan"]),
    }
    found = {name: _in_two_evaluations(query, stream, tmp_path / name) for name, query in queries.items()}
    assert "slices of time" in queries["tasks"].engine_for(Evaluation(stream, Span(0, 40 * SECOND)))
    assert len(found["shuffled"]) > 10
    assert found["tasks"] == found["here"] == found["shuffled"]


def _in_two_evaluations(query: ContinuousQuery, stream: dict[str, StreamFiles], state: Path) -> Counter[Any]:
    """Return the rows of two spans. The first is read as a frame, and its open intervals are written before."""
    first = query.evaluate(Evaluation(stream, Span(0, 21 * SECOND)))
    assert first.write_open(str(state)) > 0
    early = first.frame.toArrow().to_pylist()
    late = query.evaluate(Evaluation(stream, Span(21 * SECOND, 40 * SECOND), str(state), final=True)).collect()
    rows = [*early, *late.drop_columns([".row"]).to_pylist()]
    return Counter(tuple(row.values()) for row in rows)


def test_a_prepared_plan_counts_the_elements_that_the_log_has_dropped(
    spark: Any, stream: dict[str, StreamFiles]
) -> None:
    """A window of three elements with a step of two: whether an element fills a step depends on all before it."""
    query = translate(COUNT)
    query = replace(query, streams=tuple(replace(s, window=CountWindow(3, 2)) for s in query.streams))
    here = ContinuousQuery(query, background(spark), local=True, emit="rstream")
    shuffled = ContinuousQuery(query, background(spark), rules=["-sliced_plan"], emit="rstream")
    later = {S: replace(stream[S], dropped=1)}
    expected = [answers(shuffled, each) for each in (stream, later)]
    assert expected[0] != expected[1]
    assert [answers(here, each) for each in (stream, later)] == expected


def test_explain_says_which_engine_it_is(spark: Any, stream: dict[str, StreamFiles]) -> None:
    whole = Evaluation(stream, Span(0, 40 * SECOND))
    assert (
        ContinuousQuery(translate(COUNT), background(spark, SLICES)).engine_for(whole) == "by DuckDB, 4 slices of time"
    )
    closure = ContinuousQuery(translate(PATHS), background(spark)).engine_for(whole)
    assert closure == "by Spark's shuffled plan: a closure is computed step by step"
    off = ContinuousQuery(translate(COUNT), background(spark), rules=["-sliced_plan"]).engine_for(whole)
    assert off == "by Spark's shuffled plan: it is switched off"


def test_a_large_table_stays_on_the_shuffled_plan(spark: Any, stream: dict[str, StreamFiles]) -> None:
    query = ContinuousQuery(translate(COUNT), background(spark, Tuning(slice_table_rows=4)))
    reason = "by Spark's shuffled plan: it reads a table of 5 rows, and a slice 4 at most"
    assert query.engine_for(Evaluation(stream, Span(0, 40 * SECOND))) == reason


def test_a_fallback_is_logged_once(
    spark: Any, stream: dict[str, StreamFiles], caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO", "penstock")
    query = ContinuousQuery(translate(PATHS), background(spark))
    for _ in range(2):
        query.engine_for(Evaluation(stream, Span(0, 40 * SECOND)))
    assert caplog.messages == ["a query: sliced_plan is not used: a closure is computed step by step"]


def test_rounds_in_this_process(spark: Any) -> None:
    """The watermark is that of the newest element, so the instant of four seconds is not due yet."""
    visit = Triple(NamedNode("http://e/x"), NamedNode("http://e/at"), NamedNode("http://e/r"))
    with Engine(spark=spark, rounds="auto") as engine:
        engine.stream(S)
        query = engine.register(COUNT.replace(" . ?r :in ?g", "").replace("?g", "?r"))
        engine.start()
        engine.push(S, [(visit, second * SECOND) for second in (1, 2, 3, 5)])
        engine.flush()
        assert [row["n"].value for answer in query.answers(timeout=0) for row in answer.rows] == ["2", "3"]


def test_rounds_have_two_values() -> None:
    with pytest.raises(OptionError, match='rounds is "spark" or "auto", not \'driver\''):
        Engine(rounds="driver")  # type: ignore[arg-type]
