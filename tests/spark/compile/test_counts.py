"""What COUNT has written is read without looking at what it is: answers are those of an engine that always looks."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from pyoxigraph import QuerySolutions, RdfFormat, Store
from pyspark.sql import SparkSession

from penstock import Engine
from tests.support.compare import Bag, solutions

DATA = """@prefix : <http://e/> .
:a :p 1, 2, 3 ; :q 3, "3", 3.0 . :b :p 1 ; :q "03"^^<http://www.w3.org/2001/XMLSchema#integer> . :c :q :a .
:d :p 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14 ; :q 11 ."""
COUNTED = "{ SELECT ?x (COUNT(?y) AS ?n) { ?x :p ?y } GROUP BY ?x }"
QUERIES = (
    f"SELECT (MAX(?n) AS ?most) (MIN(?n) AS ?least) (SUM(?n) AS ?all) (AVG(?n) AS ?mean) {{ {COUNTED} }}",
    f"SELECT (COUNT(DISTINCT ?n) AS ?c) (SUM(DISTINCT ?n) AS ?all) {{ {COUNTED} }}",
    f"SELECT ?x ?n {{ {COUNTED} }} ORDER BY ?n LIMIT 2",
    f"SELECT ?x ?n {{ {COUNTED} }} ORDER BY DESC(?n) LIMIT 2",
    f"SELECT ?x ?n {{ ?x :q ?q OPTIONAL {COUNTED} }}",
    f"SELECT ?x ?q {{ ?x :q ?q OPTIONAL {COUNTED} FILTER (?n > 1 || !BOUND(?n)) }}",
    f"SELECT ?x ?q {{ {COUNTED} ?x :q ?q FILTER (?n = ?q) }}",
    f"SELECT ?x ?q {{ {COUNTED} ?x :q ?q FILTER (SAMETERM(?n, ?q)) }}",
    f"SELECT ?x ?n {{ {COUNTED} ?x :q ?n }}",
    f"SELECT ?x ?n {{ {{ {COUNTED} }} UNION {{ ?x :q ?n }} FILTER (?n = 3) }}",
    f"SELECT ?x (STR(?n) AS ?s) (DATATYPE(?n) AS ?t) (?n + 1 AS ?m) (?n / 2 AS ?h) {{ {COUNTED} }}",
    f"SELECT ?x (IF(?n > 2, ?n, 'few') AS ?m) (COALESCE(?n, 0) AS ?o) (isNumeric(?n) AS ?is) {{ {COUNTED} }}",
    f"SELECT ?n (COUNT(?x) AS ?many) (MAX(?n) AS ?same) {{ {COUNTED} }} GROUP BY ?n HAVING (COUNT(?x) < 5)",
    f"SELECT ?x {{ {COUNTED} FILTER EXISTS {{ ?x :q ?q FILTER (?q = ?n) }} }}",
    f"SELECT ?x ?n {{ {COUNTED} VALUES ?n {{ 1 11 'x' }} }}",
    "SELECT (MAX(STRLEN(STR(?y))) AS ?longest) (MIN(STRLEN(STR(?q))) AS ?shortest) { ?x :p ?y OPTIONAL { ?x :q ?q } }",
    "SELECT ?y { ?x :p ?y } ORDER BY DESC(STRLEN(STR(?y))) DESC(?y) LIMIT 3",
)


@pytest.fixture(scope="module")
def engine(spark: SparkSession) -> Iterator[Engine]:
    with Engine(background="spark", spark=spark) as engine:
        engine.load(DATA.encode(), format="turtle")
        yield engine


@pytest.fixture(scope="module")
def store() -> Store:
    store = Store()
    store.load(DATA.encode(), RdfFormat.TURTLE)
    return store


def expected(store: Store, text: str) -> tuple[list[str], Bag]:
    found = store.query(text)
    assert isinstance(found, QuerySolutions)
    names = [var.value for var in found.variables]
    return names, solutions(names, [{name: row[name] for name in names} for row in found])


@pytest.mark.parametrize("query", QUERIES)
def test_counts(engine: Engine, store: Store, query: str) -> None:
    text = f"PREFIX : <http://e/> {query}"
    names, wanted = expected(store, text)
    assert solutions(names, engine.query(text).rows) == wanted
    assert wanted
