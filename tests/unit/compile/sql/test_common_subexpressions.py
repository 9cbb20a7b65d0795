"""Naming sub-expressions: what is used twice is written once, in layers, and text does not grow with use."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from penstock.algebra.expressions import Call, Expr, Var
from penstock.compile.expressions.expressions import Scope, value
from penstock.compile.expressions.values import term
from penstock.compile.relation import select
from penstock.compile.sql.common_subexpressions import inline, let, lower, naming, tokens_in

LONG = "regexp_extract(`a`, 'a pattern that is long enough to be worth a column', 1)"


@pytest.fixture(autouse=True)
def names() -> Iterator[None]:
    with naming():
        yield


@pytest.mark.parametrize("text", ["`x`", "l.`x`", "'text'", "12", "true", "CAST(NULL AS STRING)"])
def test_columns_and_constants_stand_for_themselves(text: str) -> None:
    assert let(text) == text


def test_a_token_stands_for_its_text() -> None:
    assert let(LONG) != LONG
    assert inline(f"f({let(LONG)})") == f"f({LONG})"


def test_the_same_text_has_the_same_token() -> None:
    assert let(LONG) == let(LONG)
    assert let(let(LONG)) == let(LONG)
    assert tokens_in(f"{let(LONG)} + {let(LONG)}") == (let(LONG),)


def test_names_are_forgotten_after() -> None:
    with naming():
        inner = let(f"{LONG} || 'inner'")
    assert let(LONG) == inner  # both are the first of their query


def test_what_is_used_once_is_written_in_place() -> None:
    assert lower("SELECT 1", [f"f({let(LONG)})"]) == ("SELECT 1", [f"f({LONG})"])


def test_what_is_short_is_written_in_place() -> None:
    short = let("length(`a`)")
    assert lower("SELECT 1", [f"{short} + {short}"]) == ("SELECT 1", ["length(`a`) + length(`a`)"])


def test_what_is_used_twice_is_a_column() -> None:
    source, (expression,) = lower("SELECT 1", [f"f({let(LONG)}, {let(LONG)})"])
    assert source == f"SELECT *, {LONG} AS `.x0` FROM (SELECT 1)"
    assert expression == "f(`.x0`, `.x0`)"


def test_columns_are_shared_between_expressions() -> None:
    source, expressions = lower("SELECT 1", [let(LONG), f"g({let(LONG)})"])
    assert source.count(LONG) == 1
    assert expressions == ["`.x0`", "g(`.x0`)"]


def test_a_column_that_reads_another_is_in_a_layer_above() -> None:
    outer = let(f"concat({let(LONG)}, 'and something that makes this one long as well', {let(LONG)})")
    source, _ = lower("SELECT 1", [f"f({outer}, {outer})"])
    inner = f"SELECT *, {LONG} AS `.x0` FROM (SELECT 1)"
    assert source == f"SELECT *, {inline(outer).replace(LONG, '`.x0`')} AS `.x1` FROM ({inner})"


def test_independent_columns_share_a_layer() -> None:
    one, two = let(LONG), let(LONG.replace("`a`", "`b`"))
    source, _ = lower("SELECT 1", [f"f({one}, {one}, {two}, {two})"])
    assert source.count("SELECT *") == 1


@pytest.mark.parametrize("operator", ["*", "+", "-"])
def test_text_grows_with_the_expression(operator: str) -> None:
    sizes = [len(compiled(chain(operator, n))) for n in (4, 8, 16)]
    assert sizes[1] < 2.5 * sizes[0]
    assert sizes[2] < 2.5 * sizes[1]


def test_text_of_quotients_grows_with_the_expression() -> None:
    assert len(compiled(chain("/", 8))) < 2.5 * len(compiled(chain("/", 4)))


def test_a_variable_is_read_as_a_number_once() -> None:
    readings = [compiled(chain("*", n)).count("regexp_extract(`v0`") for n in (2, 6)]
    assert readings == [3, 3]  # as an integer or decimal, as a double, as a float


def chain(operator: str, n: int) -> Expr:
    """?v0 * ?v1 * …"""
    found: Expr = Var("v0")
    for i in range(1, n):
        found = Call(operator, (found, Var(f"v{i}")))
    return found


def compiled(expr: Expr) -> str:
    with naming():
        scope = Scope({f"v{i}": f"`v{i}`" for i in range(20)}, None, "")
        return select([term(value(expr, scope))], "SELECT 1")


@pytest.mark.parametrize(
    ("items", "rest", "kept"),
    [
        (["`a`", "`b`"], "", True),
        (["`a`"], "", False),
        (["`b`", "`a`"], "", False),
        (["`a`", "`b`"], "WHERE `a` = 1", False),
    ],
)
def test_what_selects_these_columns_already_is_not_selected_from(items: list[str], rest: str, kept: bool) -> None:
    source = "SELECT `a`, `b` FROM (x) t"
    with naming():
        assert (select(items, source, rest) == source) is kept


def test_an_expression_is_computed_again() -> None:
    with naming():
        once = select(["f(`a`) AS `a`"], "x")
        assert select(["f(`a`) AS `a`"], once) != once
