"""Parts that read the background alone: asked once, for all queries, and again only when what they read has changed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from penstock.algebra.build import translate
from penstock.io.formats import read
from penstock.knowledge.oxigraph import OxigraphStore
from penstock.model.span import Span
from penstock.model.stream_files import StreamFiles
from penstock.spark.query.continuous_query import ContinuousQuery
from penstock.spark.query.evaluation import Evaluation
from penstock.spark.session.session import private
from penstock.spark.store.store import SparkStore
from penstock.spark.views.background_tables import BackgroundTables
from penstock.spark.views.static_views import StaticViewCache
from tests.support.tables import table_of

S, SECOND = "http://e/s", 1_000_000
FROM = f"PREFIX : <http://e/> SELECT ?x ?n FROM STREAM <{S}> [RANGE 10s STEP 5s]"
NAMES = f"{FROM} {{ ?x :at ?r . ?x :name ?n }}"
FLOORS = f"{FROM} {{ ?x :at ?r . ?r :floor ?n }}"
FRIENDS = f"{FROM} {{ ?x :at ?r . ?x :knows ?y . ?y :name ?n FILTER (?n != 'Zoe') }}"
FIRST = ':ann :name "Ann" ; :knows :bob . :bob :name "Bob" . :hall :floor 1 .'


@pytest.fixture(params=["oxigraph", "spark"])
def store(request: pytest.FixtureRequest, spark: Any) -> Any:
    made = OxigraphStore() if request.param == "oxigraph" else SparkStore(spark=spark)
    load(made, FIRST)
    return made


def load(store: Any, triples: str) -> None:
    text = f"@prefix : <http://e/> . {triples}".encode()
    store.load(text, format="turtle") if isinstance(store, SparkStore) else store.load(read(text, None, None, "turtle"))


@pytest.fixture
def background(store: Any, spark: Any) -> BackgroundTables:
    return BackgroundTables(store.private_session if isinstance(store, SparkStore) else private(spark), store)


@pytest.fixture
def computed_views(monkeypatch: pytest.MonkeyPatch) -> list[frozenset[str] | None]:
    """The predicates of every view that was computed, in order."""
    parts: list[frozenset[str] | None] = []
    asked = StaticViewCache._made

    def noted(self: StaticViewCache, wanted: Any, name: str) -> Any:
        parts.append(wanted.reads and frozenset(iri.removeprefix("http://e/") for iri in wanted.reads))
        return asked(self, wanted, name)

    monkeypatch.setattr(StaticViewCache, "_made", noted)
    return parts


@pytest.fixture(scope="module")
def streams(tmp_path_factory: pytest.TempPathFactory) -> dict[str, StreamFiles]:
    path = tmp_path_factory.mktemp("seen") / "0.parquet"
    rows = [("<http://e/ann>", "<http://e/at>", "<http://e/hall>", SECOND)]
    pq.write_table(table_of(rows, "s", "p", "o", "ts"), Path(path))
    return {S: StreamFiles((str(path),), frozenset(("<http://e/at>",)), rows=1)}


def answer(query: ContinuousQuery, streams: dict[str, StreamFiles]) -> set[tuple[str | None, str | None]]:
    """What Spark has to answer is kept when it is asked for the second time."""
    for _ in range(2):
        found = query.evaluate(Evaluation(streams, Span(0, 5 * SECOND))).collect()
    return set(zip(found.column("x").to_pylist(), found.column("n").to_pylist(), strict=True))


def test_a_static_view_is_shared_by_evaluations_and_queries(
    background: BackgroundTables, streams: dict[str, StreamFiles], computed_views: list[Any]
) -> None:
    one, other = (ContinuousQuery(translate(NAMES), background) for _ in range(2))
    for query in (one, one, other):
        assert answer(query, streams) == {("<http://e/ann>", '"Ann"')}
    assert computed_views == [{"name"}]
    assert len(background.static_views) == 1
    one.close()
    assert len(background.static_views) == 1
    other.close()
    assert len(background.static_views) == 0


def test_joined_and_filtered_beforehand(
    background: BackgroundTables, streams: dict[str, StreamFiles], computed_views: list[Any]
) -> None:
    query = ContinuousQuery(translate(FRIENDS), background)
    assert answer(query, streams) == {("<http://e/ann>", '"Bob"')}
    assert computed_views == [{"knows", "name"}]


def test_only_views_of_changed_predicates_are_computed_again(
    store: Any, background: BackgroundTables, streams: dict[str, StreamFiles], computed_views: list[Any]
) -> None:
    names, floors = (ContinuousQuery(translate(text), background) for text in (NAMES, FLOORS))
    for query in (names, floors):
        answer(query, streams)
    load(store, ":hall :floor 2 .")
    assert answer(names, streams) == {("<http://e/ann>", '"Ann"')}
    assert {n for _, n in answer(floors, streams)} == {
        f'"{i}"^^<http://www.w3.org/2001/XMLSchema#integer>' for i in (1, 2)
    }
    assert computed_views == [{"name"}, {"floor"}, {"floor"}]


def test_a_view_that_is_read_once_is_not_materialised(
    store: Any, background: BackgroundTables, streams: dict[str, StreamFiles], computed_views: list[Any]
) -> None:
    query = ContinuousQuery(translate(FRIENDS), background, rules=["-sliced_plan"])
    assert query.evaluate(Evaluation(streams, Span(0, 5 * SECOND))).collect().num_rows == 1
    assert computed_views == []


def test_nothing_is_kept_without_the_rule(
    background: BackgroundTables, streams: dict[str, StreamFiles], computed_views: list[Any]
) -> None:
    query = ContinuousQuery(translate(FRIENDS), background, rules=[])
    assert answer(query, streams) == {("<http://e/ann>", '"Bob"')}
    assert computed_views == []
