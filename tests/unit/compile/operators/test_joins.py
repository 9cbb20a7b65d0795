"""Conditions inside of joins: the columns that they read on each side."""

from __future__ import annotations

import pyarrow as pa
import pytest

from penstock.compile import sql
from penstock.compile.operators import joins
from penstock.compile.relation import Relation
from penstock.compile.sql import Expr, Query, Select, Table
from tests.support.dialects import duckdb_rows

RIGHT = Select([sql.name("k"), sql.name("b")], Table("r"))
LONG = "a text that is long enough to be a column of its own"


def doubled(suffix: str) -> Expr:
    """An expression of `a` that uses a shared one twice."""
    shared = sql.let(sql.call("concat", sql.name("a"), sql.text(LONG), sql.text(suffix)))
    return sql.let(sql.call("concat", shared, shared))


def joined(left: Query) -> Relation:
    one, other = (Relation(rows, vars, frozenset(vars)) for rows, vars in ((left, ("k", "a")), (RIGHT, ("k", "b"))))
    items = [sql.alias(sql.column("l", "a"), "a"), sql.alias(sql.column("r", "b"), "b")]
    sides = joins.sides(one, other, sql.column("l", "k").eq(sql.column("r", "k")))
    return Relation(Select(items, sides), ("a", "b"), frozenset(("a", "b")))


@pytest.mark.parametrize(
    "left",
    [
        Select([sql.name("k"), sql.name("a")], Table("l")),
        Select([sql.STAR, sql.alias(sql.long(1), "more")], Table("l")),
        Select(
            [sql.STAR, sql.alias(sql.call("explode", sql.call("sequence", sql.long(1), sql.long(2))), "b")], Table("l")
        ),
    ],
    ids=["names", "star", "copies"],
)
def test_two_conditions_on_one_side_do_not_take_each_others_columns(left: Query) -> None:
    relation = joined(left)
    for number, suffix in enumerate(("first", "second")):
        condition = doubled(suffix).eq(sql.call("concat", *[sql.text("x" + LONG + suffix)] * 2))
        found = joins.conditioned(relation, condition, f".on{number}")
        assert found is not None
        relation = found
    tables = {"l": pa.table({"k": [1], "a": ["x"]}), "r": pa.table({"k": [1], "b": ["y"]})}
    assert set(duckdb_rows(relation.sql, **tables)) == {("x", "y")}


def test_an_implied_comparison_is_part_of_the_join_if_it_compares_the_sides() -> None:
    relation = joined(Select([sql.name("k"), sql.name("a")], Table("l")))
    one, other = (sql.let(sql.call("length", sql.name(column))) for column in "ab")
    found = joins.conditioned(
        relation, one.eq(other), ".on", [one <= other, one <= sql.lifted(9), one + other <= other]
    )
    assert found is not None
    text = sql.written(found.sql, sql.DUCKDB).text
    assert text.count("<=") == 1
