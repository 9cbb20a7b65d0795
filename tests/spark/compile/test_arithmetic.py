"""Numbers are exact where SPARQL says so, promoted as it says, and errors where they are none; comparisons likewise."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from pyspark.sql import SparkSession

from penstock import Engine
from tests.support.evaluations import Cases, wrong
from tests.support.unordered_moments import UNORDERED


@pytest.fixture(scope="module")
def engine(spark: SparkSession) -> Iterator[Engine]:
    with Engine(background="spark", spark=spark) as engine:
        yield engine


OPERATORS: Cases = {
    "(0.1 + 0.2)": "0.3",
    "(0.1 + 0.2 = 0.3)": "true",
    "(1 / 3)": "0.333333333333333333",
    "(6 / 2)": '"3"^^xsd:decimal',
    "(1 / 0)": None,
    "(1 / 0.0)": None,
    "(1 / 0e0)": '"INF"^^xsd:double',
    "(-1 / 0e0)": '"-INF"^^xsd:double',
    "(0e0 / 0)": '"NaN"^^xsd:double',
    '(1e0 / "-0"^^xsd:double)': '"-INF"^^xsd:double',
    "(0.000000001 * 0.000000001)": "0.000000000000000001",
    "(123456789.123456789 * 987654.321)": "121932631234567.900112635269",
    "(99999999999 * 99999999)": "9999999899900000001",
    "(9223372036854775807 + 1)": "9223372036854775808",
    "(99999999999999999999 + 1)": None,
    "(9223372036854775807 * 9223372036854775807)": None,
    '("18446744073709551615"^^xsd:unsignedLong * 1)': "18446744073709551615",
    "(1 + 1.5)": "2.5",
    "(1 + 1e0)": '"2"^^xsd:double',
    '(1.5 + "1.5"^^xsd:float)': '"3"^^xsd:float',
    '("0.1"^^xsd:float + "0.2"^^xsd:float)': '"0.3"^^xsd:float',
    "(0.1e0 + 0.2e0)": '"0.30000000000000004"^^xsd:double',
    '("5"^^xsd:byte + "3"^^xsd:short)': "8",
    '("abc"^^xsd:integer + 1)': None,
    '("1e3"^^xsd:decimal + 1)': None,
    '("1" + 1)': None,
    "(<http://e/a> + 1)": None,
    "(true + 1)": None,
    "(?nothing + 1)": None,
    "(-(5.5))": "-5.5",
    "(-(99999999999999999999.999999999999999999))": "-99999999999999999999.999999999999999999",
    "ABS(-33333333333333333333.333333333333333333)": "33333333333333333333.333333333333333333",
    "(0 - 99999999999999999999.999999999999999999)": "-99999999999999999999.999999999999999999",
    '(-("x"))': None,
    "ABS(-5.5)": "5.5",
    "CEIL(-1.2)": '"-1"^^xsd:decimal',
    "CEIL(-0.5e0)": '"-0"^^xsd:double',
    "FLOOR(-1.2)": '"-2"^^xsd:decimal',
    "ROUND(-2.5)": '"-2"^^xsd:decimal',
    "ROUND(2.5e0)": '"3"^^xsd:double',
    "ROUND(0.49999999999999994e0)": '"0"^^xsd:double',
    'CEIL("INF"^^xsd:double)': '"INF"^^xsd:double',
    'ROUND("a")': None,
    "(2 * 3 + 4 / 2 - 1)": '"7"^^xsd:decimal',
}

_NAN = '"NaN"^^xsd:double'
COMPARISONS: Cases = {
    "(1 = 1.0)": "true",
    '(1 = "1")': "false",
    '("a" = "a"@en)': "false",
    '("a"@en = "a"@fr)': "false",
    '("a" < "b")': "true",
    '("a" < "b"@en)': None,
    "(true > false)": "true",
    '(true = "1"^^xsd:boolean)': "true",
    "(<http://e/a> != <http://e/b>)": "true",
    "(<http://e/a> < <http://e/b>)": None,
    '("x"^^:t = "x"^^:t)': "true",
    '("x"^^:t != "y"^^:t)': None,
    '("abc"^^xsd:integer = "abc"^^xsd:integer)': "true",
    '("abc"^^xsd:integer != 1)': None,
    '("abc"^^xsd:integer = "x")': None,
    f"({_NAN} = {_NAN})": "false",
    f"({_NAN} != {_NAN})": "true",
    f"({_NAN} < 1)": "false",
    f"sameTerm({_NAN}, {_NAN})": "true",
    '(0e0 = "-0"^^xsd:double)': "true",
    "(9007199254740993 = 9007199254740992.0)": "false",
    "(?nothing = 1)": None,
    'sameTerm(1, "01"^^xsd:integer)': "false",
    '(1 = "01"^^xsd:integer)': "true",
}


def _at(lexical: str) -> str:
    return f'"{lexical}"^^xsd:dateTime'


TIMES: Cases = {
    f"({_at('2020-01-01T00:00:00Z')} = {_at('2020-01-01T01:00:00+01:00')})": "true",
    f"({_at('2020-01-01T00:00:00Z')} < {_at('2020-01-01T00:00:00.5Z')})": "true",
    f"({_at('2020-01-01T00:00:00')} < {_at('2020-01-01T14:00:00Z')})": None,
    f"({_at('2020-01-01T00:00:00')} < {_at('2020-01-01T14:00:01Z')})": "true",
    f"({_at('2020-02-30T00:00:00Z')} < {_at('2020-03-30T00:00:00Z')})": None,
    f"({_at('2020-01-01T24:00:00Z')} = {_at('2020-01-02T00:00:00Z')})": "true",
    f"({_at('-0044-03-15T00:00:00Z')} < {_at('0001-01-01T00:00:00Z')})": "true",
    f"({_at('2020-01-01T00:00:00+14:30')} = {_at('2019-12-31T09:30:00Z')})": None,
    '("2020-01-01"^^xsd:date < "2020-01-02"^^xsd:date)': "true",
    '("2020-01-01Z"^^xsd:date = "2020-01-01+00:00"^^xsd:date)': "true",
    f'("2020-01-01"^^xsd:date < {_at("2020-01-01T00:00:00")})': None,
    **UNORDERED,
}

TABLES = {"operators": OPERATORS, "comparisons": COMPARISONS, "times": TIMES}


@pytest.mark.parametrize("name", TABLES)
def test_arithmetic(engine: Engine, name: str) -> None:
    assert wrong(engine, TABLES[name]) == []
