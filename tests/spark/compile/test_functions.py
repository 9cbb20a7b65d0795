"""Every function of SPARQL 1.1 on what it is for, on the wrong types and on nothing."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from pyspark.sql import SparkSession

from penstock import Engine
from tests.support.evaluations import PREFIXES, Cases, written, wrong


@pytest.fixture(scope="module")
def engine(spark: SparkSession) -> Iterator[Engine]:
    with Engine(background="spark", spark=spark) as engine:
        yield engine


STRINGS: Cases = {
    'STRLEN("a😀b")': "3",
    'STRLEN("é"@fr)': "1",
    "STRLEN(5)": None,
    "STRLEN(?nothing)": None,
    'SUBSTR("foobar", 4)': '"bar"',
    'SUBSTR("foobar"@en, 4, 1)': '"b"@en',
    'SUBSTR("foobar", 0, 3)': '"fo"',
    'SUBSTR("foobar", -1, 3)': '"f"',
    'SUBSTR("foobar", 2, -1)': '""',
    'SUBSTR("foobar", 7)': '""',
    'SUBSTR("abc", 2147483648)': '""',
    'SUBSTR("abc", 2, 99999999999)': '"bc"',
    'SUBSTR("a😀bc", 2, 2)': '"😀b"',
    'SUBSTR("abc", 1, "x")': None,
    'SUBSTR("abc", 1, ?nothing)': None,
    'UCASE("straße"@de)': '"STRASSE"@de',
    'LCASE("ÀB")': '"àb"',
    "UCASE(1)": None,
    'STRSTARTS("foobar"@en, "foo")': "true",
    'STRSTARTS("foobar", "foo"@en)': None,
    'STRSTARTS("foobar"@en, "foo"@fr)': None,
    'STRENDS("foobar", "")': "true",
    'CONTAINS("a%b", "%")': "true",
    'CONTAINS("foobar", 1)': None,
    'STRBEFORE("abc"@en, "bc")': '"a"@en',
    'STRBEFORE("abc"@en, "b"@cy)': None,
    'STRBEFORE("abc"@en, "")': '""@en',
    'STRBEFORE("abc"@en, "z")': '""',
    'STRAFTER("abc"@en, "ab")': '"c"@en',
    'STRAFTER("abc"@en, "")': '"abc"@en',
    'STRAFTER("abc"@en, "z"@en)': '""',
    'STRAFTER("a😀b😀c", "😀")': '"b😀c"',
    'CONCAT("foo"@en, "bar"@en)': '"foobar"@en',
    'CONCAT("foo"@en, "bar"@fr)': '"foobar"',
    'CONCAT("foo"@en, "bar")': '"foobar"',
    'CONCAT("a", 1)': None,
    'ENCODE_FOR_URI("Los Angeles~*+é/"@en)': '"Los%20Angeles~%2A%2B%C3%A9%2F"',
    'LANGMATCHES("en-GB", "EN")': "true",
    'LANGMATCHES("eng", "en")': "false",
    'LANGMATCHES("en", "en-gb")': "false",
    'LANGMATCHES("", "*")': "false",
    'LANGMATCHES("en", "*")': "true",
    'MD5("食べ物")': '"e7ada485d13b1decf628c9211bc3a97b"',
    'SHA1("")': '"da39a3ee5e6b4b0d3255bfef95601890afd80709"',
    'SHA256("abc")': '"ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"',
    'STRLEN(SHA384("é"))': "96",
    'STRLEN(SHA512("é"))': "128",
    'MD5("abc"@en)': None,
}

PATTERNS: Cases = {
    'REGEX("aBc", "ABC", "i")': "true",
    'REGEX("É", "é", "i")': "true",
    'REGEX("a\\nb", "a.b")': "false",
    'REGEX("a\\nb", "a.b", "s")': "true",
    'REGEX("a\\rb", "a.b")': "true",
    'REGEX("a\\nb", "^b$", "m")': "true",
    'REGEX("abc\\n", "c$")': "false",
    'REGEX("abc", "a b c", "x")': "true",
    'REGEX("A.C", "a.c", "qi")': "true",
    'REGEX("abc", "a.c", "q")': "false",
    'REGEX("a\\\\Eb", "\\\\Eb", "q")': "true",
    'REGEX("é٣", "^\\\\w\\\\d$")': "true",
    'REGEX("a😀b", "^a.b$")': "true",
    'REGEX("abab", "(ab)\\\\1")': "true",
    'REGEX("aeb", "[a-z-[aeiou]]")': "true",
    'REGEX("a\'b", "\'")': "true",
    'REGEX("abc", "[")': None,
    'REGEX("abc", "*a")': None,
    'REGEX("abc", "a", "z")': None,
    'REGEX("abc", "b"@en)': None,
    'REGEX(1, "1")': None,
    'REPLACE("abab"@en, "b.", "Z")': '"aZb"@en',
    'REPLACE("abracadabra", "a(.)", "a$1$1")': '"abbraccaddabbra"',
    'REPLACE("abracadabra", ".*?", "x")': None,
    'REPLACE("darted", "^(.*?)d(.*)$", "$1c$2")': '"carted"',
    'REPLACE("abc", "b", "[$5]")': '"a[]c"',
    'REPLACE("abc", "b", "\\\\$")': '"a$c"',
    'REPLACE("abc", "b", "$")': None,
    'REPLACE("abc", "b", "\\\\x")': None,
    'REPLACE("abc", "[", "x")': None,
    'REPLACE("a.c", ".", "$", "q")': '"a$c"',
    'REPLACE("abc", "B", "x", "i")': '"axc"',
    'REPLACE("abc", "b", 1)': None,
}

TERMS: Cases = {
    "STR(<http://e/a>)": '"http://e/a"',
    'STR("a"@en)': '"a"',
    'STR("05"^^xsd:integer)': '"05"',
    "STR(BNODE())": None,
    'LANG("a"@en)': '"en"',
    "LANG(1)": '""',
    "LANG(<http://e/a>)": None,
    'DATATYPE("a")': "<http://www.w3.org/2001/XMLSchema#string>",
    'DATATYPE("a"@en)': "<http://www.w3.org/1999/02/22-rdf-syntax-ns#langString>",
    'DATATYPE("x"^^:t)': "<http://e/t>",
    "DATATYPE(<http://e/a>)": None,
    "isIRI(<http://e/a>)": "true",
    'isURI("a")': "false",
    "isBlank(BNODE())": "true",
    'isLiteral("a"@en)': "true",
    "isIRI(?nothing)": None,
    "isNumeric(1.5)": "true",
    'isNumeric("1")': "false",
    'isNumeric("abc"^^xsd:integer)': "false",
    'isNumeric("1200"^^xsd:byte)': "false",
    'isNumeric("12"^^xsd:byte)': "true",
    "isNumeric(?nothing)": None,
    'STRDT("iiii", <http://e/roman>)': '"iiii"^^<http://e/roman>',
    'STRDT("a"@en, <http://e/t>)': None,
    'STRDT("a", "b")': None,
    'STRLANG("chat", "EN-gb")': '"chat"@en-gb',
    'STRLANG("chat"@en, "fr")': None,
    'STRLANG("chat", "")': None,
    'STRLANG("chat", "abcdefghij")': None,
    'IRI("http://e/a%20b?q#f")': "<http://e/a%20b?q#f>",
    "IRI(<http://e/a>)": "<http://e/a>",
    'IRI("a b")': None,
    'IRI("relative")': None,
    'IRI("http://e/%zz")': None,
    'IRI("http://e:ab/")': None,
    "IRI(5)": None,
    "BOUND(?nothing)": "false",
}

FORMS: Cases = {
    "IF(true, 1, 1/0)": "1",
    "IF(false, 1, 1/0)": None,
    "IF(1/0, 1, 2)": None,
    'IF("", 1, 2)': "2",
    'IF("0", 1, 2)': "1",
    "IF(<http://e/a>, 1, 2)": None,
    'IF("abc"^^xsd:integer, 1, 2)': None,
    'IF("abc"^^xsd:boolean, 1, 2)': None,
    'IF("NaN"^^xsd:double, 1, 2)': "2",
    'IF("2020-01-01T00:00:00Z"^^xsd:dateTime, 1, 2)': None,
    "COALESCE(1/0, ?nothing, 5, 6)": "5",
    "COALESCE(?nothing, 1/0)": None,
    "(1/0 || true)": "true",
    "(1/0 || false)": None,
    "(false && 1/0)": "false",
    "(1/0 && true)": None,
    "(!(1/0))": None,
    '(!"")': "true",
    "(! <http://e/a>)": None,
    "(2 IN ())": "false",
    '(2 IN (<http://e/iri>, "str", 2.0))': "true",
    "(2 IN (1/0, 2))": "true",
    "(2 IN (3, 1/0))": None,
    "(2 NOT IN (1/0, 2))": "false",
    "(2 NOT IN (3, 1/0))": None,
    "(2 NOT IN (3))": "true",
}

CASTS: Cases = {
    'xsd:boolean(" 1 ")': "true",
    'xsd:boolean("TRUE")': None,
    'xsd:boolean("NaN"^^xsd:double)': "false",
    "xsd:boolean(<http://e/a>)": None,
    'xsd:integer(" 5 ")': "5",
    'xsd:integer("5.5")': None,
    "xsd:integer(-5.9)": "-5",
    'xsd:integer("INF"^^xsd:double)': None,
    "xsd:integer(true)": "1",
    'xsd:integer("abc"^^xsd:integer)': None,
    'xsd:integer("2020-01-01T00:00:00Z"^^xsd:dateTime)': None,
    'xsd:decimal("5.50")': "5.5",
    'xsd:decimal("1e3")': None,
    'xsd:float("INF")': '"INF"^^xsd:float',
    'xsd:float("x")': None,
    'xsd:double("1e3")': '"1000"^^xsd:double',
    'xsd:double("Infinity")': None,
    'xsd:string("05"^^xsd:integer)': '"5"',
    'xsd:string("1"^^xsd:boolean)': '"true"',
    "xsd:string(<http://e/a>)": '"http://e/a"',
    'xsd:string("abc"^^xsd:integer)': '"abc"',
    'xsd:dateTime("2020-01-01"^^xsd:date)': '"2020-01-01T00:00:00"^^xsd:dateTime',
    'xsd:dateTime("2020-02-30T00:00:00Z")': None,
    "xsd:dateTime(1)": None,
    'xsd:date("2020-01-01T10:00:00Z"^^xsd:dateTime)': '"2020-01-01Z"^^xsd:date',
    'xsd:date("2020-13-01")': None,
}

_DAY = '"2011-01-10T14:45:13.815-05:00"^^xsd:dateTime'
_MIDNIGHT = '"1999-12-31T24:00:00Z"^^xsd:dateTime'
MOMENTS: Cases = {
    f"YEAR({_DAY})": "2011",
    f"MONTH({_DAY})": "1",
    f"DAY({_DAY})": "10",
    f"HOURS({_DAY})": "14",
    f"MINUTES({_DAY})": "45",
    f"SECONDS({_DAY})": "13.815",
    f"TIMEZONE({_DAY})": '"-PT5H"^^xsd:dayTimeDuration',
    f"TZ({_DAY})": '"-05:00"',
    'TIMEZONE("2011-01-10T14:45:13Z"^^xsd:dateTime)': '"PT0S"^^xsd:dayTimeDuration',
    'TIMEZONE("2011-01-10T14:45:13"^^xsd:dateTime)': None,
    'TZ("2011-01-10T14:45:13"^^xsd:dateTime)': '""',
    f"YEAR({_MIDNIGHT})": "2000",
    f"DAY({_MIDNIGHT})": "1",
    f"HOURS({_MIDNIGHT})": "0",
    'HOURS("1999-12-31T24:00:01Z"^^xsd:dateTime)': None,
    'YEAR("-0044-03-15T00:00:00Z"^^xsd:dateTime)': "-44",
    'YEAR("12020-01-01T00:00:00Z"^^xsd:dateTime)': "12020",
    'YEAR("2011-02-30T00:00:00Z"^^xsd:dateTime)': None,
    'YEAR("2011-01-10T14:45:13")': None,
    "YEAR(2011)": None,
}

TABLES = {
    "strings": STRINGS, "patterns": PATTERNS, "terms": TERMS, "forms": FORMS, "casts": CASTS, "moments": MOMENTS,
}  # fmt: skip


@pytest.mark.parametrize("name", TABLES)
def test_functions(engine: Engine, name: str) -> None:
    assert wrong(engine, TABLES[name]) == []


def test_iri_is_resolved_against_the_base(engine: Engine) -> None:
    query = 'SELECT (IRI("a") AS ?a) (IRI("../x") AS ?b) (IRI("http://o/") AS ?c) (IRI("a b") AS ?d) { }'
    (row,) = engine.query(f"BASE <http://b/d/> {query}").rows
    assert {name: written(term) for name, term in row.items()} == {
        "a": "<http://b/d/a>", "b": "<http://b/x>", "c": "<http://o/>"
    }  # fmt: skip


def test_blank_nodes_are_the_same_within_a_solution_only(engine: Engine) -> None:
    rows = engine.query(
        PREFIXES + 'SELECT * { VALUES ?x { 1 2 } BIND(BNODE("a") AS ?a) BIND(BNODE("a") AS ?b) BIND(BNODE("c") AS ?c) }'
    ).rows
    assert all(row["a"] == row["b"] != row["c"] for row in rows)
    assert len({row["a"] for row in rows}) == 2


def test_functions_with_a_new_value_each_time(engine: Engine) -> None:
    bound = 'REGEX(STR(UUID()), "^urn:uuid:[0-9a-f-]{36}$") AS ?uuid) (STRLEN(STRUUID()) AS ?length'
    query = f"SELECT ?x (UUID() AS ?u) (RAND() AS ?r) (NOW() AS ?now) ({bound}) {{ VALUES ?x {{ 1 2 }} }}"
    one, two = engine.query(query).rows
    assert one["u"] != two["u"]
    assert one["r"] != two["r"]
    assert one["now"] == two["now"]
    assert (written(one["uuid"]), written(one["length"])) == ("true", "36")
    assert all(0 <= float(row["r"].value) < 1 for row in (one, two))


def test_an_error_in_a_filter_is_not_true(engine: Engine) -> None:
    query = 'SELECT ?x { VALUES ?x { 0 1 "a" "[" } FILTER(1 / ?x = 1 || REGEX("a", ?x)) } ORDER BY ?x'
    assert [written(row["x"]) for row in engine.query(query).rows] == ["1", '"a"']
