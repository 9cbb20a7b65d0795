"""O-Graphs: the paper's figures node by node, and a query of every language."""

from __future__ import annotations

from textwrap import dedent

import pytest

from penstock.algebra.ops import Op, Physical, WindowOverride
from penstock.explain import explain
from penstock.explain.labels import _KINDS
from tests.support.explaining import BROKERS_AND_MARKET, SELLER_MARKET, TOTAL_AMOUNT, tree


def test_figure_1_operators_above_their_sources() -> None:
    """The static branch and that of the stream, joined; the filter, the aggregation, the projection, the modifier."""
    graph = explain(TOTAL_AMOUNT, known=BROKERS_AND_MARKET).written
    assert tree(graph) == dedent("""\
        result registered as TotalAmountPerDayAndBroker · reported as rstream
          modifier
            projection ?broker ?total
              aggregation ?total = SUM(?amount) · by ?broker
                filter ?country = "CH" · ?amount >= 10
                  join
                    pattern ?broker b:is_from ?country
                      graph <http://brokerscentral.org/brokers.rdf>
                    join
                      pattern ?broker x:does ?tx
                        window [RANGE 1d TUMBLING]
                          stream <http://stockexchange.org/market.trdf>
                      pattern ?tx x:with ?amount
                        window [RANGE 1d TUMBLING]
                          stream <http://stockexchange.org/market.trdf>""")
    assert len(graph.nodes) == 13
    shaded = {node.kind for node in graph.nodes if node.added}
    assert shaded == {"stream", "window", "filter", "aggregation", "result"}


def test_figure_6_filters_split_and_pushed_and_two_projections() -> None:
    """One filter on static knowledge, the other on the stream."""
    graph = explain(TOTAL_AMOUNT, known=BROKERS_AND_MARKET).optimised
    static, streaming = sorted((tree(graph, node) for node in graph.of_kind(["filter"])), reverse=True)
    assert static == dedent("""\
        filter ?country = "CH"
          pattern ?broker b:is_from ?country
            graph <http://brokerscentral.org/brokers.rdf>""")
    assert streaming.startswith("filter ?amount >= 10\n")
    assert "graph" not in streaming
    assert sorted(node.lines[0] for node in graph.of_kind(["projection"])) == [
        "?amount ?broker", "?broker", "?broker ?total",
    ]  # fmt: skip
    [view] = graph.of_kind(["static_view"])
    assert view.lines == ("for joins by ?broker",)
    assert static.splitlines()[0] in tree(graph, view)


def test_figure_8_the_aggregate_goes_into_each_graph() -> None:
    graph = explain(SELLER_MARKET).optimised
    [each] = graph.of_kind(["each graph"])
    assert tree(graph, each).splitlines()[1].strip() == "group ?tot = SUM(?amount) · by ?seller"


def test_without_knowledge_a_pattern_may_match_anywhere() -> None:
    """The default graph of C-SPARQL is the background together with the windows."""
    graph = explain(TOTAL_AMOUNT).written
    for node in graph.of_kind(["pattern"]):
        assert [graph.node(edge.source).kind for edge in graph.into(node.id)] == ["window", "graph"]


def test_the_aggregate_of_a_market_stands_above_all_graphs() -> None:
    """5.2: GRAPH ?market runs over the stream, with the default graph behind it, and over named graphs."""
    graph = explain(SELLER_MARKET).written
    [each] = graph.of_kind(["each graph"])
    assert each.lines == ("?market",)
    [aggregation] = graph.of_kind(["aggregation"])
    assert aggregation.lines == ("?tot = SUM(?amount)", "by ?seller ?market")
    [join] = graph.of_kind(["join"])
    assert [edge.source for edge in graph.into(each.id)] == [join.id]
    kinds = {graph.node(edge.source).lines[0] for edge in graph.edges if graph.node(edge.target).kind == "pattern"}
    assert kinds == {"[RANGE 1d TUMBLING]", "<http://brokerscentral.org/brokers.rdf>", "all named graphs"}


PREFIX = "PREFIX : <http://example.org/> "


