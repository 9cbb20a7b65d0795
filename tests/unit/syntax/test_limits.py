"""Limits on the nesting and the size of a query: the place, how much, and a way out."""

from __future__ import annotations

from dataclasses import replace

import pytest

from penstock.algebra.build import translate
from penstock.errors import QueryError
from penstock.explain import explain
from penstock.syntax import parse
from penstock.tuning import DEFAULT, Tuning

PARTS = "hint: write it in parts: a stream may be derived, and VALUES has any number of constants"
FLATTER = "hint: write the query flatter, or in parts: a stream may be derived"


def test_brackets_that_are_nested_too_deeply() -> None:
    with pytest.raises(QueryError) as caught:
        parse("ASK {\n  ?x ?p ?y FILTER ((((?y)))) }", tuning=replace(DEFAULT, query_depth=4))
    assert str(caught.value) == (
        "line 2, column 22: brackets are nested more than 4 deep here\n"
        "    ?x ?p ?y FILTER ((((?y)))) }\n"
        "                       ^\n"
        f"{FLATTER}"
    )


def test_the_deepest_brackets_are_read() -> None:
    text = "ASK { ?x ?p ?y FILTER ((((?y)))) }"
    assert parse(text, tuning=replace(DEFAULT, query_depth=5)).text == text


@pytest.mark.parametrize(("opening", "closing"), [("(", ")"), ("{", "}"), ("[ ?p ", "]"), ("IF(?x,1,", ")")])
def test_thousands_of_brackets(opening: str, closing: str) -> None:
    around = {"{": ("ASK ", ""), "[ ?p ": ("ASK { ?x ?p ", "}")}.get(opening, ("ASK { ?x ?p ?y FILTER (", ") }"))
    with pytest.raises(QueryError) as caught:
        translate(f"{around[0]}{opening * 5000}?x{closing * 5000}{around[1]}")
    assert caught.value.reason == "brackets are nested more than 100 deep here"
    assert caught.value.line == 1


def test_brackets_in_strings_and_comments_are_none() -> None:
    assert translate(f'ASK {{ ?x ?p "{"(" * 500}" }} # {"{" * 500}').streams == ()


def test_many_brackets_beside_each_other_are_no_nesting() -> None:
    rows = " ".join(f"({i} {i})" for i in range(2000))
    assert translate(f"ASK {{ VALUES (?x ?y) {{ {rows} }} }}").streams == ()


def test_operators_in_a_row_that_are_too_many() -> None:
    with pytest.raises(QueryError) as caught:
        translate(f"ASK {{ ?x ?p ?y FILTER ({' + '.join('1' * 3000)} > ?y) }}")
    assert str(caught.value) == f"the query has too many operators in one another, with 2 brackets in all\n{PARTS}"


def test_groups_in_a_row_that_are_too_many_for_the_plan() -> None:
    groups = " ".join(f"OPTIONAL {{ ?x ?p ?y{i} }}" for i in range(400))
    with pytest.raises(QueryError) as caught:
        explain(f"ASK {{ ?x ?p ?y {groups} }}")
    assert str(caught.value) == f"the query has too many operators in one another, with 401 brackets in all\n{PARTS}"


@pytest.mark.parametrize("part", ["MINUS {{ ?x ?p 1 }}", "BIND ({0} AS ?v{0})", "OPTIONAL {{ ?x ?p ?z{0} }}"])
def test_more_parts_in_a_row_than_a_store_has_stack_for(part: str) -> None:
    with pytest.raises(QueryError) as caught:
        translate(f"ASK {{ ?x ?p ?y {' '.join(map(part.format, range(3000)))} }}")
    assert str(caught.value) == (f"the query has 3,001 operators in one another, and 1,000 are the most\n{PARTS}")


def test_conditions_in_a_row() -> None:
    with pytest.raises(QueryError, match="the query has 1,999 operators in one another, and 1,000 are the most"):
        translate(f"ASK {{ ?x ?p ?y FILTER ({' || '.join(f'?y = {i}' for i in range(8000))}) }}")
    text = f"ASK {{ ?x ?p ?y FILTER ({' || '.join(f'?y = {i}' for i in range(900))}) }}"
    assert translate(text).streams == ()


def test_the_depth_of_a_plan_is_that_of_the_record() -> None:
    text = f"ASK {{ ?x ?p ?y {' '.join('MINUS { ?x ?p 1 }' for _ in range(20))} }}"
    assert translate(text).streams == ()
    with pytest.raises(QueryError, match="the query has 21 operators in one another, and 9 are the most"):
        translate(text, tuning=Tuning(plan_depth=9))
