"""Families of queries: one plan with a table of constants answers as each query does alone."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from pyoxigraph import NamedNode, QueryBoolean, QueryTriples, RdfFormat, Store

from penstock.algebra.build import translate
from penstock.algebra.ops import REPORTS
from penstock.algebra.template import template
from penstock.compile.parameter_table import ParameterTable
from penstock.io.formats import read
from penstock.knowledge.oxigraph import OxigraphStore
from penstock.model.span import Span
from penstock.model.stream_files import StreamFiles
from penstock.model.term_encoding import encode
from penstock.spark.query.continuous_query import ContinuousQuery
from penstock.spark.query.evaluation import Evaluation
from penstock.spark.session.session import private
from penstock.spark.views.background_tables import BackgroundTables
from tests.support.evaluated_families import Answers, Setting
from tests.support.family_texts import LANGUAGES, QUERIES, STREAM, texts
from tests.support.tables import table_of

SECOND = 1_000_000
BACKGROUND = """
@prefix : <http://e/> .
:ann :name "Ann" ; :knows :bob, :cem . :bob :name "Bob" ; :knows :ann . :cem :name "Cem" ; :age 7 .
:hall :floor 1 . :roof :floor 9 . :cellar :floor 0 .
"""
# second, who, where
SEEN = [(1, "ann", "hall"), (1, "bob", "hall"), (2, "cem", "roof"), (3, "ann", "roof"), (5, "ann", "hall"),
        (5, "cem", "cellar"), (6, "bob", "hall"), (9, "cem", "roof")]  # fmt: skip
END = 14
SPANS = [Span(0, 6 * SECOND), Span(6 * SECOND, END * SECOND)]


@pytest.fixture(scope="module")
def background(spark: Any) -> BackgroundTables:
    store = OxigraphStore()
    store.load(read(BACKGROUND.encode(), None, None, "turtle"))
    return BackgroundTables(private(spark), store)


@pytest.fixture(scope="module")
def streams(tmp_path_factory: pytest.TempPathFactory) -> dict[str, StreamFiles]:
    path = tmp_path_factory.mktemp("seen") / "0.parquet"
    rows = [(f"<http://e/{who}>", "<http://e/at>", f"<http://e/{where}>", t * SECOND) for t, who, where in SEEN]
    pq.write_table(table_of(rows, "s", "p", "o", "ts"), path)
    return {"http://e/s": StreamFiles((str(path),), frozenset(("<http://e/at>",)), rows=len(rows))}


@pytest.mark.parametrize("name", QUERIES)
def test_whole_answers(
    name: str, background: BackgroundTables, streams: dict[str, StreamFiles], tmp_path: Path
) -> None:
    """Against plain SPARQL on what is visible at each instant."""
    queries = texts(QUERIES[name])
    found = Setting(background, streams, [Span(0, END * SECOND)], tmp_path).together(list(map(translate, queries)))
    assert found == [{t * SECOND: snapshot(text, t) for t in INSTANTS} for text in queries]
    assert any(map(has_rows, found)) or "{ }" in queries[0], "a test of nothing"


INSTANTS = [t for t in range(2, END + 1, 2) if any(t - 4 < seen <= t for seen, _, _ in SEEN)]


def snapshot(text: str, instant: int) -> Counter[tuple[Any, ...]]:
    """The rows of an answer as `families` has them."""
    visible = (f":{who} :at :{where} ." for t, who, where in SEEN if instant - 4 < t <= instant)
    store = Store()
    store.load((BACKGROUND + " ".join(visible)).encode(), format=RdfFormat.TURTLE)
    answer: Any = store.query(text.replace(STREAM, ""))
    if isinstance(answer, QueryBoolean):
        return Counter([()] if answer else [])
    if isinstance(answer, QueryTriples):
        return Counter(tuple(zip("ops", map(encode, reversed(list(t))), strict=True)) for t in answer)
    rows: list[list[tuple[str, str | int]]] = [
        [(v.value, encode(row[v])) for v in answer.variables if row[v] is not None] for row in answer
    ]
    if "ORDER BY" in text.partition("{")[2].rpartition("}")[2]:
        rows = [[(".order", i), *row] for i, row in enumerate(rows, 1)]
    return Counter(tuple(sorted(row)) for row in rows)


OTHERS = (
    "a constant in the stream",
    "two",
    "a filter",
    "optional",
    "count of all",
    "ask",
    "construct",
    "equal members",
)


@pytest.mark.parametrize("emit", [report for report in REPORTS if report != "rstream"])
@pytest.mark.parametrize("name", OTHERS)
def test_a_family_reports_the_same_deltas_as_single_queries(
    name: str, emit: str, background: BackgroundTables, streams: dict[str, StreamFiles], tmp_path: Path
) -> None:
    check(texts(QUERIES[name]), background, streams, tmp_path, emit=emit)


@pytest.mark.parametrize("name", LANGUAGES)
def test_languages(name: str, background: BackgroundTables, streams: dict[str, StreamFiles], tmp_path: Path) -> None:
    check(texts(LANGUAGES[name]), background, streams, tmp_path)


def check(
    queries: list[str], known: BackgroundTables, streams: dict[str, StreamFiles], folder: Path, **options: Any
) -> None:
    plans, setting = [translate(text) for text in queries], Setting(known, streams, SPANS, folder, options)
    found = setting.together(plans)
    for text, plan, one in zip(queries, plans, found, strict=True):
        assert one == setting.alone(plan), text
    assert any(map(has_rows, found)), "a test of nothing"


def has_rows(answers: Answers) -> bool:
    return any(answers.values())


# What is open has to be carried along.
ROOMS = "SELECT ?r {S} {{ {0} :at ?r OPTIONAL {{ ?r :floor ?f }} }}"


@pytest.fixture
def open_interval_files(
    background: BackgroundTables, streams: dict[str, StreamFiles], tmp_path: Path
) -> tuple[ContinuousQuery, str, str]:
    """A plan that tells what goes, the file that ann (1) and bob (2) have left open at 0:06 as members of a family, and
    the one that bob has left as a query alone."""
    both, bob = str(tmp_path / "both"), str(tmp_path / "bob")
    queries = [translate(text) for text in texts((ROOMS, [(":ann",), (":bob",)]))]
    made = [found for query in queries if (found := template(query)) is not None]
    query, rows = made[0].specialised([one.constants for one in made])
    plan = ContinuousQuery(query, background, emit="dstream")
    plan.evaluate(Evaluation(streams, SPANS[0], members=ParameterTable([1, 2], rows))).write_open(both)
    ContinuousQuery(queries[1], background, emit="dstream").evaluate(Evaluation(streams, SPANS[0])).write_open(bob)
    return plan, both, bob


ANN, BOB = [(8, 1, "roof"), (10, 1, "hall")], [(10, 2, "hall")]  # when they leave the window


def test_members_continue_from_stored_open_intervals(open_interval_files: Any, streams: dict[str, StreamFiles]) -> None:
    plan, both, bob = open_interval_files
    cases: list[tuple[dict[int, str], Any, list[Any]]] = [
        ({1: "ann", 2: "bob"}, [(both, None)], ANN + BOB),
        ({1: "ann"}, [(both, None)], ANN),  # the other has been dropped
        ({2: "bob", 5: "dan"}, [(both, None)], BOB),  # and somebody has come
        ({1: "ann", 2: "bob"}, [(both, 1), (bob, 2)], ANN + BOB),  # one was alone so far
        ({1: "ann", 2: "bob"}, [(both, 1), (both, 2)], ANN + BOB),
        ({1: "ann", 2: "bob"}, None, ANN[1:] + BOB),  # nothing is known but what is visible still
    ]
    for numbers, before, expected in cases:
        members = ParameterTable(list(numbers), [(NamedNode(f"http://e/{who}"),) for who in numbers.values()])
        found = plan.evaluate(Evaluation(streams, SPANS[1], before, members=members)).collect().to_pylist()
        assert gone(found) == sorted(expected), (numbers, before)


def gone(rows: list[dict[str, Any]]) -> list[tuple[int, int, str]]:
    return sorted(
        (row["time"] // SECOND, row.get(".km", 1), row["r"].strip("<>").removeprefix("http://e/")) for row in rows
    )


def test_open_intervals_of_a_family_serve_a_query_alone(
    open_interval_files: Any, background: BackgroundTables, streams: Any
) -> None:
    _, both, _ = open_interval_files
    alone = ContinuousQuery(translate(texts((ROOMS, [(":ann",)]))[0]), background, emit="dstream")
    assert gone(alone.evaluate(Evaluation(streams, SPANS[1], [(both, 1)])).collect().to_pylist()) == ANN
