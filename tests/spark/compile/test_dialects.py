"""DuckDB gives the rows of Spark: every function, operator and aggregate on edge cases of all datatypes."""

from __future__ import annotations

import re
from itertools import product

import pytest
from pyspark.sql import SparkSession

from penstock.compile import sql
from penstock.compile.expressions.expressions import supported
from penstock.compile.kernels.java_numbers import old_text, text
from penstock.spark.session import arrow_functions, session
from tests.support.dialects import compiled, differences, duckdb_rows, spark_rows, triples
from tests.support.edge_terms import EDGE_TERMS, FEW

XSD = "http://www.w3.org/2001/XMLSchema#"
_MOMENT = '"2020-02-29T12:00:00Z"^^xsd:dateTime'
ONE: dict[str, list[str]] = {  # by function: expressions of ?a
    "NEGATE": ["-(?a)"],
    "PLUS": ["+(?a)"],
    "ABS": ["ABS(?a)"],
    "CEIL": ["CEIL(?a)"],
    "FLOOR": ["FLOOR(?a)"],
    "ROUND": ["ROUND(?a)"],
    "STR": ["STR(?a)"],
    "LANG": ["LANG(?a)"],
    "DATATYPE": ["DATATYPE(?a)"],
    "ISNUMERIC": ["ISNUMERIC(?a)"],
    "ISIRI": ["ISIRI(?a)"],
    "ISURI": ["ISURI(?a)"],
    "ISBLANK": ["ISBLANK(?a)"],
    "ISLITERAL": ["ISLITERAL(?a)"],
    "STRLEN": ["STRLEN(?a)"],
    "UCASE": ["UCASE(?a)"],
    "LCASE": ["LCASE(?a)"],
    "ENCODE_FOR_URI": ["ENCODE_FOR_URI(?a)"],
    "MD5": ["MD5(?a)"],
    "SHA1": ["SHA1(?a)"],
    "SHA256": ["SHA256(?a)"],
    "SHA384": ["SHA384(?a)"],
    "SHA512": ["SHA512(?a)"],
    "YEAR": ["YEAR(?a)"],
    "MONTH": ["MONTH(?a)"],
    "DAY": ["DAY(?a)"],
    "HOURS": ["HOURS(?a)"],
    "MINUTES": ["MINUTES(?a)"],
    "SECONDS": ["SECONDS(?a)"],
    "TIMEZONE": ["TIMEZONE(?a)"],
    "TZ": ["TZ(?a)"],
    **{f"{XSD}{name}": [f"xsd:{name}(?a)"] for name in ("boolean", "integer", "decimal", "float", "double", "string")},
    **{f"{XSD}{name}": [f"xsd:{name}(?a)"] for name in ("dateTime", "date")},
    "IRI": ["IRI(?a)", 'IRI(CONCAT("http://e/", ?a))'],
    "URI": ["URI(?a)"],
    "BOUND": ["BOUND(?a)"],
    "!": ["(!?a)"],
    "NOW": ["(NOW() > ?a)"],
    "REGEX": [
        'REGEX(?a, "^[a-c]+$")', 'REGEX(?a, "a.b")', 'REGEX(?a, "^a.*b$", "s")', 'REGEX(?a, "b$", "m")',
        'REGEX(?a, "ABC", "i")', 'REGEX(?a, "[k-s]", "i")', 'REGEX(?a, "[K-S]", "i")', 'REGEX(?a, "I", "i")',
        'REGEX(?a, "[^a-z]", "i")', 'REGEX(?a, "a.c*", "q")',
    ],
    "REPLACE": ['REPLACE(?a, "[b-d]", "($0)")', 'REPLACE(?a, "(a)(b)", "$2-$1")', 'REPLACE(?a, "[a-c]+", "-", "i")'],
    "<": ['(?a < "P1D"^^xsd:duration)', '(?a < "P1M"^^xsd:duration)', f"(?a < {_MOMENT})", "(?a < 1.5)", "(?a < 1e0)"],
}  # fmt: skip
TWO: dict[str, list[str]] = {  # by function: expressions of ?a and ?b
    **{symbol: [f"(?a {symbol} ?b)"] for symbol in ("+", "-", "*", "/", "=", "!=", "<", ">", "<=", ">=", "&&", "||")},
    "SAMETERM": ["SAMETERM(?a, ?b)"],
    "STRSTARTS": ["STRSTARTS(?a, ?b)"],
    "STRENDS": ["STRENDS(?a, ?b)"],
    "CONTAINS": ["CONTAINS(?a, ?b)"],
    "STRBEFORE": ["STRBEFORE(?a, ?b)"],
    "STRAFTER": ["STRAFTER(?a, ?b)"],
    "CONCAT": ["CONCAT(?a, ?b)"],
    "SUBSTR": ["SUBSTR(?a, ?b)", 'SUBSTR("foobar", ?a, ?b)'],
    "LANGMATCHES": ["LANGMATCHES(?a, ?b)"],
    "STRLANG": ["STRLANG(?a, ?b)"],
    "STRDT": ["STRDT(?a, ?b)"],
    "IF": ['IF(?a, ?b, "no")'],
    "COALESCE": ["COALESCE(?a / 0, ?b)"],
    "IN": ["(?a IN (?b, 1))"],
    "NOT IN": ["(?a NOT IN (?b, 1))"],
}
RANDOM = {"UUID": "UUID()", "STRUUID": "STRUUID()", "BNODE": "BNODE()"}  # other values each time
UNSUPPORTED = {
    "RAND()": "the function rand",
    'REGEX(?a, "\\\\d")': "the regular expression",  # Unicode's classes depend on its version
    'REGEX(?a, "é", "i")': "the regular expression",
    'REGEX(?a, "a(?=b)")': "the regular expression",
    "REGEX(?a, ?b)": "is computed",
    'REPLACE(?a, "b", ?b)': "is computed",
}
ELSEWHERE = {"TIMESTAMP", "RAND"}  # a column of streams, and one without a counterpart