@pytest.mark.parametrize(
    ("text", "drawn"),
    [
        (
            "SELECT ?x { STREAM :s [RANGE 3s] { ?x :p ?y } ?y :q ?z }",
            """\
            result reported as istream
              projection ?x
                join
                  pattern ?x :p ?y
                    window [RANGE 3s]
                      stream :s
                  pattern ?y :q ?z
                    graph default graph""",
        ),
        (
            "REGISTER RSTREAM :o AS SELECT ?x FROM NAMED WINDOW :w ON :s [RANGE PT10S STEP PT5S] "
            "{ WINDOW :w { ?x :p ?y } OPTIONAL { GRAPH :g { ?y :q ?z } } }",
            """\
            result registered as http://example.org/o · reported as rstream
              projection ?x
                left join
                  pattern ?x :p ?y
                    window :w [RANGE 10s STEP 5s]
                      stream :s
                  pattern ?y :q ?z
                    graph :g""",
        ),
        (
            "SELECT ?x FROM STREAM :s WINDOW RANGE 1 MINUTE SLIDE 10 SECOND "
            "{ ?x :p ?y MINUS { ?x :q 1 WINDOW ELEMS 5 } }",
            """\
            result reported as intervals
              projection ?x
                minus
                  pattern ?x :p ?y
                    window [RANGE 1m SLIDE 10s]
                      stream :s
                    graph default graph
                  pattern ?x :q 1
                    window [TRIPLES 5]
                      stream :s
                    graph default graph""",
        ),
        (
            "SELECT ?x { { ?x :p ?y } SEQ { ?x :q ?z } FILTER (getDURATION() < ?z) }",
            """\
            result reported as events
              projection ?x
                filter getDURATION() < ?z
                  sequence
                    pattern ?x :p ?y
                      window [ALL]
                        stream all streams
                      graph default graph
                    pattern ?x :q ?z
                      window [ALL]
                        stream all streams
                      graph default graph""",
        ),
        (
            "SELECT (COUNT(*) AS ?n) { { ?x :p+ ?y } UNION { VALUES ?x { 1 2 } } BIND (?x + 1 AS ?z) } "
            "GROUP BY ?z ORDER BY DESC(?n) LIMIT 3",
            """\
            result
              modifier limit 3
                projection ?n
                  modifier ?n descending
                    bind ?n = _:a0
                      group _:a0 = COUNT(*) · by ?z
                        bind ?z = ?x + 1
                          union
                            path ?x :p+ ?y
                              graph default graph
                            values ?x · 1 · 2""",
        ),
    ],
    ids=["CQELS", "RSP-QL", "Streaming SPARQL", "EP-SPARQL", "SPARQL"],
)  # fmt: skip
def test_every_language_as_written(text: str, drawn: str) -> None:
    assert tree(explain(PREFIX + text).written) == dedent(drawn)


def test_a_source_with_several_readers_is_one_node() -> None:
    graph = explain(TOTAL_AMOUNT).written
    assert len(graph.of_kind(["stream"])) == len(graph.of_kind(["window"])) == len(graph.of_kind(["graph"])) == 1


def test_a_pattern_of_exists_is_a_branch_of_its_filter() -> None:
    graph = explain(f"{PREFIX} SELECT ?x {{ ?x :p ?y FILTER NOT EXISTS {{ ?x :q ?z }} }}").written
    [filter_] = graph.of_kind(["filter"])
    assert filter_.lines == ("NOT EXISTS { … }",)
    assert [(edge.label, edge.dashed) for edge in graph.into(filter_.id)] == [("", False), ("exists", True)]


def test_a_pattern_with_an_unknown_predicate_has_no_source() -> None:
    text = TOTAL_AMOUNT.replace("x:does", "x:dose")
    graph = explain(text, known=BROKERS_AND_MARKET).written
    [lost] = [node for node in graph.of_kind(["pattern"]) if "x:dose" in node.lines[0]]
    assert graph.into(lost.id) == []


def test_every_operator_has_a_name() -> None:
    """What only chooses the source needs none."""
    named = {kind.__name__ for kind in _KINDS} | {WindowOverride.__name__}
    assert named == {kind.__name__ for kind in Op.__subclasses__() if kind is not Physical}


def test_ids_are_stable() -> None:
    assert explain(TOTAL_AMOUNT).written == explain(TOTAL_AMOUNT).written
    assert [node.id for node in explain("ASK { ?s ?p ?o }").written.nodes] == ["n1", "n2", "g1"]
