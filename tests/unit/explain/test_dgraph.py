"""D-Graphs: the paper's six steps, one after the other."""

from __future__ import annotations

import pytest

from penstock.explain import explain
from penstock.explain.model import Graph
from tests.support.explaining import BROKERS, BROKERS_AND_MARKET, MARKET, SELLER_MARKET, TOTAL_AMOUNT, edges, sources

GRAPH = f"graph <{BROKERS}>"
WINDOW = f"window <{MARKET}> [RANGE 1d TUMBLING]"


@pytest.fixture
def total() -> Graph:
    return explain(TOTAL_AMOUNT, known=BROKERS_AND_MARKET).dgraph


def test_step_1_terms_are_vertices(total: Graph) -> None:
    kinds = {node.title: node.kind for node in total.nodes}
    assert kinds == {
        "?broker": "variable", "b:is_from": "IRI", "?country": "variable", "x:does": "IRI", "?tx": "variable",
        "x:with": "IRI", "?amount": "variable", "G {?broker}": "group", "SUM": "function", "?total": "variable",
    }  # fmt: skip


def test_step_2_a_triple_is_two_edges(total: Graph) -> None:
    assert edges(total)[:6] == [
        "?broker → b:is_from", "b:is_from → ?country", "?broker → x:does", "x:does → ?tx", "?tx → x:with",
        "x:with → ?amount",
    ]  # fmt: skip


def test_step_3_conjuncts_annotate_their_variables(total: Graph) -> None:
    assert {node.title: node.lines for node in total.nodes if node.lines} == {
        "?country": ('?country = "CH"',),
        "?amount": ("?amount >= 10",),
    }


def test_step_4_an_aggregation_is_a_box_with_group_and_function(total: Graph) -> None:
    assert edges(total)[6:] == [
        "G {?broker} ⇢ ?broker", "G {?broker} → SUM", "SUM → ?amount parameter", "SUM → ?total result",
    ]  # fmt: skip
    [box] = [box for box in total.boxes if box.kind == "aggregation"]
    assert [total.node(id).title for id in box.nodes] == ["G {?broker}", "SUM", "?total"]


def test_step_5_what_is_projected_is_filled(total: Graph) -> None:
    assert [node.title for node in total.nodes if node.filled] == ["?broker", "?total"]


def test_step_6_vertices_stand_with_their_sources(total: Graph) -> None:
    assert sources(total) == {
        "?broker": [GRAPH, WINDOW], "b:is_from": [GRAPH], "?country": [GRAPH], "x:does": [WINDOW], "?tx": [WINDOW],
        "x:with": [WINDOW], "?amount": [WINDOW], "G {?broker}": ["aggregation"], "SUM": ["aggregation"],
        "?total": ["aggregation"],
    }  # fmt: skip
    broker = next(node for node in total.nodes if node.title == "?broker")
    assert total.box_of(broker.id) is total.boxes[0]
    assert total.others_of(broker) == ["also in 2"]


def test_a_graph_variable_has_every_possible_graph_as_source() -> None:
    found = sources(explain(SELLER_MARKET).dgraph)
    assert found["?market"] == [WINDOW, GRAPH, "graph all named graphs"]
    assert found["?tot"] == ["aggregation"]


def test_edges_of_a_predicate_that_is_used_twice_have_numbers() -> None:
    graph = explain("PREFIX : <http://example.org/> SELECT * { ?a :p ?b . ?b :p ?c . ?c :q ?d }").dgraph
    assert edges(graph) == ["?a → :p 1", ":p → ?b 1", "?b → :p 2", ":p → ?c 2", "?c → :q", ":q → ?d"]


def test_optional_and_negated_patterns_are_dashed() -> None:
    graph = explain(
        "PREFIX : <http://example.org/> SELECT ?a { ?a :p ?b OPTIONAL { ?b :q ?c } MINUS { ?a :r ?d } "
        "FILTER NOT EXISTS { ?a :s ?e } }"
    ).dgraph
    assert edges(graph)[2:] == [
        "?b ⇢ :q optional", ":q ⇢ ?c optional", "?a ⇢ :r minus", ":r ⇢ ?d minus", "?a ⇢ :s exists", ":s ⇢ ?e exists",
    ]  # fmt: skip


def test_computed_and_given_values_are_annotations() -> None:
    graph = explain("SELECT * { VALUES ?a { 1 2 3 } BIND (?a * 2 AS ?b) }").dgraph
    assert {node.title: node.lines for node in graph.nodes} == {"?a": ("VALUES of 3",), "?b": ("= ?a * 2",)}


def test_variables_of_a_template_are_filled() -> None:
    graph = explain("PREFIX : <http://example.org/> CONSTRUCT { ?a :p [] } { ?a :q ?b }").dgraph
    assert [node.title for node in graph.nodes if node.filled] == ["?a"]


def test_sources_of_named_windows_are_told_apart() -> None:
    graph = explain(
        "PREFIX : <http://example.org/> SELECT * { STREAM :s [RANGE 3s] { ?x :p ?y } STREAM :s [NOW] { ?x :q ?z } }"
    ).dgraph
    assert sources(graph)["?x"] == ["window :s [RANGE 3s]", "window :s [NOW]"]
    assert sources(graph)["?z"] == ["window :s [NOW]"]


def test_a_variable_of_a_template_that_nothing_binds_is_a_vertex() -> None:
    graph = explain("CONSTRUCT { ?a <http://e/p> ?b } WHERE { ?a <http://e/q> 1 }").dgraph
    assert {node.title: node.filled for node in graph.nodes if node.kind == "variable"} == {"?a": True, "?b": True}
