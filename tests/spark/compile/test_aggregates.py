"""Aggregates of nothing, of errors, of mixed numbers; HAVING; DISTINCT inside."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from pyspark.sql import SparkSession

from penstock import Engine
from tests.support.evaluations import PREFIXES, written

ALL = "(SUM(?x) AS ?sum) (AVG(?x) AS ?avg) (MIN(?x) AS ?min) (MAX(?x) AS ?max) (COUNT(?x) AS ?count)"
DISTINCT = "(SUM(DISTINCT ?x) AS ?sum) (AVG(DISTINCT ?x) AS ?avg) (COUNT(DISTINCT ?x) AS ?count)"
JOINED = '(GROUP_CONCAT(?x; separator="\'\\\\,") AS ?joined)'


@pytest.fixture(scope="module")
def engine(spark: SparkSession) -> Iterator[Engine]:
    with Engine(background="spark", spark=spark) as engine:
        yield engine


def rows(engine: Engine, query: str) -> list[dict[str, str | None]]:
    return [{name: written(term) for name, term in row.items()} for row in engine.query(PREFIXES + query).rows]


@pytest.mark.parametrize(
    ("wanted", "values", "expected"),
    [
        (f"{ALL} {JOINED}", "", {"sum": "0", "avg": "0", "count": "0", "joined": '""'}),
        (ALL, "1 2 4", {"sum": "7", "avg": "2.333333333333333333", "min": "1", "max": "4", "count": "3"}),
        (
            ALL,
            '1 2.5 "3"^^xsd:double',
            {
                "sum": '"6.5"^^xsd:double',
                "avg": '"2.1666666666666665"^^xsd:double',
                "min": "1",
                "max": '"3"^^xsd:double',
                "count": "3",
            },
        ),
        (f"{ALL} {JOINED}", '1 "a"', {"min": "1", "max": '"a"', "count": "2", "joined": '"1\'\\\\,a"'}),
        (f"{ALL} {JOINED}", "1 UNDEF", {"min": "1", "max": "1", "count": "1"}),
        (DISTINCT, "1 1 2", {"sum": "3", "avg": "1.5", "count": "2"}),
        (DISTINCT, "", {"sum": "0", "avg": "0", "count": "0"}),
        ("(SUM(?x) AS ?sum)", '0.1 0.2 "5"^^xsd:byte', {"sum": "5.3"}),
        ("(SUM(?x) AS ?sum)", '"0.1"^^xsd:float "0.2"^^xsd:float', {"sum": '"0.3"^^xsd:float'}),
        ("(SUM(?x) AS ?sum)", '1 "NaN"^^xsd:double', {"sum": '"NaN"^^xsd:double'}),
        ("(SUM(1 / ?x) AS ?sum) (COUNT(1 / ?x) AS ?count)", "0 1", {"count": "1"}),
        ("(SAMPLE(?x) AS ?some)", "UNDEF 7", {"some": "7"}),
    ],
)
def test_aggregates(engine: Engine, wanted: str, values: str, expected: dict[str, str]) -> None:
    assert rows(engine, f"SELECT {wanted} {{ VALUES ?x {{ {values} }} }}") == [expected]


def test_a_sum_that_is_too_large_is_an_error(engine: Engine) -> None:
    assert rows(engine, "SELECT (SUM(?x) AS ?sum) { VALUES ?x { 99999999999999999999 1 } }") == [{}]


def test_count_of_solutions(engine: Engine) -> None:
    values = "VALUES (?x ?y) { (1 2) (1 2) (1 UNDEF) (UNDEF UNDEF) }"
    query = f"SELECT (COUNT(*) AS ?all) (COUNT(DISTINCT *) AS ?different) {{ {values} }}"
    assert rows(engine, query) == [{"all": "4", "different": "3"}]


def test_having(engine: Engine) -> None:
    values = "VALUES (?g ?x) { (1 2) (1 3) (2 4) (UNDEF 5) }"
    query = f"SELECT ?g (SUM(?x) AS ?sum) {{ {values} }} GROUP BY ?g HAVING(SUM(?x) > 4) ORDER BY ?g"
    assert rows(engine, query) == [{"sum": "5"}, {"g": "1", "sum": "5"}]


def test_an_error_in_having_is_not_true(engine: Engine) -> None:
    assert rows(engine, "SELECT ?g { VALUES (?g ?x) { (1 2) } } GROUP BY ?g HAVING(SUM(?x) / 0 > 1)") == []


def test_no_groups_of_nothing(engine: Engine) -> None:
    assert rows(engine, "SELECT ?g (COUNT(*) AS ?n) { VALUES ?g { 1 } FILTER(?g > 1) } GROUP BY ?g") == []
