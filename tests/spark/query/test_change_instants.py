"""The instants at which windows change: computed once for all queries of a round on the same windows."""

from __future__ import annotations

from typing import Any

import pyarrow.parquet as pq
import pytest

from penstock.algebra.build import translate
from penstock.knowledge.oxigraph import OxigraphStore
from penstock.model.span import Span
from penstock.model.stream_files import StreamFiles
from penstock.spark.query.context_builder import ContextBuilder
from penstock.spark.query.continuous_query import ContinuousQuery
from penstock.spark.query.evaluation import Evaluation
from penstock.spark.session.session import private
from penstock.spark.views.background_tables import BackgroundTables
from penstock.tuning import DEFAULT, Tuning
from tests.support.tables import table_of

S, SECOND = "http://e/s", 1_000_000
ROUNDS = Span(0, 2 * SECOND), Span(2 * SECOND, 4 * SECOND)


def query(background: BackgroundTables, selected: str, range: str = "2s", **options: Any) -> ContinuousQuery:
    text = f"PREFIX : <http://e/> SELECT {selected} {{ STREAM <{S}> [RANGE {range}] {{ ?x :at ?r }} }}"
    return ContinuousQuery(translate(text), background, emit="rstream", rules=["-sliced_plan"], **options)


@pytest.fixture(scope="module")
def streams(tmp_path_factory: pytest.TempPathFactory) -> dict[str, StreamFiles]:
    path = tmp_path_factory.mktemp("changes") / "0.parquet"
    people = enumerate(("ann", "bob", "eve"), 1)
    rows = [(f"<http://e/{person}>", "<http://e/at>", "<http://e/hall>", second * SECOND) for second, person in people]
    pq.write_table(table_of(rows, "s", "p", "o", "ts"), path)
    return {S: StreamFiles((str(path),), frozenset(("<http://e/at>",)), rows=3)}


@pytest.fixture(params=[DEFAULT, Tuning(sent_elements=0)], ids=["driver", "spark"])
def background(request: pytest.FixtureRequest, spark: Any) -> BackgroundTables:
    return BackgroundTables(private(spark), OxigraphStore(), request.param)


@pytest.fixture
def computed(monkeypatch: pytest.MonkeyPatch) -> list[Span]:
    """The spans whose instants were computed."""
    spans: list[Span] = []
    number = ContextBuilder._number_changes

    def noted(self: ContextBuilder, contents: Any, span: Span, plan: Any, name: str) -> str:
        spans.append(span)
        return number(self, contents, span, plan, name)

    monkeypatch.setattr(ContextBuilder, "_number_changes", noted)
    return spans


def answers(one: ContinuousQuery, streams: dict[str, StreamFiles], span: Span) -> set[tuple[str, int]]:
    """The names of `x`, with the second of each answer."""
    rows = one.evaluate(Evaluation(streams, span)).collect().to_pylist()
    return {(row["x"].strip("<>").rpartition("/")[2], row["time"] // SECOND) for row in rows}


def views(background: BackgroundTables) -> list[str]:
    return [row.viewName for row in background.session.sql("SHOW VIEWS LIKE 'penstock_instants_*'").collect()]


def test_once_a_round_for_all_queries_on_the_same_windows(
    background: BackgroundTables, streams: dict[str, StreamFiles], computed: list[Span]
) -> None:
    queries = [query(background, selected) for selected in ("?x", "?x ?r", "DISTINCT ?x")]
    expected = [{("ann", 1), ("ann", 2), ("bob", 2)}, {("bob", 3), ("eve", 3), ("eve", 4)}]
    for span, rows in zip(ROUNDS, expected, strict=True):
        assert [answers(one, streams, span) for one in queries] == [rows] * 3
        assert len(views(background)) == 1
    assert computed == list(ROUNDS)
    for one in queries:
        assert len(views(background)) == 1
        one.close()
    assert views(background) == []


def test_other_windows_files_and_spans_have_their_own_instants(
    background: BackgroundTables, streams: dict[str, StreamFiles], computed: list[Span]
) -> None:
    short, long = query(background, "?x", "1s"), query(background, "?x", "2s")
    first, second = ROUNDS
    assert answers(short, streams, first) == {("ann", 1), ("bob", 2)}
    assert answers(long, streams, first) == {("ann", 1), ("ann", 2), ("bob", 2)}
    other = query(background, "?x", "1s")
    assert answers(other, streams, second) == {("eve", 3)}
    assert computed == [first, first, second]
    assert answers(short, {S: StreamFiles(streams[S].paths, streams[S].predicates, rows=4)}, first)
    assert computed == [first, first, second, first]
    assert len(views(background)) == 3
