"""Comparisons that can never hold are warned of when the query is parsed."""

from __future__ import annotations

import warnings

import pytest

from penstock.syntax import parse
from penstock.syntax.checks.constants import is_of_datatype
from penstock.syntax.functions import XSD

PREFIX = f"PREFIX : <http://example.org/> PREFIX xsd: <{XSD}>\n"
DURATION = 'hint: write a duration, as in "PT5M"^^xsd:duration for five minutes'
MOMENT = 'hint: write a moment, as in "2009-07-20T08:00:00Z"^^xsd:dateTime'


def warned(query: str) -> list[str]:
    """The warnings about a query, each from its first line on."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        parse(PREFIX + query)
    return [str(each.message) for each in caught]


def filtered(condition: str) -> list[str]:
    return warned(f"ASK {{ ?s :p ?x FILTER ({condition}) }}")


def test_a_duration_and_a_number() -> None:
    assert warned("ASK { { ?a :b ?c } SEQ { ?d :e ?f }\n  FILTER (getDURATION() < 300) }") == [
        "line 3: getDURATION() is an xsd:duration, and 300 a number: this comparison never holds\n"
        "    FILTER (getDURATION() < 300) }\n"
        "                            ^^^\n"
        f"{DURATION}"
    ]


@pytest.mark.parametrize(
    ("condition", "said", "hint"),
    [
        ('getDURATION() <= "PT5M"', 'getDURATION() is an xsd:duration, and "PT5M" a string', DURATION),
        ("getDURATION() = true", "getDURATION() is an xsd:duration, and true a boolean", DURATION),
        ('"2009-07-20T08:00:00Z"^^xsd:dateTime > getDURATION()',
         'getDURATION() is an xsd:duration, and "2009-07-20T08:00:00Z" an xsd:dateTime', DURATION),
        ("getDURATION() = :long", "getDURATION() is an xsd:duration, and <http://example.org/long> an IRI", DURATION),
        ("getSTARTTIME() > 8.5", "getSTARTTIME() is an xsd:dateTime, and 8.5 a number", MOMENT),
        ('getENDTIME() > "2009-07-20"^^xsd:date', 'getENDTIME() is an xsd:dateTime, and "2009-07-20" an xsd:date',
         MOMENT),
        ('getENDTIME() > "PT5M"^^xsd:duration', 'getENDTIME() is an xsd:dateTime, and "PT5M" an xsd:duration', MOMENT),
        ("timestamp(?x) > 1248076800", "timestamp(?x) is an xsd:dateTime, and 1248076800 a number", MOMENT),
        ('timestamp(?x, :s) = "08:00"', 'timestamp(?x) is an xsd:dateTime, and "08:00" a string', MOMENT),
        ("NOW() < 5", "NOW() is an xsd:dateTime, and 5 a number", MOMENT),
    ],
)  # fmt: skip
def test_kinds_that_do_not_compare(condition: str, said: str, hint: str) -> None:
    found = filtered(condition)
    assert [text.splitlines()[0] for text in found] == [f"line 2: {said}: this comparison never holds"]
    assert found[0].splitlines()[-1] == hint


def test_in_names_the_candidate() -> None:
    assert filtered('getDURATION() IN ("PT5M"^^xsd:duration, 300)') == [
        "line 2: getDURATION() is an xsd:duration, and 300 a number: they are never equal\n"
        '  ASK { ?s :p ?x FILTER (getDURATION() IN ("PT5M"^^xsd:duration, 300)) }\n'
        "                                                                 ^^^\n"
        f"{DURATION}"
    ]


def test_of_an_aggregate_and_of_two_functions() -> None:
    assert [text.splitlines()[0] for text in warned(
        "SELECT ?s { ?s :p ?x } GROUP BY ?s HAVING (MAX(timestamp(?x)) > 5)"
    )] == ["line 2: MAX(timestamp(?x)) is an xsd:dateTime, and 5 a number: this comparison never holds"]  # fmt: skip
    assert filtered("getDURATION() < getENDTIME()")[0].splitlines()[0] == (
        "line 2: getDURATION() is an xsd:duration, and getENDTIME() an xsd:dateTime: this comparison never holds"
    )


@pytest.mark.parametrize(
    "condition",
    [
        'getDURATION() < "PT5M"^^xsd:duration',
        'getDURATION() < "PT5M"^^xsd:dayTimeDuration',
        'getDURATION() < "P1M"^^xsd:yearMonthDuration',
        "getDURATION() != 300",  # different kinds are unequal, so this holds
        "getDURATION() NOT IN (300)",
        "getDURATION() < ?x",
        'getDURATION() < "5"^^:minutes',
        'getSTARTTIME() > "2009-07-20T08:00:00Z"^^xsd:dateTime',
        'getENDTIME() > "2009-07-20T08:00:00Z"^^xsd:dateTimeStamp',
        "timestamp(?x) < timestamp(?s)",
        "timestamp(?x) < NOW()",
        "STR(getDURATION()) = 'PT5M'",
        "HOURS(timestamp(?x)) > 8",
        "?x < 300",
        "COUNT(?x) > 5",
        '1 = "1"',
    ],
)
def test_comparisons_that_may_hold(condition: str) -> None:
    if "COUNT" in condition:
        assert warned(f"SELECT ?s {{ ?s :p ?x }} GROUP BY ?s HAVING ({condition})") == []
    else:
        assert filtered(condition) == []


# Other functions, aggregates, and the variables that hold their results


def test_a_count_and_a_string() -> None:
    assert warned('SELECT ?s { ?s :p ?x } GROUP BY ?s\nHAVING (COUNT(*) > "5")') == [
        'line 3: COUNT(*) is a number, and "5" a string: this comparison never holds\n'
        '  HAVING (COUNT(*) > "5")\n'
        "                     ^^^\n"
        "hint: write a number, as in 4.2"
    ]


def test_a_variable_that_holds_a_count() -> None:
    query = 'SELECT ?s ?n { ?s :p ?x } AGGREGATE { (?n, COUNT, {?s}) FILTER (?n > "5"@en) }'
    assert warned(query) == [
        'line 2: ?n is a number, and "5" a string: this comparison never holds\n'
        f"  {query}\n"
        "                                                                       ^^^\n"
        "hint: write a number, as in 4.2"
    ]


@pytest.mark.parametrize(
    ("query", "said", "hint"),
    [
        ('SELECT ?s (SUM(?x) AS ?n) { ?s :p ?x } GROUP BY ?s HAVING (?n > "many")',
         '?n is a number, and "many" a string: this comparison never holds', "a number, as in 4.2"),
        ("SELECT ?s { { SELECT ?s (COUNT(?x) AS ?n) { ?s :p ?x } GROUP BY ?s } FILTER (?n = :five) }",
         "?n is a number, and <http://example.org/five> an IRI: this comparison never holds", "a number, as in 4.2"),
        ("SELECT ?s { ?s :p ?x } GROUP BY ?s HAVING (GROUP_CONCAT(?x) = 5)",
         "GROUP_CONCAT(?x) is a string, and 5 a number: this comparison never holds", 'a string, as in "text"'),
        ('ASK { ?s :p ?x FILTER EXISTS { ?s :q ?y FILTER (STRLEN(?y) > "5") } }',
         'STRLEN(?y) is a number, and "5" a string: this comparison never holds', "a number, as in 4.2"),
        ('ASK { ?s :p ?x BIND (YEAR(?x) AS ?y) FILTER (?y = "2009") }',
         '?y is a number, and "2009" a string: this comparison never holds', "a number, as in 4.2"),
        ('ASK { ?s :p ?x FILTER (DATATYPE(?x) = "xsd:integer") }',
         'DATATYPE(?x) is an IRI, and "xsd:integer" a string: this comparison never holds',
         "an IRI, as in <http://example.org/name> or with a prefix"),
        ("ASK { ?s :p ?x FILTER (STR(?x) = :a) }",
         "STR(?x) is a string, and <http://example.org/a> an IRI: this comparison never holds",
         'a string, as in "text"'),
        ("ASK { ?s :p ?x FILTER (BOUND(?x) = 1) }",
         "BOUND(?x) is a boolean, and 1 a number: this comparison never holds", "true or false"),
        ('ASK { ?s :p ?x FILTER (xsd:date(?x) < "2009-07-20T08:00:00Z"^^xsd:dateTime) }',
         'xsd:date(?x) is an xsd:date, and "2009-07-20T08:00:00Z" an xsd:dateTime: this comparison never holds',
         'a day, as in "2009-07-20"^^xsd:date'),
        ("ASK { ?s :p ?x FILTER (xsd:integer(?x) IN ('5')) }",
         'xsd:integer(?x) is a number, and "5" a string: they are never equal', "a number, as in 4.2"),
        ("SELECT ?s { ?s :p ?x } GROUP BY ?s HAVING (COUNT(?x) > STR(?s))",
         "COUNT(?x) is a number, and STR(?s) a string: this comparison never holds", "a number, as in 4.2"),
        ("ASK { ?s :p ?x FILTER (CONCAT(?x, 'a') = 5) }",
         "CONCAT(…) is a string, and 5 a number: this comparison never holds", 'a string, as in "text"'),
    ],
)  # fmt: skip
def test_comparisons_with_computed_values_get_a_warning(query: str, said: str, hint: str) -> None:
    found = warned(query)
    assert [text.splitlines()[0] for text in found] == [f"line 2: {said}"]
    assert found[0].splitlines()[-1] == f"hint: write {hint}"


@pytest.mark.parametrize(
    "query",
    [
        'ASK { ?s :p ?n { SELECT (COUNT(*) AS ?n) { ?a :p ?b } } FILTER (?n > "5") }',  # a pattern binds it as well
        'ASK { VALUES ?n { "a" } { SELECT (COUNT(*) AS ?n) { ?a :p ?b } } FILTER (?n > "5") }',
        'ASK { GRAPH ?n { ?a :p ?b } { SELECT (COUNT(*) AS ?n) { ?a :p ?b } } FILTER (?n > "5") }',
        'ASK { { BIND (STRLEN("a") AS ?n) } UNION { BIND ("b" AS ?n) } FILTER (?n > "5") }',
        'ASK { { BIND (STRLEN("a") AS ?n) } UNION { BIND (STR(:b) AS ?n) } FILTER (?n > "5") }',
        'SELECT ?s { ?s :p ?x } GROUP BY ?s HAVING (MAX(?x) > "5" && COUNT(?x) != "5")',
        'ASK { ?s :p ?x FILTER (IF(BOUND(?x), 1, "a") = "a" && COALESCE(?x, 1) = "a") }',
        'ASK { ?s :p ?x FILTER (timestamp(?x) - timestamp(?s) > "PT1M"^^xsd:duration) }',
    ],
)
def test_values_of_several_kinds_get_no_warning(query: str) -> None:
    assert warned(query) == []


# Constants whose lexical form is not of their datatype


def test_an_ill_typed_duration() -> None:
    assert filtered('getDURATION() < "5 minutes"^^xsd:duration') == [
        'line 2: "5 minutes" is no xsd:duration: this comparison never holds\n'
        '  ASK { ?s :p ?x FILTER (getDURATION() < "5 minutes"^^xsd:duration) }\n'
        "                                         ^^^^^^^^^^^^^^^^^^^^^^^^^\n"
        f"{DURATION}"
    ]


@pytest.mark.parametrize(
    ("condition", "said", "hint"),
    [
        ('?x < "abc"^^xsd:integer', '"abc" is no xsd:integer: this comparison never holds', "a whole number, as in 42"),
        ('"2020-13-01T00:00:00"^^xsd:dateTime >= ?x',
         '"2020-13-01T00:00:00" is no xsd:dateTime: this comparison never holds',
         'a moment, as in "2009-07-20T08:00:00Z"^^xsd:dateTime'),
        ('?x = "yes"^^xsd:boolean', '"yes" is no xsd:boolean: only this very term is equal to it', "true or false"),
        ('?x IN (true, "yes"^^xsd:boolean)', '"yes" is no xsd:boolean: only this very term is equal to it',
         "true or false"),
        ('?x != "1,5"^^xsd:decimal', '"1,5" is no xsd:decimal: no literal is unequal to it', "a number, as in 4.2"),
        ('?x NOT IN ("1,5"^^xsd:decimal)', '"1,5" is no xsd:decimal: no literal is unequal to it',
         "a number, as in 4.2"),
        ('getDURATION() = "1h"^^xsd:dayTimeDuration', '"1h" is no xsd:dayTimeDuration: this comparison never holds',
         'a duration, as in "PT5M"^^xsd:duration for five minutes'),
        ('?x < "20.7.2009"^^xsd:date', '"20.7.2009" is no xsd:date: this comparison never holds',
         'a day, as in "2009-07-20"^^xsd:date'),
        ('?x + "one"^^xsd:int > 3', '"one" is no xsd:int: the result is an error', "a whole number, as in 42"),
        ('-"one"^^xsd:double > 3', '"one" is no xsd:double: the result is an error', "a number, as in 4.2"),
    ],
)  # fmt: skip
def test_ill_typed_constants(condition: str, said: str, hint: str) -> None:
    found = filtered(condition)
    assert [text.splitlines()[0] for text in found] == [f"line 2: {said}"]
    assert found[0].splitlines()[-1] == f"hint: write {hint}"


def test_in_every_place_of_an_expression() -> None:
    for query in (
        'ASK { ?s :p ?x BIND (?x < "a"^^xsd:integer AS ?y) }',
        'SELECT (?x < "a"^^xsd:integer AS ?y) { ?s :p ?x }',
        'ASK { ?s :p ?x FILTER EXISTS { ?s :q ?z FILTER (?z < "a"^^xsd:integer) } }',
        'ASK { ?s :p ?x FILTER (BOUND(?x) && IF(?x < "a"^^xsd:integer, 1, 2) = 2) }',
        'ASK { { SELECT ?x { ?s :p ?x FILTER (?x < "a"^^xsd:integer) } } }',
        'SELECT ?s { ?s :p ?x } AGGREGATE { (?n, COUNT, ?s) FILTER (?n < "a"^^xsd:integer) }',
    ):
        assert [text.splitlines()[0] for text in warned(query)] == [
            'line 2: "a" is no xsd:integer: this comparison never holds'
        ]


@pytest.mark.parametrize(
    "query",
    [
        'ASK { ?s :p "abc"^^xsd:integer }',
        'ASK { VALUES ?x { "abc"^^xsd:integer } ?s :p ?x }',
        'ASK { ?s :p ?x FILTER (sameTerm(?x, "abc"^^xsd:integer)) }',
        'ASK { ?s :p ?x FILTER (STR("abc"^^xsd:integer) = ?x) }',
        'ASK { ?s :p ?x FILTER (?x < "abc") }',
        'ASK { ?s :p ?x FILTER (?x < "abc"@en) }',
        'ASK { ?s :p ?x FILTER (?x < "abc"^^:integer) }',
        'ASK { ?s :p ?x FILTER (?x = "1"^^xsd:boolean) }',
        "ASK { ?s :p ?x FILTER (?x < 1e9 && ?x + 1.5 > -2 && ?x = TRUE) }",
    ],
)
def test_terms_that_are_not_computed_with_and_valid_ones(query: str) -> None:
    assert warned(query) == []


@pytest.mark.parametrize(
    ("datatype", "valid", "invalid"),
    [
        ("boolean", "true false 1 0", "True yes 2"),
        ("integer", "0 -7 +7 007 99999999999999999999999", "1.0 1e3 - one ٣"),
        ("unsignedByte", "7", "seven"),
        ("decimal", "1 1.5 .5 5. -1.5", "1e3 . 1,5 INF"),
        ("double", "1 1.5 .5e1 1E-9 INF -INF NaN", "inf e5 1e"),
        ("float", "1.5 NaN", "nan"),
        ("dateTime", "2009-07-20T08:00:00 2009-07-20T08:00:00.5Z 2020-02-29T24:00:00+14:00 -0044-03-15T12:00:00 "
         "12009-01-01T00:00:00Z 2000-02-29T00:00:00Z",
         "2020-13-01T00:00:00 2021-02-29T00:00:00 2020-00-01T00:00:00 2020-01-00T00:00:00 2020-04-31T00:00:00 "
         "2020-01-01 2020-01-01T24:00:01 2020-01-01T25:00:00 2020-01-01T08:60:00 2020-01-01T08:00:60 "
         "2020-01-01T08:00 20-01-01T08:00:00 2020-01-01T08:00:00+15:00 1900-02-29T00:00:00"),
        ("date", "2009-07-20 2009-07-20Z", "2009-7-20 2009-02-30 20.7.2009"),
        ("duration", "PT5M P1D -P1Y2M3DT4H5M6.7S PT0S P1M", "P PT P1DT 5M P1H PT1D P1W PT1.5M p1d"),
        ("dayTimeDuration", "P1DT2H PT5M", "P1Y P1M"),
        ("yearMonthDuration", "P1Y6M -P1M", "P1D PT5M P"),
        ("gYear", "anything", ""),
    ],
)  # fmt: skip
def test_lexical_forms(datatype: str, valid: str, invalid: str) -> None:
    forms = dict.fromkeys(valid.split(), True) | dict.fromkeys(invalid.split(), False)
    assert {form: is_of_datatype(form, XSD + datatype) for form in forms} == forms


def test_white_space_and_line_breaks_are_no_part_of_a_form() -> None:
    assert not any(is_of_datatype(form, XSD + "integer") for form in ("", " 5", "5 ", "5\n"))
