"""ASK, CONSTRUCT and DESCRIBE, against answers that were worked out by hand."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

import penstock
from tests.support.asking import NS, PREFIX, short

DATA = f"""
@prefix : <{NS}> .
:a :p 1, 2 . :b :p 2 .
:d :has [ :has [ :v 1 ] ] .
:e :to _:m . _:m :to _:n . _:n :to _:m .
:g {{ :a :p 3 }}
"""


@pytest.fixture(scope="module")
def engine(spark: Any) -> Iterator[Any]:
    with penstock.Engine(background="spark", spark=spark) as engine:
        engine.load(DATA.encode(), format="trig")
        yield engine


def triples(engine: Any, query: str) -> list[str]:
    found = engine.query(PREFIX + query).triples
    return sorted(" ".join(map(short, (t.subject, t.predicate, t.object))) for t in found)


ASKED = {
    "ASK {}": True,
    "ASK { :a :p 1 }": True,
    "ASK { :a :p 9 }": False,
    "ASK { GRAPH ?g { ?x :p 3 } }": True,
    "ASK FROM :g { ?x :p 1 }": False,
}


@pytest.mark.parametrize(("query", "expected"), ASKED.items())
def test_ask(engine: Any, query: str, expected: bool) -> None:
    assert engine.query(PREFIX + query).boolean is expected


GRAPHS = {
    "each triple once": ("CONSTRUCT { :s :o ?v } WHERE { ?x :p ?v }", [":s :o 1", ":s :o 2"]),
    "the short form": ("CONSTRUCT WHERE { ?x :p 2 }", [":a :p 2", ":b :p 2"]),
    "no literal is a subject": ("CONSTRUCT { ?v :of ?x } WHERE { ?x :p ?v }", []),
    "only an IRI is a predicate": ("CONSTRUCT { ?x ?v ?x } WHERE { ?x :p ?v }", []),
    "a triple with an unbound part is left out, others stay": (
        "CONSTRUCT { ?x :q ?y . ?x :r 1 } WHERE { ?x :p 1 OPTIONAL { ?x :none ?y } }",
        [":a :r 1"],
    ),
    "a variable of the template alone": ("CONSTRUCT { ?x :q ?nothing } WHERE { ?x :p 1 }", []),
    "an empty template": ("CONSTRUCT {} WHERE { ?x :p 1 }", []),
    "a blank node for each solution": (
        "CONSTRUCT { ?x :r [ :v ?v ] } WHERE { ?x :p ?v }",
        [":a :r _", ":a :r _", ":b :r _", "_ :v 1", "_ :v 2", "_ :v 2"],
    ),
    "labels of the template are not those of the pattern": (
        "CONSTRUCT { _:b :v ?v } WHERE { _:b :p ?v }",
        ["_ :v 1", "_ :v 2", "_ :v 2"],
    ),
    "what LIMIT leaves": (
        "CONSTRUCT { ?x :max ?v } WHERE { ?x :p ?v } ORDER BY DESC(?v) DESC(?x) LIMIT 1",
        [":b :max 2"],
    ),
    "DESCRIBE an IRI": ("DESCRIBE :a", [":a :p 1", ":a :p 2"]),
    "DESCRIBE what is not there": ("DESCRIBE :nobody", []),
    "DESCRIBE a variable": ("DESCRIBE ?x { ?x :p 1 }", [":a :p 1", ":a :p 2"]),
    "DESCRIBE a variable and an IRI": ("DESCRIBE ?x :b { ?x :p 1 }", [":a :p 1", ":a :p 2", ":b :p 2"]),
    "DESCRIBE everything": ("DESCRIBE * { ?x :p ?v FILTER(?v = 1) }", [":a :p 1", ":a :p 2"]),
    "DESCRIBE a variable that is a literal or unbound": ("DESCRIBE ?v ?n { :a :p ?v }", []),
    "DESCRIBE follows blank nodes": ("DESCRIBE :d", [":d :has _", "_ :has _", "_ :v 1"]),
    "DESCRIBE follows blank nodes in a circle": ("DESCRIBE :e", [":e :to _", "_ :to _", "_ :to _"]),
}


@pytest.mark.parametrize(("query", "expected"), GRAPHS.values(), ids=GRAPHS.keys())
def test_graphs(engine: Any, query: str, expected: list[str]) -> None:
    assert triples(engine, query) == sorted(expected)


def test_the_blank_nodes_of_a_solution_are_its_own(engine: Any) -> None:
    answer = engine.query(PREFIX + "CONSTRUCT { _:n :x ?x ; :v ?v } WHERE { ?x :p ?v }")
    described: dict[str, set[str]] = {}
    for triple in answer.triples:
        described.setdefault(triple.subject.value, set()).add(short(triple.object))
    assert sorted(map(sorted, described.values())) == [["1", ":a"], ["2", ":a"], ["2", ":b"]]
