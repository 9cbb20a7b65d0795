"""Explanations after a run: estimated beside actual rows, state and time, by hand-worked numbers."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from pyoxigraph import Literal, NamedNode, Triple
from pyspark.sql import SparkSession

from penstock import Engine, Query
from penstock.explain.model import Figures, Graph
from tests.support.explaining import BROKERS, MARKET, TOTAL_AMOUNT

DAY = 86_400_000_000
EXCHANGE = "http://stockexchange.org/exchanges#"
FROM = NamedNode("http://brokerscentral.org/accounts#is_from")
SALES = [("ann", "t1", 20, 0), ("ann", "t2", 5, 0), ("bob", "t3", 30, 0), ("ann", "t4", 40, 1)]  # the last: the day of


def term(name: str) -> NamedNode:
    return NamedNode(f"http://example.org/{name}")


def sold() -> Iterator[tuple[Triple, int]]:
    for broker, deal, amount, day in SALES:
        time = (day + 1) * DAY - 1
        yield Triple(term(broker), NamedNode(f"{EXCHANGE}does"), term(deal)), time
        yield Triple(term(deal), NamedNode(f"{EXCHANGE}with"), Literal(amount)), time


def fill(engine: Engine) -> None:
    engine.load([Triple(term("ann"), FROM, Literal("CH")), Triple(term("bob"), FROM, Literal("IT"))], graph=BROKERS)
    engine.stream(MARKET)
    engine.push(MARKET, list(sold()))


@pytest.fixture(scope="module")
def ran(spark: SparkSession) -> Iterator[Query]:
    with Engine(spark=spark) as engine:
        fill(engine)
        query = engine.register(TOTAL_AMOUNT)
        engine.run()
        yield query


def figures(graph: Graph, kind: str, text: str = "") -> Figures:
    [found] = [node for node in graph.of_kind([kind]) if text in " ".join(node.lines)]
    assert found.figures is not None
    return found.figures


def test_actual_rows_stand_beside_the_estimates(ran: Query) -> None:
    graph = ran.explain(run=True).optimised
    does, dear = figures(graph, "pattern", "x:does"), figures(graph, "filter", "?amount")
    assert (does.rows, dear.rows) == (4, 3)  # who did what, and what was at least 10
    group = figures(graph, "group")
    assert (group.rows, group.actual) == (2, 1.0)  # ann alone, on each of two days
    for known in (does, dear, group):
        assert known.estimated is not None
        assert known.seconds is not None
        assert known.seconds > 0


def test_explain_shows_stored_elements_and_materialised_rows(ran: Query) -> None:
    graph = ran.explain(run=True).optimised
    assert figures(graph, "static_view").state == "1 row materialised"
    window = figures(graph, "window")
    assert (window.rows, window.actual) == (8, 4.0)  # six elements on the first day, two on the second
    assert (figures(graph, "stream").state or "").startswith("8 elements in ")


def test_dgraph_sources_come_from_the_predicates_of_the_data(ran: Query) -> None:
    """Nobody had to say which predicate is in the stream."""
    graph = ran.explain().dgraph
    country = next(node for node in graph.nodes if node.title == "?country")
    assert [box.kind for box in graph.boxes if box.id in country.sources] == ["graph"]


def test_explain_without_a_run_has_estimates_but_no_row_counts(ran: Query) -> None:
    found = ran.explain()
    assert found.name == "TotalAmountPerDayAndBroker"
    assert "Physical Plan" in (found.physical or "")
    group = figures(found.optimised, "group")
    assert group.estimated is not None
    assert group.rows is None


def test_looking_changes_no_answer(spark: SparkSession) -> None:
    with Engine(spark=spark) as engine:
        fill(engine)
        query = engine.register(TOTAL_AMOUNT)
        before = query.explain(run=True)
        engine.run()
        after = [(answer.time, answer.rows) for answer in query.answers()]
        query.explain(run=True)
        engine.run()
        assert [(answer.time, answer.rows) for answer in query.answers()] == after
        assert len(after) == 2
        assert figures(before.optimised, "group").rows == 2


def test_solutions_that_go_on_are_counted(spark: SparkSession) -> None:
    text = f"SELECT ?x {{ STREAM <{MARKET}> [RANGE 1d] {{ ?x <{EXCHANGE}does> ?y }} }}"
    with Engine(spark=spark) as engine:
        engine.stream(MARKET)
        engine.push(MARKET, list(sold())[:4])
        engine.start()
        query = engine.register(text, emit="intervals")
        engine.push(MARKET, list(sold())[4:])
        engine.advance(MARKET, 2 * DAY)
        engine.flush()
        assert (
            figures(query.explain().optimised, "result").state
            == "from validity intervals, with operator state, by DuckDB, 1 slice of time, 1 solution open"
        )
        engine.stop()


def test_a_query_without_a_stream(spark: SparkSession) -> None:
    with Engine(spark=spark) as engine:
        engine.load([Triple(term("ann"), FROM, Literal("CH")), Triple(term("bob"), FROM, Literal("IT"))])
        query = engine.register(f"ASK {{ ?who <{FROM.value}> ?country FILTER (?country = 'CH') }}")
        assert query.explain().physical is None
        graph = query.explain(run=True).optimised
        assert (figures(graph, "pattern").rows, figures(graph, "filter").rows) == (2, 1)


def test_before_the_first_element_the_text_is_explained(spark: SparkSession) -> None:
    with Engine(spark=spark) as engine:
        engine.stream(MARKET)
        found = engine.register(TOTAL_AMOUNT).explain(run=True)
        assert found.physical is None
        assert len(found.written.nodes) == 13


@pytest.mark.parametrize(
    ("rules", "report"),
    [
        (None, "from deltas, without operator state"),
        (["-delta_reports"], "from validity intervals, with operator state"),
    ],
)
def test_report_says_whether_it_has_state(spark: SparkSession, rules: list[str] | None, report: str) -> None:
    with Engine(spark=spark, rules=rules) as engine:
        fill(engine)
        query = engine.register(f"SELECT ?broker {{ STREAM <{MARKET}> [RANGE 1d] {{ ?broker ?does ?deal }} }}")
        engine.run()
        assert [(answer.time is not None, len(answer.rows)) for answer in query.answers()]
        [result] = query.explain().optimised.of_kind(["result"])
        assert result.figures is not None
        assert result.figures.state is not None
        assert result.figures.state.startswith(report)
