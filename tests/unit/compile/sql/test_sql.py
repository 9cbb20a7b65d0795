"""Quoting, which is all that stands between a query's text and Spark's."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.compile import sql
from tests.support.terms import unhurried

_UNESCAPED = {"n": "\n", "r": "\r", "0": "\0", "Z": "\x1a"}


def read(literal: str) -> str:
    """What Spark's parser makes of a string literal; an assertion where that would end before the text does."""
    assert re.fullmatch(r"'(?:[^'\\]|\\.)*'", literal, re.S)
    escape = re.compile(r"\\u([0-9A-F]{4})|\\(.)", re.S)
    return escape.sub(lambda m: chr(int(m[1], 16)) if m[1] else _UNESCAPED.get(m[2], m[2]), literal[1:-1])


@pytest.mark.parametrize(
    "text", ["'", "\\", "\\'", "' OR '1'='1", "a\nb\r", "\0", "\x1a", "\\n", "${x}", "`", "--", "\ue0001\ue001"]
)
def test_hostile_strings_stay_strings(text: str) -> None:
    assert read(sql.text(text)) == text


@unhurried
@given(st.text())
def test_any_string_is_quoted(text: str) -> None:
    assert read(sql.text(text)) == text


def test_the_characters_around_tokens_never_come_from_a_string() -> None:
    assert not set(sql.RESERVED) & set(sql.text("".join(sql.RESERVED)))


@pytest.mark.parametrize(("identifier", "quoted"), [("x", "`x`"), ("a`b", "`a``b`"), ("`", "````"), (".x0", "`.x0`")])
def test_names(identifier: str, quoted: str) -> None:
    assert sql.name(identifier) == quoted


def test_conditions_of_nothing() -> None:
    assert (sql.all_of([]), sql.any_of([])) == ("true", "false")


def test_conditions_are_parenthesised() -> None:
    assert sql.all_of(["a OR b", "c"]) == "(a OR b) AND (c)"
    assert sql.any_of(["a", "b AND c"]) == "(a) OR (b AND c)"


def test_case() -> None:
    assert sql.case(("a", "1"), ("b", "2"), otherwise="3") == "CASE WHEN a THEN 1 WHEN b THEN 2 ELSE 3 END"
    assert sql.when("a", "1") == "CASE WHEN a THEN 1 END"


def test_coalesce_of_one_is_that_one() -> None:
    assert sql.coalesce("a") == "a"
    assert sql.coalesce("a", "b") == "coalesce(a, b)"
