"""EXISTS wherever it may stand, against answers that were worked out by hand.

Where the recommendation's "substitution" leaves a choice, the outer values are taken to restrict the patterns inside,
in which the variables stay what they are: MINUS inside shares them, and a sub-SELECT hides those it does not name.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

import penstock
from tests.support.asking import NS, ask

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
    with penstock.Engine(background="spark", spark=spark) as engine:
        engine.load(DATA.encode(), format="trig")
        yield engine


WHERE_IT_STANDS = {
    "a value": ("SELECT ?x ?e { ?x :q ?y BIND(EXISTS { ?y :p ?v } AS ?e) }", ["x=:a e=true", "x=:b e=false"]),
    "one of two conditions": ("{ ?x :p ?v FILTER(?v = 1 || EXISTS { ?x :q :c }) }", ["x=:a v=1", "x=:b v=2"]),
    "two in one condition": (
        "SELECT ?x { ?x :q ?y FILTER(EXISTS { ?y :n ?l } || EXISTS { ?x :p 1 }) }",
        ["x=:a", "x=:b"],
    ),
    "two that have to differ": ("SELECT ?x { ?x :q ?y FILTER(EXISTS { ?x :p 1 } != EXISTS { ?x :p 2 }) }", ["x=:b"]),
    "the condition of OPTIONAL": (
        "{ ?x :p ?v OPTIONAL { ?x :q ?y FILTER EXISTS { ?y :p ?w } } }",
        ["x=:a v=1 y=:b", "x=:a v=2 y=:b", "x=:b v=2"],
    ),
    "the condition of OPTIONAL that binds what the left side left open": (
        "SELECT ?x ?y { ?x :p 2 OPTIONAL { ?x :n ?y } OPTIONAL { ?x :q ?y FILTER EXISTS { ?x :p ?w } } }",
        ["x=:a y=:b", "x=:b y=:c"],
    ),
    "the condition of OPTIONAL beside values that are new each time": (
        "SELECT ?x ?y { ?x :p 2 BIND(UUID() AS ?u) OPTIONAL { ?x :q ?y FILTER EXISTS { ?x :p 1 } } }",
        ["x=:a y=:b", "x=:b"],
    ),
    "in another one": (
        "SELECT ?x { ?x :q ?y FILTER EXISTS { ?y :p ?v FILTER NOT EXISTS { ?x :p 7 } } }",
        ["x=:a"],
    ),
    "in another one, which reads the outermost solution": (
        "SELECT ?x { ?x :q ?y FILTER EXISTS { ?y :p ?v FILTER NOT EXISTS { ?x :p 1 } } }",
        [],
    ),
    "an argument of COUNT": (
        "SELECT (COUNT(IF(EXISTS { ?x :p 1 }, 1, 1/0)) AS ?n) { ?x :q ?y }",
        ["n=1"],
    ),
    "on nothing": ("{ FILTER NOT EXISTS { ?x :none ?y } }", [""]),
}

WHAT_IT_HOLDS = {
    "a filter on an outer variable": (
        "{ ?x :p ?v FILTER EXISTS { ?y :p ?w FILTER(?w < ?v) } }",
        ["x=:a v=2", "x=:b v=2"],
    ),
    "a filter on an outer variable, negated": (
        "{ ?x :p ?v FILTER NOT EXISTS { ?y :p ?w FILTER(?w < ?v) } }",
        ["x=:a v=1"],
    ),
    "an outer variable in OPTIONAL": (
        "{ VALUES ?v { 1 2 } FILTER EXISTS { ?y :q :b OPTIONAL { :b :p ?v } } }",
        ["v=1", "v=2"],
    ),
    "an outer variable in OPTIONAL that has to be found": (
        "{ VALUES ?v { 1 2 } FILTER EXISTS { ?y :q :b OPTIONAL { :b :p ?v . ?z :p ?v } FILTER(BOUND(?z)) } }",
        ["v=2"],
    ),
    "MINUS": ("{ ?x :p 2 FILTER EXISTS { ?x :q ?y MINUS { ?y :n ?l } } }", ["x=:a"]),
    "MINUS that shares an outer variable": ("{ ?x :p 2 FILTER EXISTS { ?x :q ?y MINUS { ?x :p 1 } } }", ["x=:b"]),
    "MINUS that shares an outer variable, beside a filter on another": (
        "{ ?x :p ?v FILTER EXISTS { ?x :q ?y MINUS { ?x :q ?z FILTER(?z = :b) } FILTER(?v = 2) } }",
        ["x=:b v=2"],
    ),
    "MINUS that alone names an outer variable": (
        "{ ?x :p ?v FILTER EXISTS { ?y :q :b MINUS { ?x :p ?w FILTER(?w = ?v) } } }",
        ["x=:a v=1", "x=:a v=2", "x=:b v=2"],
    ),
    "an aggregate that hides the outer variable": (
        "{ ?x :p 2 FILTER EXISTS { SELECT (COUNT(*) AS ?n) { ?x :none ?y } } }",
        ["x=:a", "x=:b"],
    ),
    "an aggregate by the outer variable": (
        "{ ?x :p 2 FILTER EXISTS { SELECT ?x { ?x :p ?v } GROUP BY ?x HAVING (COUNT(*) > 1) } }",
        ["x=:a"],
    ),
    "LIMIT for each outer solution": (
        "{ ?x :p 2 FILTER EXISTS { SELECT ?x { ?x :p ?v } ORDER BY ?x LIMIT 1 } }",
        ["x=:a", "x=:b"],
    ),
    "a SELECT of an outer variable that it does not bind": (
        "{ ?x :p ?v FILTER EXISTS { { SELECT ?x ?y { ?y :q :b } } FILTER(?v = 1) } }",
        ["x=:a v=1"],
    ),
    "VALUES with UNDEF": (
        "{ ?x :p ?v FILTER EXISTS { VALUES (?x ?v) { (:a UNDEF) (UNDEF 7) } } }",
        ["x=:a v=1", "x=:a v=2"],
    ),
    "VALUES with UNDEF, beside a filter on an outer variable": (
        "{ ?x :p ?v FILTER EXISTS { VALUES (?x ?w) { (:a 1) (UNDEF 2) } FILTER(?w = ?v) } }",
        ["x=:a v=1", "x=:a v=2", "x=:b v=2"],
    ),
    "BIND of an outer variable": ("{ ?x :p ?v FILTER EXISTS { BIND(?v + 1 AS ?w) ?y :p ?w } }", ["x=:a v=1"]),
    "UNION": ("{ ?x :q ?y FILTER EXISTS { { ?x :p 1 } UNION { ?y :n ?l } } }", ["x=:a y=:b", "x=:b y=:c"]),
    "a path": ("{ ?x :p 2 FILTER EXISTS { ?x :q+ :c } }", ["x=:a", "x=:b"]),
    "GRAPH": ("{ ?x :p ?v FILTER EXISTS { GRAPH ?g { ?x :p ?v } } }", ["x=:a v=1", "x=:b v=2"]),
    "GRAPH of an outer variable": (
        "SELECT ?g ?x { GRAPH ?g { ?x :p ?v } FILTER EXISTS { GRAPH ?g { ?x :q ?g } } }",
        ["g=:g2 x=:b"],
    ),
    "GRAPH, a filter on an outer variable inside": (
        "{ ?x :p ?v FILTER EXISTS { GRAPH ?g { ?y :p ?w FILTER(?w < ?v) } } }",
        ["x=:a v=2", "x=:b v=2"],
    ),
}

UNBOUND_OUTSIDE = {
    "joins with anything": (
        "SELECT ?x { ?x :q ?y OPTIONAL { ?y :p ?v } FILTER EXISTS { ?z :p ?v } }",
        ["x=:a", "x=:b"],
    ),
    "is unbound in a filter": (
        "SELECT ?x { ?x :q ?y OPTIONAL { ?y :p ?v } FILTER EXISTS { ?z :p ?w FILTER(!BOUND(?v)) } }",
        ["x=:b"],
    ),
    "is found inside": (
        "SELECT ?x { ?x :q ?y OPTIONAL { ?y :p ?v } FILTER NOT EXISTS { :a :p ?v FILTER(?v = 1) } }",
        ["x=:a"],
    ),
    "is found inside by an OPTIONAL": (
        "SELECT ?x { ?x :q ?y OPTIONAL { ?y :p ?v } FILTER EXISTS { {} OPTIONAL { :a :p ?v } FILTER(?v = 1) } }",
        ["x=:b"],
    ),
}


@pytest.mark.parametrize(("query", "expected"), WHERE_IT_STANDS.values(), ids=WHERE_IT_STANDS.keys())
def test_exists_in_every_position(engine: Any, query: str, expected: list[str]) -> None:
    assert ask(engine, query) == sorted(expected)


@pytest.mark.parametrize(("query", "expected"), WHAT_IT_HOLDS.values(), ids=WHAT_IT_HOLDS.keys())
def test_exists_with_every_kind_of_pattern(engine: Any, query: str, expected: list[str]) -> None:
    assert ask(engine, query) == sorted(expected)


@pytest.mark.parametrize(("query", "expected"), UNBOUND_OUTSIDE.values(), ids=UNBOUND_OUTSIDE.keys())
def test_a_variable_that_is_unbound_outside(engine: Any, query: str, expected: list[str]) -> None:
    assert ask(engine, query) == sorted(expected)
