"""Common sub-expressions: what is used twice is written once, in layers, and text does not grow with use."""

from __future__ import annotations

import gc
import re

import pytest

from penstock.algebra.expressions import Call, Expr, Var
from penstock.compile import sql
from penstock.compile.expressions.expressions import Scope, value
from penstock.compile.expressions.values import term
from penstock.compile.relation import select
from penstock.compile.sql import Select, Table, let, lets_in, lower, tree, write, write_expression

A, B = sql.name("a"), sql.name("b")
PATTERN = sql.text("a pattern that is long enough to be worth a column")
LONG = sql.call("regexp_extract", A, PATTERN, 1)
SOURCE = Select([sql.STAR], Table("x"))


def written(*expressions: sql.Expr) -> tuple[str, list[str]]:
    source, lowered = lower(SOURCE, expressions)
    return write(Select([sql.STAR], source)), [write_expression(e) for e in lowered]


@pytest.mark.parametrize(
    "node", [A, sql.column("l", "x"), sql.text("text"), sql.lifted(12), sql.TRUE, sql.NULL, A.cast("BIGINT")]
)
def test_columns_and_constants_stand_for_themselves(node: sql.Expr) -> None:
    assert let(node) is node


def test_a_shared_expression_is_written_like_itself() -> None:
    assert let(LONG) is not LONG
    assert write_expression(sql.call("f", let(LONG))) == write_expression(sql.call("f", LONG))


def test_equal_expressions_are_shared() -> None:
    assert let(LONG) is let(sql.call("regexp_extract", sql.name("a"), PATTERN, 1))
    assert let(let(LONG)) is let(LONG)
    assert set(lets_in(let(LONG) + let(LONG))) == {let(LONG)}


def test_shared_expressions_are_forgotten_with_their_query() -> None:
    before = len(tree._lets)
    kept = let(sql.call("f", sql.text("once only")))
    assert len(tree._lets) == before + 1
    del kept
    gc.collect()
    assert len(tree._lets) <= before


def test_an_expression_used_once_is_written_in_place() -> None:
    assert lower(SOURCE, [sql.call("f", LONG)])[0] is SOURCE
    assert written(sql.call("f", let(LONG))) == (write(Select([sql.STAR], SOURCE)), [f"f({write_expression(LONG)})"])


def test_a_short_expression_is_written_in_place() -> None:
    short = let(sql.call("length", A))
    assert written(short + short)[1] == ["length(`a`) + length(`a`)"]


def test_an_expression_used_twice_is_a_column() -> None:
    source, (expression,) = written(sql.call("f", let(LONG), let(LONG)))
    assert f"SELECT *, {write_expression(LONG)} AS `.x0` FROM (SELECT * FROM x) t" in source
    assert expression == "f(`.x0`, `.x0`)"


def test_columns_are_added_to_a_source_that_only_names_its_own() -> None:
    source = Select([sql.alias(sql.column("t0", "o"), "a")], Table("x", "t0"))
    below, _ = lower(source, [sql.call("f", let(LONG), let(LONG))])
    assert isinstance(below, Select)
    long = write_expression(sql.call("regexp_extract", sql.column("t0", "o"), PATTERN, 1))
    assert write(below) == f"SELECT t0.`o` AS `a`, {long} AS `.x0` FROM x t0"


def test_columns_are_shared_between_expressions() -> None:
    source, expressions = written(let(LONG), sql.call("g", let(LONG)))
    assert source.count("regexp_extract") == 1
    assert expressions == ["`.x0`", "g(`.x0`)"]


def test_a_column_that_reads_another_is_in_a_layer_above() -> None:
    other = sql.text("and something that makes this one long as well")
    outer = let(sql.call("concat", let(LONG), other, let(LONG)))
    source, _ = written(sql.call("f", outer, outer))
    inner = f"SELECT *, {write_expression(LONG)} AS `.x0` FROM (SELECT * FROM x) t"
    assert f"concat(`.x0`, {write_expression(other)}, `.x0`) AS `.x1` FROM ({inner}) t" in source


def test_independent_columns_share_a_layer() -> None:
    one, two = let(LONG), let(sql.call("regexp_extract", B, PATTERN, 1))
    source, _ = written(sql.call("f", one, one, two, two))
    assert source.count("SELECT *, ") == 1


@pytest.mark.parametrize("operator", ["*", "+", "-"])
def test_text_grows_with_the_expression(operator: str) -> None:
    sizes = [len(compiled(chain(operator, n))) for n in (4, 8, 16)]
    assert sizes[1] < 2.5 * sizes[0]
    assert sizes[2] < 2.5 * sizes[1]


def test_text_of_quotients_grows_with_the_expression() -> None:
    assert len(compiled(chain("/", 8))) < 2.5 * len(compiled(chain("/", 4)))


def test_a_variable_is_read_as_a_number_once() -> None:
    readings = [len(re.findall(r"regexp_extract\((?:substring\()?`v0`", compiled(chain("*", n)))) for n in (2, 6)]
    assert readings == [5, 5]  # as each of the four types, and as the rarer integers


def chain(operator: str, n: int) -> Expr:
    """?v0 * ?v1 * …"""
    found: Expr = Var("v0")
    for i in range(1, n):
        found = Call(operator, (found, Var(f"v{i}")))
    return found


def compiled(expr: Expr) -> str:
    scope = Scope({f"v{i}": sql.name(f"v{i}") for i in range(20)}, None, "")
    return write(select([term(value(expr, scope))], SOURCE))


@pytest.mark.parametrize(
    ("items", "where", "kept"),
    [([A, B], None, True), ([A], None, False), ([B, A], None, False), ([A, B], A.eq(1), False)],
)
def test_a_select_of_the_same_columns_is_not_wrapped(items: list[sql.Expr], where: sql.Expr | None, kept: bool) -> None:
    source = Select([A, sql.alias(A, "b")], Table("x"))
    assert (select(items, source, where) is source) is kept


def test_an_expression_is_computed_again() -> None:
    item = sql.alias(sql.call("f", A), "a")
    once = select([item], SOURCE)
    assert select([item], once) is not once
