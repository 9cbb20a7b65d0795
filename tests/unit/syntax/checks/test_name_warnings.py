"""Names that nothing binds and graphs that are nearly streams are warned of when the query is parsed."""

from __future__ import annotations

import warnings

import pytest

from penstock.syntax import parse
from penstock.syntax.suggest import one_edit_away

PREFIX = "PREFIX : <http://example.org/>\n"
GATES = "FROM STREAM :gates [RANGE 10m STEP 1m]"


def warned(query: str) -> list[str]:
    """The warnings about a query, each from its first line on."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        parse(PREFIX + query)
    return [str(each.message) for each in caught]


# Projected variables


def test_a_projected_variable_with_a_similar_name() -> None:
    assert warned("SELECT ?gate ?vehicles\nWHERE { ?gate :registers ?vehicle }") == [
        "line 2: ?vehicles is never bound; did you mean ?vehicle?\n  SELECT ?gate ?vehicles\n               ^^^^^^^^^"
    ]


def test_a_projected_variable_with_a_name_of_its_own() -> None:
    assert warned("SELECT ?gate ?speed { ?gate :registers ?car }") == [
        "line 2: ?speed is never bound\n"
        "  SELECT ?gate ?speed { ?gate :registers ?car }\n"
        "               ^^^^^^\n"
        "hint: its column stays empty, as no pattern, BIND, VALUES or AGGREGATE binds it"
    ]


@pytest.mark.parametrize(
    ("query", "names"),
    [
        ("SELECT ?a { { SELECT ?b { ?b :p ?c } } ?d :q ?e }", ["a"]),
        ("SELECT * { { SELECT ?b ?x { ?b :p ?c } } }", ["x"]),
        ("SELECT ?b { ?a :p ?a MINUS { ?b :p ?c } }", ["b"]),
        ("SELECT ?b { ?a :p ?a FILTER NOT EXISTS { ?b :p ?c } }", ["b"]),
        ("SELECT ?b { { ?a :p ?c } SEQ NOT { ?b :p ?c } SEQ { ?c :p ?d } }", ["b"]),
        ("SELECT ?n ?m { ?a :p ?c } AGGREGATE { (?n, COUNT, ?a) }", ["m"]),
    ],
)
def test_variables_that_nothing_binds_get_a_warning(query: str, names: list[str]) -> None:
    assert [text.partition(" is never bound")[0] for text in warned(query)] == [f"line 2: ?{name}" for name in names]


@pytest.mark.parametrize(
    "query",
    [
        "SELECT * { ?a :p ?b }",
        "SELECT ?a ?b { ?a ?b :c }",
        "SELECT ?b { BIND (1 AS ?b) }",
        "SELECT ?b { VALUES ?b { 1 } }",
        "SELECT ?b { ?a :p ?c } VALUES ?b { 1 }",
        "SELECT ?b { OPTIONAL { ?a :p ?b } }",
        "SELECT ?b { { ?a :p ?b } UNION { ?c :p ?d } }",
        "SELECT ?b { GRAPH ?b { ?a :p ?c } }",
        "SELECT ?w FROM NAMED WINDOW :v ON :s [NOW] { WINDOW ?w { ?a :p ?c } }",
        "SELECT ?b { STREAM :s [NOW] { ?a :p ?b } }",
        "SELECT ?b { { SELECT ?b { ?a :p ?b } } }",
        "SELECT ?b { { SELECT (COUNT(*) AS ?b) { ?a :p ?c } } }",
        "SELECT ?b { { SELECT * { ?a :p ?b } } }",
        "SELECT ?n { ?a :p ?c } AGGREGATE { (?n, COUNT, ?a) }",
        "SELECT ?b { ?a :p ?c } GROUP BY (STR(?a) AS ?b)",
        "SELECT (COUNT(*) AS ?n) (?n + 1 AS ?m) { ?a :p ?c }",
        "SELECT ?a COUNT(?c) { ?a :p ?c } GROUP BY ?a",
        "SELECT ?b { { ?a :p ?b } SEQ { ?c :p ?d } }",
        "ASK { ?a :p ?c FILTER EXISTS { SELECT ?a { ?d :p ?c } } }",  # EXISTS may bind it from outside
        "SELECT ?name ?place { ?a :at ?place . ?a :name 'Ann' }",  # a constant was put where ?name was
    ],
)
def test_bound_variables_get_no_warning(query: str) -> None:
    assert warned(query) == []


# Graphs


def test_a_graph_that_is_nearly_a_stream() -> None:
    assert warned(f"ASK {GATES}\n{{ GRAPH :gate {{ ?g :registers ?c }} }}") == [
        "line 3: <http://example.org/gate> is no stream of this query; did you mean <http://example.org/gates>?\n"
        "  { GRAPH :gate { ?g :registers ?c } }\n"
        "          ^^^^^"
    ]


def test_a_graph_that_is_nearly_a_window() -> None:
    query = "ASK FROM NAMED WINDOW :minute ON :s [NOW] { WINDOW :minute { ?a :p ?b } GRAPH :minut { ?b :p ?c } }"
    assert [text.splitlines()[0] for text in warned(query)] == [
        "line 2: <http://example.org/minut> is no window of this query; did you mean WINDOW <http://example.org/minute>?"
    ]


def test_a_graph_that_is_nearly_a_stream_of_cqels() -> None:
    query = "ASK { STREAM :gates [NOW] { ?a :p ?b } GRAPH :Gates { ?b :p ?c } }"
    assert [text.splitlines()[0] for text in warned(query)] == [
        "line 2: <http://example.org/Gates> is no stream of this query; did you mean <http://example.org/gates>?"
    ]


@pytest.mark.parametrize(
    "query",
    [
        f"ASK {GATES} {{ GRAPH :gates {{ ?g :registers ?c }} }}",
        f"ASK {GATES} {{ GRAPH :owners {{ ?g :registers ?c }} }}",
        f"ASK {GATES} {{ GRAPH :gateways {{ ?g :registers ?c }} }}",
        f"ASK {GATES} FROM NAMED :gate {{ GRAPH :gate {{ ?g :registers ?c }} }}",
        f"ASK {GATES} FROM STREAM :gate [RANGE 10m STEP 1m] {{ GRAPH :gate {{ ?g :registers ?c }} }}",
        "ASK { GRAPH :gate { ?g :registers ?c } }",
        "ASK FROM STREAM :s [RANGE 10m STEP 1m] { GRAPH :g { ?g :registers ?c } }",  # short names are always near
        "ASK FROM STREAM :gate1 [RANGE 10m STEP 1m] { GRAPH :gate2 { ?g :registers ?c } }",
    ],
)
def test_other_graphs(query: str) -> None:
    assert warned(query) == []


@pytest.mark.parametrize(
    ("word", "other", "near"),
    [
        ("gates", "gate", True),
        ("gate", "gates", True),
        ("gates", "gaets", True),
        ("gates", "gatas", True),
        ("gates", "GATES", True),
        ("gates", "gates", False),
        ("gates", "gateway", False),
        ("gates", "getas", False),
        ("gate1", "gate2", False),
        ("gate", "gate2", False),
        ("aa", "a", True),
    ],
)
def test_one_edit(word: str, other: str, near: bool) -> None:
    assert one_edit_away(word, other) is near
