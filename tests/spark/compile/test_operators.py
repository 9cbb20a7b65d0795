"""Joins, OPTIONAL, MINUS, GRAPH, grouping and modifiers, against answers that were worked out by hand."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from pyoxigraph import Literal

import penstock
from tests.support.asking import NS, PREFIX, ask, lines

DATA = f"""
@prefix : <{NS}> .
:a :p 1, 2 ; :q :b .
:b :p 2 ; :q :c .
:c :n "t"@en .
:g1 {{ :a :p 1 ; :q :b }}
:g2 {{ :b :p 2 ; :q :g2 }}
"""


@pytest.fixture(scope="module")
def engine(spark: Any) -> Iterator[Any]:
    """Three named graphs; :g0 is empty."""
    with penstock.Engine(background="spark", spark=spark) as engine:
        engine.load(DATA.encode(), format="trig")
        engine.load(b"", graph=NS + "g0", format="turtle")
        yield engine


PATTERNS = {
    "OPTIONAL whose filter computes a regular expression from both sides": (
        "SELECT ?x ?v ?z { ?x :p ?v OPTIONAL { ?z :n ?t FILTER(REGEX('2t', CONCAT('^', STR(?v), STR(?t)))) } }",
        ["x=:a v=1", "x=:a v=2 z=:c", "x=:b v=2 z=:c"],
    ),
    "a variable that OPTIONAL left unbound joins with anything": (
        "SELECT ?x ?v ?z { ?x :q ?y OPTIONAL { ?y :p ?v } ?z :p ?v }",
        ["x=:a v=2 z=:a", "x=:a v=2 z=:b", "x=:b v=1 z=:a", "x=:b v=2 z=:a", "x=:b v=2 z=:b"],
    ),
    "UNDEF joins with anything": (
        "SELECT ?x ?v { VALUES (?x ?v) { (:a UNDEF) (UNDEF 2) } ?x :p ?v }",
        ["x=:a v=1", "x=:a v=2", "x=:a v=2", "x=:b v=2"],
    ),
    "both sides may leave the variable open": (
        "SELECT ?x ?v { VALUES (?x ?v) { (:a UNDEF) (:a 1) } { VALUES (?x ?v) { (UNDEF 1) (:b UNDEF) } } }",
        ["x=:a v=1", "x=:a v=1"],
    ),
    "UNION keeps copies": ("{ { ?x :p 2 } UNION { ?x :p 2 } }", ["x=:a", "x=:a", "x=:b", "x=:b"]),
    "UNION with different variables": ("{ { ?x :p 1 } UNION { ?y :n ?z } }", ['y=:c z="t"@en', "x=:a"]),
    "MINUS without a shared variable": ("{ ?x :p 2 MINUS { ?y :q ?z } }", ["x=:a", "x=:b"]),
    "MINUS where what is shared is unbound": (
        "SELECT ?x { ?x :q ?y OPTIONAL { ?y :p ?v } MINUS { VALUES ?v { 2 } } }",
        ["x=:b"],
    ),
    "MINUS where the right side leaves it open": (
        "{ ?x :p ?v MINUS { VALUES (?x ?v) { (:a UNDEF) (UNDEF UNDEF) } } }",
        ["x=:b v=2"],
    ),
    "OPTIONAL with a filter on the left side": (
        "{ ?x :p ?v OPTIONAL { ?x :q ?y FILTER(?v = 1) } }",
        ["x=:a v=1 y=:b", "x=:a v=2", "x=:b v=2"],
    ),
    "OPTIONAL whose filter holds text that looks like SQL": (
        '{ ?x :p 1 OPTIONAL { ?x :q ?y FILTER(CONCAT(STR(?x), "l.`") != "r.`" && STR(?y) != "l.`") } }',
        ["x=:a y=:b"],
    ),
    "OPTIONAL in OPTIONAL": ("{ ?x :p 1 OPTIONAL { ?x :q ?y OPTIONAL { ?y :q ?z } } }", ["x=:a y=:b z=:c"]),
    "OPTIONAL that finds the variable another left open": (
        "SELECT ?x ?y { ?x :p 2 OPTIONAL { ?x :n ?y } OPTIONAL { ?x :q ?y } }",
        ["x=:a y=:b", "x=:b y=:c"],
    ),
    "a filter sees its own group alone": ("{ ?x :p 1 { ?y :p 2 FILTER(?x = :a) } }", []),
    "a sub-SELECT hides variables": ("SELECT * { ?x :p 1 { SELECT ?y { ?x :q ?y } } }", ["x=:a y=:b", "x=:a y=:c"]),
    "LIMIT in a sub-SELECT": ("{ { SELECT ?x ?v { ?x :p ?v } ORDER BY DESC(?v) DESC(?x) LIMIT 1 } }", ["x=:b v=2"]),
    "LIMIT and OFFSET beyond what Spark counts": ("SELECT ?x { ?x :p 1 } LIMIT 9999999999", ["x=:a"]),
    "OFFSET beyond what Spark counts": ("SELECT ?x { ?x :p 1 } OFFSET 9999999999", []),
    "a variable that nothing binds": ("SELECT ?x ?nothing { ?x :p 1 }", ["x=:a"]),
    "no variable at all": ("SELECT * {}", [""]),
    "copies of no variable": ("SELECT * { :a :q :b { :a :p 1 } UNION { :a :p 2 } }", ["", ""]),
    "a constant condition": ("{ ?x :p 1 FILTER(false) }", []),
    "a blank node is a variable": ("{ [] :p ?v . _:b :q ?y }", ["v=1 y=:b", "v=1 y=:c", *["v=2 y=:b", "v=2 y=:c"] * 2]),
    "BNODE with a label in a filter": ('{ ?x :p 1 FILTER(BNODE("l") = BNODE("l") && BNODE() != BNODE()) }', ["x=:a"]),
    "the same variable twice": ("{ VALUES ?v { :a } ?v :q ?w . ?v :q ?w }", ["v=:a w=:b"]),
    "booleans compare": (
        "{ ?x :q ?y OPTIONAL { ?x :p 1 . ?z :p 1 } FILTER(BOUND(?z) > BOUND(?w)) }",
        ["x=:a y=:b z=:a"],
    ),
}

GRAPHS = {
    "the empty pattern": ("{ GRAPH ?g {} }", ["g=:g0", "g=:g1", "g=:g2"]),
    "an empty graph": ("{ GRAPH :g0 {} }", [""]),
    "no such graph": ("{ GRAPH :none {} }", []),
    "VALUES only": ("SELECT ?g ?v { GRAPH ?g { VALUES ?v { 1 } } }", ["g=:g0 v=1", "g=:g1 v=1", "g=:g2 v=1"]),
    "BIND only": ("SELECT ?g ?v { GRAPH ?g { BIND(1 AS ?v) } }", ["g=:g0 v=1", "g=:g1 v=1", "g=:g2 v=1"]),
    "the graph's variable inside": ("SELECT ?g ?x { GRAPH ?g { ?x :q ?g } }", ["g=:g2 x=:b"]),
    "the graph's variable in OPTIONAL inside": (
        "SELECT ?g ?x { GRAPH ?g { ?x :p ?v OPTIONAL { ?x :q ?g } } }",
        ["g=:g2 x=:b"],
    ),
    "the graph's variable in a filter inside is unbound": ("{ GRAPH ?g { ?x :p ?v FILTER(?g = :g1) } }", []),
    "GRAPH in GRAPH": (
        "SELECT ?g ?h ?x { GRAPH ?g { GRAPH ?h { ?x :p ?v } } }",
        [f"g=:g{g} {rest}" for g in "012" for rest in ("h=:g1 x=:a", "h=:g2 x=:b")],
    ),
    "the same variable for GRAPH in GRAPH": ("SELECT ?g ?x { GRAPH ?g { GRAPH ?g { ?x :p 1 } } }", ["g=:g1 x=:a"]),
    "an aggregate counts in each": (
        "SELECT ?g ?n { GRAPH ?g { SELECT (COUNT(*) AS ?n) { ?x :p ?v } } }",
        ["g=:g0 n=0", "g=:g1 n=1", "g=:g2 n=1"],
    ),
    "LIMIT cuts in each": (
        "SELECT ?g ?o { GRAPH ?g { SELECT ?o { ?x ?w ?o } ORDER BY DESC(?o) LIMIT 1 } }",
        ["g=:g1 o=1", "g=:g2 o=2"],
    ),
    "DISTINCT in each": ("SELECT ?g ?x { GRAPH ?g { SELECT DISTINCT ?x { ?x ?w ?o } } }", ["g=:g1 x=:a", "g=:g2 x=:b"]),
    "MINUS in each": ("SELECT ?g ?x { GRAPH ?g { ?x :p ?v MINUS { ?x :q :b } } }", ["g=:g2 x=:b"]),
    "MINUS shares nothing but the graph": (
        "SELECT ?g ?x { GRAPH ?g { ?x :p ?v MINUS { ?y :q :b } } }",
        ["g=:g1 x=:a", "g=:g2 x=:b"],
    ),
    "OPTIONAL in each": (
        "SELECT ?g ?y { GRAPH ?g { {} OPTIONAL { ?x :q ?y } } }",
        ["g=:g0", "g=:g1 y=:b", "g=:g2 y=:g2"],
    ),
    "EXISTS in each": ("SELECT ?g ?x { GRAPH ?g { ?x :p ?v FILTER EXISTS { ?x :q :b } } }", ["g=:g1 x=:a"]),
    "EXISTS as a value in each": (
        "SELECT ?g ?e { GRAPH ?g { BIND(EXISTS { ?x :p 1 } AS ?e) } }",
        ["g=:g0 e=false", "g=:g1 e=true", "g=:g2 e=false"],
    ),
    "EXISTS in the order and in an aggregate": (
        "SELECT ?g (SUM(IF(EXISTS { ?x :p 1 }, 1, 0)) AS ?n) { GRAPH ?g { VALUES ?x { :a :b } } } GROUP BY ?g",
        ["g=:g0 n=1", "g=:g1 n=1", "g=:g2 n=1"],
    ),
    "a path of length zero in each": (
        "SELECT ?g ?y { GRAPH ?g { :a :q* ?y } }",
        ["g=:g0 y=:a", "g=:g1 y=:a", "g=:g1 y=:b", "g=:g2 y=:a"],
    ),
    "FROM leaves no named graph": ("SELECT ?g FROM :g1 { GRAPH ?g {} }", []),
    "FROM NAMED leaves no default graph": ("SELECT ?x FROM NAMED :g1 { ?x ?p ?o }", []),
    "a triple of two FROM graphs is there once": ("SELECT ?x FROM :g1 FROM :g1 FROM :g0 { ?x :p ?v }", ["x=:a"]),
    "FROM and FROM NAMED": (
        "SELECT ?x ?g ?y FROM :g1 FROM NAMED :g2 { ?x :p ?v GRAPH ?g { ?y :p ?w } }",
        ["x=:a g=:g2 y=:b"],
    ),
}

GROUPS = {
    "an unbound key": ("SELECT ?y (COUNT(*) AS ?n) { ?x :p ?v OPTIONAL { ?x :n ?y } } GROUP BY ?y", ["n=3"]),
    "a key that nothing binds": ("SELECT ?k (COUNT(*) AS ?n) { ?x :p ?v } GROUP BY ?k", ["n=3"]),
    "keys of nothing": ("SELECT (COUNT(*) AS ?n) { ?x :none ?y } GROUP BY ?x", []),
    "nothing without keys": ("SELECT (COUNT(*) AS ?n) (SUM(?y) AS ?s) (MAX(?y) AS ?m) { ?x :none ?y }", ["n=0 s=0"]),
    "a key that is an expression": (
        "SELECT ?k (COUNT(?v) AS ?n) { ?x :p ?v } GROUP BY (?v + 1 AS ?k)",
        ["k=2 n=1", "k=3 n=2"],
    ),
    "COUNT(DISTINCT *)": ("SELECT (COUNT(DISTINCT *) AS ?n) { { ?x :p 2 } UNION { ?x :p 2 } }", ["n=2"]),
    "COUNT(DISTINCT *) of no variables": ("SELECT (COUNT(DISTINCT *) AS ?n) { {} UNION {} }", ["n=1"]),
    "COUNT passes unbound over": ("SELECT (COUNT(?y) AS ?n) { ?x :p ?v OPTIONAL { ?x :n ?y } }", ["n=0"]),
    "HAVING with EXISTS": (
        "SELECT ?x (COUNT(*) AS ?n) { ?x :p ?v } GROUP BY ?x HAVING (EXISTS { ?x :q :c } || COUNT(*) > 5)",
        ["x=:b n=1"],
    ),
}


@pytest.mark.parametrize(("query", "expected"), PATTERNS.values(), ids=PATTERNS.keys())
def test_patterns(engine: Any, query: str, expected: list[str]) -> None:
    assert ask(engine, query) == sorted(expected)


@pytest.mark.parametrize(("query", "expected"), GRAPHS.values(), ids=GRAPHS.keys())
def test_graphs(engine: Any, query: str, expected: list[str]) -> None:
    assert ask(engine, query) == sorted(expected)


@pytest.mark.parametrize(("query", "expected"), GROUPS.values(), ids=GROUPS.keys())
def test_groups(engine: Any, query: str, expected: list[str]) -> None:
    assert ask(engine, query) == sorted(expected)


ORDERS = {
    "by what is not projected": ("SELECT ?x { ?x :p ?v } ORDER BY DESC(?v) DESC(?x)", ["x=:b", "x=:a", "x=:a"]),
    "DISTINCT keeps each where it first stood": (
        "SELECT DISTINCT ?x { VALUES (?x ?a ?b) { (1 1 5) (1 2 0) (2 1 3) } } ORDER BY ?a ?b",
        ["x=2", "x=1"],
    ),
    "DISTINCT, the order and LIMIT": ("SELECT DISTINCT ?x { ?x :p ?v } ORDER BY DESC(?x) LIMIT 1", ["x=:b"]),
    "unbound comes first": ("SELECT ?x { VALUES ?x { 1 UNDEF :a } } ORDER BY ?x", ["", "x=:a", "x=1"]),
    "by EXISTS": ("SELECT ?x { ?x :q ?y } ORDER BY EXISTS { ?x :p 1 }", ["x=:b", "x=:a"]),
    "LIMIT after OFFSET": ("SELECT ?x { VALUES ?x { 3 1 2 } } ORDER BY ?x LIMIT 1 OFFSET 1", ["x=2"]),
}


@pytest.mark.parametrize(("query", "expected"), ORDERS.values(), ids=ORDERS.keys())
def test_order(engine: Any, query: str, expected: list[str]) -> None:
    assert lines(engine.query(PREFIX + query)) == expected


NAMES = (
    "v",
    "V",
    "select",
    "from",
    "WHERE",
    "group",
    "t",
    "t0",
    "l",
    "r",
    "s",
    "g",
    "x",
    "größe",
    "_1",
    "null",
    "true",
)


def test_any_name_of_a_variable(engine: Any) -> None:
    """Names that differ in case only, and those that mean something in SQL or to the compiler."""
    head = " ".join("?" + name for name in NAMES)
    row = " ".join(map(str, range(len(NAMES))))
    query = f"SELECT {head} {{ VALUES ({head}) {{ ({row}) }} OPTIONAL {{ ?v :p ?y FILTER(?l < ?r) }} FILTER(?v < ?V) }}"
    assert ask(engine, query) == [" ".join(f"{name}={i}" for i, name in enumerate(NAMES))]


TEXTS = (
    "it's",
    'say "so"',
    "back\\slash",
    "two\nlines\r\t",
    "${x}",
    "`tick`",
    "l.`x`",
    "\ue000 0\ue001",
    "%s {0} '' \\'",
)


def test_any_text(engine: Any) -> None:
    """What a literal holds comes back as it was, through VALUES, a comparison and a computation."""
    cells = [str(Literal(t)) for t in TEXTS]
    test = f"FILTER(?t IN ({', '.join(cells)}))"
    answer = engine.query(f"SELECT ?t ?c {{ VALUES ?t {{ {' '.join(cells)} }} {test} BIND(CONCAT(?t, ?t) AS ?c) }}")
    assert sorted((row["t"].value, row["c"].value) for row in answer.rows) == sorted((t, t + t) for t in TEXTS)


def nested(depth: int, pattern: str) -> str:
    return "{ ?x :p 1 " + "".join(pattern.format(i) for i in range(depth)) + " }"


DEEP = {
    "60 UNIONs": ("SELECT ?x { " + " UNION ".join(["{ ?x :p 1 }"] * 60) + " }", 60),
    "25 OPTIONALs": ("SELECT ?x " + nested(25, "OPTIONAL {{ ?x :q ?y{0} }} "), 1),
    "100 filters": ("SELECT ?x " + nested(100, "FILTER(?x != {0}) "), 1),
    "5,000 rows of VALUES": (f"{{ VALUES ?v {{ {' '.join(map(str, range(5000)))} }} FILTER(?v < 4000) }}", 4000),
    "30 groups, one in the other": ("SELECT ?x { " + "{ " * 30 + "?x :p 1" + " }" * 30 + " }", 1),
}


@pytest.mark.parametrize(("query", "count"), DEEP.values(), ids=DEEP.keys())
def test_large_queries(engine: Any, query: str, count: int) -> None:
    assert len(ask(engine, query)) == count
