"""Layers of SELECT: one that only names columns becomes part of the one above, and any other stays."""

from __future__ import annotations

import pytest

from penstock.compile import sql
from penstock.compile.sql import Join, Select, Table, merged, write

A, B, F = sql.name("a"), sql.name("b"), sql.call("f", sql.name("a"))
INNER = Select([sql.alias(sql.column("t0", "s"), "a"), sql.alias(sql.column("t0", "o"), "b")], Table("x", "t0"))


@pytest.mark.parametrize(
    ("outer", "text"),
    [
        (Select([B], INNER), "SELECT t0.`o` AS `b` FROM x t0"),
        (Select([sql.alias(A, "c")], INNER), "SELECT t0.`s` AS `c` FROM x t0"),
        (Select([sql.alias(F, "c")], INNER, A < B), "SELECT f(t0.`s`) AS `c` FROM x t0 WHERE t0.`s` < t0.`o`"),
        (Select([A], INNER, distinct=True), "SELECT DISTINCT t0.`s` AS `a` FROM x t0"),
        (
            Select([A, sql.alias(sql.call("count", 1), "n")], INNER, group=[A], having=sql.call("max", B) > 1),
            "SELECT t0.`s` AS `a`, count(1) AS `n` FROM x t0 GROUP BY t0.`s` HAVING max(t0.`o`) > 1",
        ),
        (Select((), INNER), "SELECT 1 AS `.unit` FROM x t0"),
        (Select([A], Select([A, B], Table("x"), B), A), "SELECT `a` FROM x WHERE `b` AND `a`"),
        (Select([A], Select([A, B], Table("x"), A | B), B), "SELECT `a` FROM x WHERE (`a` OR `b`) AND `b`"),
        (Select([A], Select([sql.column("l", "a")], Table("x", "l"))), "SELECT l.`a` FROM x l"),
    ],
)  # fmt: skip
def test_a_layer_that_only_names_columns_goes(outer: Select, text: str) -> None:
    assert write(merged(outer)) == text


@pytest.mark.parametrize(
    "inner",
    [
        Select([A, sql.alias(F, "b")], Table("x")),
        Select([A, sql.alias(sql.call("explode", B), "b")], Table("x")),
        Select([A, sql.alias(sql.Over(F), "b")], Table("x")),
        Select([A, B], Table("x"), distinct=True),
        Select([A, B], Table("x"), group=[A, B]),
        Select([A, B], Table("x"), limit=1),
        Select([A, B], Table("x"), offset=1),
        Select([A, B], Table("x"), order=[A], limit=1),
        Select([A, B], Table("x")).spread_by([A]),
        Select([sql.STAR], Table("x")),
        Select([sql.alias(sql.NULL, "a"), sql.alias(sql.NULL, "b")]),
        sql.union_all([INNER, INNER]),
    ],
)
def test_a_layer_that_does_more_stays(inner: sql.Query) -> None:
    outer = Select([A], inner, B > 1)
    assert merged(outer) is outer


@pytest.mark.parametrize(
    "outer",
    [
        Select([sql.STAR], INNER),
        Select([A], INNER, order=[B]),
        Select([A], INNER, limit=1),
        Select([A], Table("x")),
    ],
)
def test_a_select_that_sorts_cuts_or_takes_all_stays(outer: Select) -> None:
    assert merged(outer) is outer


def test_hints_of_both_layers_stay() -> None:
    joined = Join(Table("x", "l"), Table("y", "r"), None)
    inner = Select([sql.column("l", "a")], joined, hints=[("BROADCAST", ("r",))])
    assert write(merged(Select([A], inner))) == "SELECT /*+ BROADCAST(r) */ l.`a` FROM x l JOIN y r"
