"""Conditions inside of joins: the columns that they read on each side."""

from __future__ import annotations

import pyarrow as pa
import pytest
from pyoxigraph import Literal, NamedNode

from penstock.compile import sql
from penstock.compile.expressions.functions import FUNCTIONS, comparison
from penstock.compile.expressions.values import Node, Value, of_term, truth
from penstock.compile.operators import joins
from penstock.compile.relation import Relation
from penstock.compile.sql import Expr, Query, Select, Table
from penstock.model import term_encoding
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


XSD = "^^<http://www.w3.org/2001/XMLSchema#"
TERMS = [
    *(f'"{n}"{XSD}integer>' for n in (-1, 0, 7, "007", 9_007_199_254_740_993, 9_007_199_254_740_992, 10**30)),
    *(f'"{n}"{XSD}decimal>' for n in ("0.1", "0.100000000000000001", "7.0", "-1.5", "1" + "0" * 19)),
    *(f'"{n}"{XSD}double>' for n in ("0.1", "NaN", "INF", "-INF", "9007199254740992", "-0")),
    *(f'"{n}"{XSD}float>' for n in ("0.1", "NaN", "7")),
    *(f'"{n}"{XSD}dateTime>' for n in ("2009-07-20T08:00:00Z", "2010-07-20T08:00:00")),
    *('"a"', '"b"', '"7"', '"a"@en', f'"true"{XSD}boolean>', f'"seven"{XSD}integer>', "<http://e/a>", "_:b"),
]


@pytest.mark.parametrize("symbol", ["<", ">", "<=", ">="])
@pytest.mark.parametrize("factor", [None, Literal("0.7", datatype=NamedNode(term_encoding.XSD + "decimal"))])
def test_an_implied_comparison_removes_no_pair(symbol: str, factor: Literal | None) -> None:
    """Terms of all families, numbers that differ by less than a double tells, and a side that is computed."""
    a: Value = Node(sql.name("a"))
    a = a if factor is None else FUNCTIONS["*"](a, of_term(factor))
    b = Node(sql.name("b"))
    relation, condition = joined(Select([sql.name("k"), sql.name("a")], Table("l"))), truth(FUNCTIONS[symbol](a, b))
    implied = comparison.implied(symbol, a, b)
    assert implied is not None
    tables = {
        "l": pa.table({"k": [1] * len(TERMS), "a": TERMS}),
        "r": pa.table({"k": [1] * len(TERMS), "b": TERMS}),
    }
    plain, first = (joins.conditioned(relation, condition, ".on", some) for some in ((), (implied,)))
    assert plain is not None
    assert first is not None
    assert sql.write(plain.sql, sql.DUCKDB) != sql.write(first.sql, sql.DUCKDB)
    found = duckdb_rows(plain.sql, **tables)
    assert found
    assert sorted(duckdb_rows(first.sql, **tables)) == sorted(found)


def test_a_comparison_of_one_side_alone_is_not_part_of_the_join() -> None:
    relation = joined(Select([sql.name("k"), sql.name("a")], Table("l")))
    alone = sql.name("a") <= sql.name("a")
    plain, first = (joins.conditioned(relation, sql.TRUE, ".on", some) for some in ((), (alone,)))
    assert plain is not None
    assert first is not None
    assert sql.write(plain.sql, sql.DUCKDB) == sql.write(first.sql, sql.DUCKDB)