@pytest.fixture(scope="module")
def own(spark: SparkSession) -> SparkSession:
    found = session.private(spark)
    arrow_functions.register(found)
    return found


def batches(table: dict[str, list[str]], size: int) -> list[tuple[str, ...]]:
    """Return all expressions, several for a job: each job of Spark costs time."""
    every = [expression for expressions in table.values() for expression in expressions]
    return [tuple(every[i : i + size]) for i in range(0, len(every), size)]


def both(own: SparkSession, expressions: tuple[str, ...], pairs: list[tuple[str | None, str | None]]) -> object:
    """Return the first differing rows of each expression."""
    items = " ".join(f"({expression} AS ?r{i})" for i, expression in enumerate(expressions))
    query = compiled(f"SELECT ?a ?b {items} {{ ?a :p ?b }}")
    table = triples(pairs)
    ours, theirs = duckdb_rows(query, triples=table), spark_rows(own, query, triples=table)
    assert len(ours) == len(theirs) == len(pairs)
    found = {
        expression: differences([(*row[:2], row[i + 2]) for row in theirs], [(*row[:2], row[i + 2]) for row in ours])[
            :5
        ]
        for i, expression in enumerate(expressions)
    }
    return {expression: rows for expression, rows in found.items() if rows}


@pytest.mark.parametrize("expressions", batches(ONE, 4), ids=lambda found: found[0])
def test_functions_of_one_term(own: SparkSession, expressions: tuple[str, ...]) -> None:
    assert both(own, expressions, [(term, f'"{i}"') for i, term in enumerate(EDGE_TERMS)]) == {}


@pytest.mark.parametrize("expressions", batches(TWO, 2), ids=lambda found: found[0])
def test_functions_of_two_terms(own: SparkSession, expressions: tuple[str, ...]) -> None:
    assert both(own, expressions, list(product(FEW, FEW))) == {}


@pytest.mark.parametrize("expression", RANDOM.values())
def test_random_values_differ_in_every_row(expression: str) -> None:
    query = compiled(f"SELECT ({expression} AS ?r) {{ ?a :p ?b }}")
    rows = duckdb_rows(query, triples=triples([(f'"{i}"', None) for i in range(50)]))
    assert len(set(rows)) == 50


@pytest.mark.parametrize(("expression", "reason"), UNSUPPORTED.items())
def test_functions_without_an_exact_counterpart(expression: str, reason: str) -> None:
    with pytest.raises(sql.Unsupported, match=reason):
        sql.write(compiled(f"SELECT ({expression} AS ?r) {{ ?a :p ?b }}"), sql.DUCKDB)


def test_every_function_of_the_language_is_compared() -> None:
    assert {*ONE, *TWO, *RANDOM, *ELSEWHERE} == set(supported())


