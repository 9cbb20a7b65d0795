"""Aggregates of two branches, put together from the shares of both: the same terms as from all rows at once."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest
from pyspark.sql import SparkSession

from penstock.algebra.build import translate
from penstock.spark.store.store import SparkStore
from tests.support.evaluations import XSD, written
from tests.unit.optimise.rules.test_push_aggregate import pushed

PREFIXES = (("", "http://example.org/"), ("xsd", XSD))
ALL = "(MIN(?x) AS ?l) (MAX(?x) AS ?m) (COUNT(?x) AS ?c) (SAMPLE(?x) AS ?o)"
BOTH = "{ { ?k :p ?x } UNION { ?k :q ?x } }"

# The values of one branch and of the other, and what comes out: MIN, MAX
VALUES: dict[str, tuple[str, str, tuple[str, str]]] = {
    "integers": ("1 , 2", "3 , 4", ("1", "4")),
    "a mean that is whole": ("1", "3", ("1", "3")),
    "decimals": ("0.1", "0.2", ("0.1", "0.2")),
    "integer and decimal": ("1", "2.5", ("1", "2.5")),
    "integer and double": ("1", "2e0", ("1", '"2e0"^^xsd:double')),
    "floats": ('"0.5"^^xsd:float', '"0.25"^^xsd:float', ('"0.25"^^xsd:float', '"0.5"^^xsd:float')),
    "float and double": ('"0.5"^^xsd:float', "2.5e-1", ('"2.5e-1"^^xsd:double', '"0.5"^^xsd:float')),
    "a third": ("1 , 4", "2", ("1", "4")),
    "the first alone": ("7", "", ("7", "7")),
    "the second alone": ("", "7.0", ("7.0", "7.0")),
    "a small type": ('"5"^^xsd:byte', "6", ('"5"^^xsd:byte', "6")),
    "no number in the first": ('"a"', "1", ("1", '"a"')),
    "no number in the second": ("1", ":iri", ("<http://example.org/iri>", "1")),
    "all kinds": ('true , "b"', '"a"@en , 2', ("2", "true")),
    "equal, but other terms": ("1.0", "1 , 01", ("01", "1.0")),
    "not a number": ('"NaN"^^xsd:double', "1", ("1", '"NaN"^^xsd:double')),
    "infinite": ('"INF"^^xsd:double', "1", ("1", '"INF"^^xsd:double')),
    "too large": ("99999999999999999999", "1", ("1", "99999999999999999999")),
}


@pytest.fixture(scope="module")
def store(spark: SparkSession) -> Iterator[SparkStore]:
    store = SparkStore(spark=spark, rules=[])
    given = ((i, p, values) for i, case in enumerate(VALUES.values()) for p, values in zip("pq", case, strict=False))
    lines = (f":k{i} :{p} {values} ." for i, p, values in given if values)
    store.load("\n".join((*(f"@prefix {name}: <{iri}> ." for name, iri in PREFIXES), *lines)).encode(), format="turtle")
    yield store
    store.close()


def answered(store: SparkStore, text: str, push: bool) -> list[tuple[str | None, ...]]:
    text = "".join(f"PREFIX {name}: <{iri}> " for name, iri in PREFIXES) + text
    query = translate(text)
    plan = pushed(query.pattern) if push else query.pattern
    assert (plan != query.pattern) == push
    rows = store.answer(replace(query, pattern=plan), text).rows
    return sorted((tuple(written(row.get(var.name)) for var in query.variables) for row in rows), key=str)


@pytest.mark.parametrize("push", [True, False])
def test_terms(store: SparkStore, push: bool) -> None:
    found = {row[0]: row[1:3] for row in answered(store, f"SELECT ?k {ALL} {BOTH} GROUP BY ?k", push)}
    named = {name: found[f"<http://example.org/k{i}>"] for i, name in enumerate(VALUES)}
    assert named == {name: expected for name, (_, _, expected) in VALUES.items()}


@pytest.mark.parametrize(
    "text",
    [
        f"SELECT ?k {ALL} {BOTH} GROUP BY ?k HAVING (MAX(?x) > 2)",
        f"SELECT {ALL} {BOTH}",
        f"SELECT {ALL} (COUNT(*) AS ?n) {{ {{ ?k :p ?x FILTER (?x = :none) }} UNION {{ ?k :none ?x }} }}",
        f"SELECT {ALL} {{ {{ ?k :p ?x FILTER (isNumeric(?x)) }} UNION {{ ?k :none ?x }} }}",
        f"SELECT ?y {ALL} {{ {{ ?k :p ?x OPTIONAL {{ ?k :p ?y FILTER (?y > 3) }} }} "
        "UNION { ?k :q ?x OPTIONAL { ?k :q ?y FILTER (?y > 3) } } } GROUP BY ?y",
    ],
    ids=["having", "no keys", "nothing", "one branch of nothing", "unbound keys"],
)
def test_pushed_aggregates_equal_aggregates_of_all_rows(store: SparkStore, text: str) -> None:
    assert answered(store, text, push=True) == answered(store, text, push=False)
