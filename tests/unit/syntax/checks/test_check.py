"""What the grammar allows and the check pass does not."""

from __future__ import annotations

import pytest

from penstock.errors import QueryError
from penstock.syntax import parse

PREFIX = "PREFIX : <http://example.org/>\n"


def error_of(query: str) -> str:
    with pytest.raises(QueryError) as caught:
        parse(PREFIX + query)
    return str(caught.value)


@pytest.mark.parametrize(
    ("query", "column", "reason"),
    [
        # projection
        ("SELECT ?o { ?s ?p ?o } GROUP BY ?s", 8, "?o is projected, but neither grouped nor aggregated"),
        ("SELECT ?o (COUNT(*) AS ?n) { ?s ?p ?o }", 8, "?o is projected, but neither grouped nor aggregated"),
        ("SELECT (STR(?s) AS ?n) { ?s ?p ?o } GROUP BY STR(?s)", 13, "?s is projected, but neither grouped"),
        ("SELECT ?o { ?s ?p ?o } ORDER BY COUNT(?o)", 8, "?o is projected, but neither grouped nor aggregated"),
        ("SELECT * { ?s ?p ?o } GROUP BY ?s", 1, "SELECT * cannot be used with GROUP BY"),
        ("SELECT (1 AS ?s) { ?s ?p ?o }", 14, "?s is already in scope, so AS cannot bind it again"),
        ("SELECT (1 AS ?x) (2 AS ?x) {}", 24, "?x is projected twice"),
        ("SELECT ?x (2 AS ?x) {}", 17, "?x is projected twice"),
        ("SELECT ?s { ?s ?p ?o } GROUP BY (1 AS ?s)", 39, "?s is already in scope, so AS cannot bind it again"),
        ("SELECT * { { SELECT ?o { ?s ?p ?o } GROUP BY ?s } }", 21, "?o is projected, but neither grouped"),
        # BIND
        ("ASK { ?s ?p ?o BIND(1 AS ?o) }", 26, "?o is already used in this group, so BIND cannot bind it"),
        ("ASK { { ?s ?p ?o } BIND(1 AS ?o) }", 30, "?o is already used in this group"),
        ("ASK { OPTIONAL { ?s ?p ?o } BIND(1 AS ?o) }", 39, "?o is already used in this group"),
        ("ASK { GRAPH ?g {} BIND(1 AS ?g) }", 29, "?g is already used in this group"),
        ("ASK { VALUES ?v { 1 } BIND(1 AS ?v) }", 33, "?v is already used in this group"),
        ("ASK { BIND(1 AS ?v) BIND(2 AS ?v) }", 31, "?v is already used in this group"),
        ("ASK { { SELECT (1 AS ?v) {} } BIND(2 AS ?v) }", 41, "?v is already used in this group"),
        # blank nodes
        ("ASK { _:a ?p ?o { _:a ?p ?o } }", 19, "the blank node _:a is already used in another group of triples"),
        ("ASK { _:a ?p ?o OPTIONAL {} _:a ?p ?o }", 29, "the blank node _:a is already used in another group"),
        ("ASK { { _:a ?p ?o } UNION { _:a ?p ?o } }", 29, "the blank node _:a is already used in another group"),
        ("ASK { _:a ?p ?o FILTER EXISTS { ?s ?p _:a } }", 39, "the blank node _:a is already used in another group"),
        # aggregates
        ("ASK { ?s ?p ?o FILTER(COUNT(?o) > 1) }", 23, "COUNT is an aggregate, which FILTER cannot compute"),
        ("ASK { BIND(SUM(?o) AS ?x) }", 12, "SUM is an aggregate, which BIND cannot compute"),
        ("SELECT ?x { } GROUP BY (MAX(?o) AS ?x)", 25, "MAX is an aggregate, which GROUP BY cannot compute"),
        ("SELECT (SUM(1 + COUNT(?o)) AS ?x) {}", 17, "COUNT stands inside SUM"),
        # VALUES
        ("ASK { VALUES (?a ?b) { (1 2) (1) } }", 30, "this row has 1 value for 2 variables"),
        ("ASK { VALUES () { (1) } }", 19, "this row has 1 value for 0 variables"),
        ("SELECT * {} VALUES (?a ?a) {}", 24, "?a stands twice in VALUES"),
        # functions and templates
        ("ASK { FILTER(STRLEN()) }", 14, "STRLEN takes 1 argument, not 0"),
        ("ASK { FILTER(REGEX(?a)) }", 14, "REGEX takes 2 or 3 arguments, not 1"),
        ("ASK { FILTER(NOW(1)) }", 14, "NOW takes no arguments, not 1"),
        ("ASK { FILTER(BOUND(1)) }", 14, "BOUND takes a variable"),
        ("SELECT * {} ORDER BY UCASE(?a, ?b)", 22, "UCASE takes 1 argument, not 2"),
        ("CONSTRUCT { ?s :p/:q ?o } WHERE {}", 13, "a property path cannot stand in a template"),
        ("CONSTRUCT WHERE { ?s ^:p ?o }", 19, "a property path cannot stand in a template"),
    ],
)
def test_rejected(query: str, column: int, reason: str) -> None:
    assert error_of(query).startswith(f"line 2, column {column}: {reason}")


@pytest.mark.parametrize(
    "query",
    [
        "SELECT ?s ?s { ?s ?p ?o }",
        "SELECT (COUNT(*) AS ?n) (?n + 1 AS ?m) { ?s ?p ?o }",
        "SELECT ?g { ?s ?p ?o } GROUP BY (STR(?s) AS ?g)",
        "SELECT (1 AS ?o) { ?s ?p ?x MINUS { ?s ?p ?o } FILTER(?o) }",
        "SELECT (COUNT(*) AS ?n) { FILTER EXISTS { SELECT (COUNT(*) AS ?n) {} } }",
        "ASK { BIND(1 AS ?o) ?s ?p ?o }",
        "ASK { { BIND(1 AS ?o) } UNION { BIND(2 AS ?o) } }",
        "ASK { ?s ?p ?x FILTER(?o) BIND(1 AS ?o) }",
        "ASK { _:a ?p ?o FILTER(?o) _:a ?q ?r . _:a :p* _:a }",
        "CONSTRUCT { _:a ?p ?o } WHERE { _:a ?p ?o }",
        "ASK { VALUES () { () () } }",
        "ASK { VALUES ?a { UNDEF 1 } }",
    ],
)
def test_accepted(query: str) -> None:
    assert parse(PREFIX + query).text == PREFIX + query


def test_a_whole_message() -> None:
    assert error_of("SELECT ?s ?o\nWHERE { ?s ?p ?o }\nGROUP BY ?s") == (
        "line 2, column 11: ?o is projected, but neither grouped nor aggregated\n"
        "  SELECT ?s ?o\n"
        "            ^^\n"
        "hint: add ?o to GROUP BY, or aggregate it, as in (SAMPLE(?o) AS ?any_o)"
    )