NUMBERS = ["1.5", "2.25", "-7", "0.000000000000000001", "3.333", "42", "33333333333333333333.333333333333333333"]
GROUPS = {
    "decimals": [f'"{n}"^^<{XSD}decimal>' for n in NUMBERS[:6]],
    "large": [f'"{NUMBERS[6]}"^^<{XSD}decimal>'] * 2,
    "too large": [f'"{NUMBERS[6]}"^^<{XSD}decimal>'] * 4,
    "integers": [f'"{n}"^^<{XSD}integer>' for n in ("5", "7", "5", "-12", "007")],
    "doubles": [f'"{n}"^^<{XSD}double>' for n in ("1.5", "2.25", "-7", "1e20", "INF")],
    "nan": [f'"{n}"^^<{XSD}double>' for n in ("NaN", "1")],
    "mixed": [f'"5"^^<{XSD}integer>', f'"2.5"^^<{XSD}decimal>', f'"1.25"^^<{XSD}float>', f'"1"^^<{XSD}double>'],
    "errors": [f'"5"^^<{XSD}integer>', '"x"', "<http://e/a>"],
    "strings": ['"b"', '"a"', '"a"@en', '"B"', '"é"', '"😀"', '""'],
    "moments": [term for term in EDGE_TERMS if term is not None and "date" in term][:20],
    "all": [term for term in EDGE_TERMS if term is not None],
}
AGGREGATES = [
    "SUM(?b)", "AVG(?b)", "COUNT(?b)", "COUNT(*)", "COUNT(DISTINCT ?b)", "MIN(?b)", "MAX(?b)", "SAMPLE(?b)",
    "SUM(DISTINCT ?b)", "AVG(DISTINCT ?b)", "STRLEN(GROUP_CONCAT(?b; SEPARATOR=', '))",
    "STRLEN(GROUP_CONCAT(DISTINCT ?b))",
]  # fmt: skip
AGGREGATED = [" ".join(f"({a} AS ?r{i})" for i, a in enumerate(part)) for part in (AGGREGATES[:6], AGGREGATES[6:])]
GROUPED = triples([(f"<http://e/{name}>", term) for name, terms in GROUPS.items() for term in terms])
QUERIES = [
    *(f"SELECT ?a {items} {{ ?a :p ?b }} GROUP BY ?a" for items in AGGREGATED),
    *(f"SELECT {items} {{ ?a :q ?b }}" for items in AGGREGATED),
    "SELECT (SUM(?n) AS ?r) (MAX(?n) AS ?m) { SELECT ?a (COUNT(?b) AS ?n) { ?a :p ?b } GROUP BY ?a }",
    "SELECT ?a (COUNT(*) AS ?n) { ?a :p ?b } GROUP BY ?a HAVING (SUM(?b) > 10)",
    "SELECT DISTINCT ?b { ?a :p ?b }",
    "SELECT ?a ?b { ?a :p ?b MINUS { ?a :p 5 } }",
    "SELECT ?a ?b ?c { ?a :p ?b OPTIONAL { ?a :p ?c FILTER(?c > ?b) } }",
    "SELECT ?a ?b { ?a :p ?b FILTER NOT EXISTS { ?a :p ?c FILTER(?c > 100) } }",
    "SELECT ?a ?c { ?a :p ?b . ?c :p ?b }",
    "SELECT ?a ?c { ?a :p ?b . ?c :p ?d FILTER(?b = ?d) }",
    "SELECT ?a ?v { ?a :p ?b VALUES (?b ?v) { (5 'five') (7 UNDEF) } }",
]


@pytest.mark.parametrize("query", QUERIES)
def test_queries(own: SparkSession, query: str) -> None:
    found = compiled(query)
    expected = spark_rows(own, found, triples=GROUPED)
    assert differences(expected, duckdb_rows(found, triples=GROUPED)) == []


@pytest.mark.parametrize("order", ["?b", "DESC(?b)"])
def test_order(own: SparkSession, order: str) -> None:
    found = compiled(f"SELECT ?b ?a {{ ?a :p ?b }} ORDER BY {order} ?a")
    assert duckdb_rows(found, triples=GROUPED) == spark_rows(own, found, triples=GROUPED)


def test_java_writes_doubles_as_expected(spark: SparkSession) -> None:
    forms = [term.partition('"^^')[0][1:] for term in EDGE_TERMS if term is not None and term.endswith("#double>")]
    numbers = [float(form) for form in forms if re.fullmatch(r"[+-]?[0-9.]+([eE][+-]?[0-9]+)?", form)]
    numbers += [2.0**power for power in range(-1074, 1024, 7)]
    rows = spark.createDataFrame([(number,) for number in numbers], "x double")
    version = int(str(spark.sparkContext._jvm.System.getProperty("java.specification.version")))  # type: ignore[union-attr]
    write = text if version >= 19 else old_text
    assert [row.t for row in rows.selectExpr("CAST(x AS STRING) AS t").collect()] == [write(n, False) for n in numbers]
