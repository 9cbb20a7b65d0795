"""What is known of a value before any row is seen, and regular expressions, which Spark must never see wrong."""

from __future__ import annotations

import pytest
from pyoxigraph import BlankNode, Literal, NamedNode

from penstock.answer import Term
from penstock.compile import sql
from penstock.compile.expressions.expressions import supported
from penstock.compile.expressions.functions import regex
from penstock.compile.expressions.values import (
    DECIMAL,
    DOUBLE,
    FLOAT,
    INTEGER,
    Node,
    Number,
    Text,
    Truth,
    number,
    of_term,
    text,
    truth,
)
from tests.support.terms import XSD


def typed(lexical: str, name: str) -> Literal:
    return Literal(lexical, datatype=NamedNode(XSD + name))


@pytest.mark.parametrize(
    ("term", "kind"),
    [
        (Literal("a"), Text),
        (typed("true", "boolean"), Truth),
        (typed("5", "integer"), Number),
        (Literal("a", language="en"), Node),
        (NamedNode("http://e/a"), Node),
        (BlankNode("b"), Node),
        (typed("maybe", "boolean"), Node),
        (typed("abc", "integer"), Node),
        (typed("1e3", "decimal"), Node),
        (typed(" 5", "integer"), Node),
        (typed("Infinity", "double"), Node),
        (typed("1" + "0" * 20, "integer"), Node),
        (typed("1200", "byte"), Node),
        (typed("-1", "unsignedInt"), Node),
        (typed("2020-01-01", "date"), Node),
    ],
)
def test_the_type_of_a_constant(term: Term, kind: type) -> None:
    assert isinstance(of_term(term), kind)


@pytest.mark.parametrize(
    ("lexical", "name", "kind"),
    [
        ("5", "integer", INTEGER),
        ("-5", "byte", INTEGER),
        ("18446744073709551615", "unsignedLong", INTEGER),
        ("9" * 20, "integer", INTEGER),
        (".5", "decimal", DECIMAL),
        ("INF", "float", FLOAT),
        ("1e3", "double", DOUBLE),
    ],
)
def test_the_kind_of_a_number(lexical: str, name: str, kind: int) -> None:
    found = of_term(typed(lexical, name))
    assert isinstance(found, Number)
    assert found.kind == kind
    assert (found.exact is None) == (kind > DECIMAL)
    assert (found.real is None) == (kind <= DECIMAL)


def test_a_string_is_no_number_and_a_number_no_string() -> None:
    assert number(Text(sql.text("5"))) == Number(INTEGER, sql.null("DECIMAL(38,18)"), None)
    assert text(of_term(typed("5", "integer"))) == sql.NULL


def test_known_types_are_not_inspected() -> None:
    column = sql.name("a")
    assert truth(Truth(column)) == column
    assert sql.write_expression(truth(Text(column))) == "length(`a`) > 0"


OF_THE_RECOMMENDATION = [
    "BOUND", "IF", "COALESCE", "||", "&&", "=", "SAMETERM", "IN", "ISIRI", "ISURI", "ISBLANK", "ISLITERAL",
    "ISNUMERIC", "STR", "LANG", "DATATYPE", "IRI", "URI", "BNODE", "STRDT", "STRLANG", "UUID", "STRUUID",
    "STRLEN", "SUBSTR", "UCASE", "LCASE", "STRSTARTS", "STRENDS", "CONTAINS", "STRBEFORE", "STRAFTER",
    "ENCODE_FOR_URI", "CONCAT", "LANGMATCHES", "REGEX", "REPLACE", "ABS", "ROUND", "CEIL", "FLOOR", "RAND",
    "NOW", "YEAR", "MONTH", "DAY", "HOURS", "MINUTES", "SECONDS", "TIMEZONE", "TZ", "MD5", "SHA1", "SHA256",
    "SHA384", "SHA512", "!", "!=", "<", ">", "<=", ">=", "+", "-", "*", "/", "NEGATE", "PLUS",
]  # fmt: skip
CASTS = ["boolean", "double", "float", "decimal", "integer", "dateTime", "string"]


@pytest.mark.parametrize("name", [*OF_THE_RECOMMENDATION, *(XSD + cast for cast in CASTS)])
def test_every_function_is_there(name: str) -> None:
    assert name in supported()


JAVA = [
    ("abc", "", "abc"),
    ("a.c", "", "(?d)a.c"),
    ("a.c", "s", "(?ds)a.c"),
    ("a", "i", "(?iu)a"),
    ("^a$", "", r"^a\z"),
    ("^a$", "m", "(?dm)^a$"),
    ("a b [c d]", "x", r"ab[c\x20d]"),
    ("a.c", "q", r"a\x2Ec"),
    (r"\E", "q", r"\x5CE"),
    (r"\d\s", "", r"[\p{Nd}][ \t\n\r]"),
    (r"[\w-]", "", r"[\p{L}\p{M}\p{N}\p{S}\x2D]"),
    ("[a-z-[aeiou]]", "", "(?:(?![aeiou])[a-z])"),
    ("[^a-c-[x]]", "", "(?:(?![x])[^a-c])"),
    ("[a&&b]", "", r"[a\x26\x26b]"),
    (r"(a)\1", "", r"(a)\1"),
    (r"\p{IsHebrew}\P{Lu}", "", r"[\p{InHebrew}][\P{Lu}]"),
    ("a{2,3}?b*?", "", "a{2,3}?b*?"),
    ("(?:a|)", "", "(?:a|)"),
    (r"\bx\/", "", r"\bx\x2F"),
]


@pytest.mark.parametrize(("pattern", "flags", "java"), JAVA)
def test_patterns_in_the_terms_of_java(pattern: str, flags: str, java: str) -> None:
    assert regex.to_java(pattern, flags) == java


WRONG = ["[", "]", "(", ")", "a)", "*a", "a**", "a++", "a{2,1}", "a{", "}", "[]", "[^]", "[z-a]", "[a", "\\", r"\q"]
WRONG += [r"\1", r"(a\1)", r"\0", r"\p{Xx}", r"\p{IsKlingon}", r"\p", "(?<=a)", "(?<n>a)", "a|*", "[a-[b]", "[[a]]"]


@pytest.mark.parametrize("pattern", WRONG)
def test_a_wrong_pattern_is_none(pattern: str) -> None:
    assert regex.to_java(pattern) is None
    assert regex.replacement_to_java("x", pattern) is None


@pytest.mark.parametrize("flags", ["z", "I", "i ", "g"])
def test_a_wrong_flag_is_none(flags: str) -> None:
    assert regex.to_java("a", flags) is None


@pytest.mark.parametrize(
    ("replacement", "pattern", "flags", "java"),
    [
        ("x", "a", "", "x"),
        ("$1", "(a)", "", "$1"),
        ("$0", "a", "", "$0"),
        ("[$5]", "a", "", "[]"),
        ("$15", "(a)", "", "$15"),
        ("$52", "a", "", "2"),
        (r"\$\\", "a", "", r"\$\\"),
        ("$1\\", "a", "q", r"\$1\\"),
        ("$", "a", "", None),
        ("$x", "a", "", None),
        ("\\", "a", "", None),
        (r"\n", "a", "", None),
    ],
)
def test_replacements(replacement: str, pattern: str, flags: str, java: str | None) -> None:
    assert regex.replacement_to_java(replacement, pattern, flags) == java
