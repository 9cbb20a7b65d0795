"""ORDER BY: a total order over all kinds of terms, with DISTINCT, LIMIT and OFFSET."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from pyspark.sql import SparkSession

from penstock import Engine
from tests.support.evaluations import PREFIXES, written

# In SPARQL's order: unbound, IRIs, then literals; among those by family and value, which the specification leaves open.
SORTED = [
    None, "<http://e/a>", "<http://e/b>",
    '"-INF"^^xsd:double', "-1", "1.5", "9", "10", '"INF"^^xsd:double', '"NaN"^^xsd:double',
    '"a"', '"b"', '"a"@en', "false", "true",
    '"2019-01-01"^^xsd:date', '"2020-01-01T00:00:00Z"^^xsd:dateTime', '"2020-01-01T00:00:00.5Z"^^xsd:dateTime',
    '"abc"^^xsd:integer', '"x"^^<http://e/t>',
]  # fmt: skip


@pytest.fixture(scope="module")
def engine(spark: SparkSession) -> Iterator[Engine]:
    with Engine(background="spark", spark=spark) as engine:
        yield engine


def column(engine: Engine, query: str) -> list[str | None]:
    return [written(row.get("x")) for row in engine.query(PREFIXES + query).rows]


def values(terms: list[str | None]) -> str:
    return f"VALUES ?x {{ {' '.join(term or 'UNDEF' for term in terms)} }}"


def test_all_kinds_of_terms(engine: Engine) -> None:
    shuffled = SORTED[1::3] + SORTED[::3] + SORTED[2::3]
    assert column(engine, f"SELECT ?x {{ {values(shuffled)} }} ORDER BY ?x") == SORTED


def test_descending_is_the_reverse(engine: Engine) -> None:
    assert column(engine, f"SELECT ?x {{ {values(SORTED)} }} ORDER BY DESC(?x)") == SORTED[::-1]


def test_blank_nodes_come_after_unbound_and_before_iris(engine: Engine) -> None:
    query = "SELECT ?x { VALUES (?n ?x) { (1 :a) (2 UNDEF) (3 1) } } ORDER BY IF(?n = 1, BNODE(), ?x)"
    assert column(engine, query) == [None, "<http://e/a>", "1"]


PAIRS = "VALUES (?x ?y) { (1 5) (2 4) (1 3) (3 2) }"


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        (f"SELECT ?x {{ {PAIRS} }} ORDER BY ?x DESC(?y)", ["1", "1", "2", "3"]),
        (f"SELECT ?x {{ {PAIRS} }} ORDER BY (1/0) DESC(?x) LIMIT 2", ["3", "2"]),
        (f"SELECT DISTINCT ?x {{ {PAIRS} }} ORDER BY ?y LIMIT 2", ["3", "1"]),
        (f"SELECT DISTINCT ?x {{ {PAIRS} }} ORDER BY DESC(?y) OFFSET 1 LIMIT 1", ["2"]),
        (f"SELECT ?x {{ {PAIRS} }} ORDER BY (?x + ?y) LIMIT 1", ["1"]),
        (f"SELECT ?x {{ {PAIRS} }} ORDER BY ?x OFFSET 9", []),
    ],
)
def test_keys_and_slices(engine: Engine, query: str, expected: list[str]) -> None:
    assert column(engine, query) == expected
