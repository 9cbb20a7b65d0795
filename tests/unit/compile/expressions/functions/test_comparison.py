"""Comparisons that another one implies: they hold for every pair of values that it holds for."""

from __future__ import annotations

import pyarrow as pa
import pytest

from penstock.compile import sql
from penstock.compile.expressions.functions import arithmetic, comparison
from penstock.compile.expressions.values import Node, Truth, Value
from penstock.compile.sql import Expr, Select, Table
from tests.support.dialects import duckdb_rows
from tests.support.edge_terms import EDGE_TERMS

SYMBOLS = ("<", "<=", ">", ">=")
TERMS = pa.table({"t": EDGE_TERMS})
PAIRS = Select(
    [sql.alias(sql.column(side, "t"), side) for side in "lr"],
    sql.Join(sql.Derived(Select([sql.name("t")], Table("terms")), "l"),
             sql.Derived(Select([sql.name("t")], Table("terms")), "r"), sql.TRUE),
)  # fmt: skip


def counted(symbol: str, left: Value, right: Value) -> tuple[int, int]:
    """How many pairs meet the comparison, and how many of these do not meet one that it implies."""
    truth = comparison.FUNCTIONS[symbol](left, right)
    assert isinstance(truth, Truth)
    both: Expr = sql.all_of(comparison.implied(symbol, left, right))
    rows = duckdb_rows(Select([sql.alias(both, "implied")], PAIRS, truth.sql), terms=TERMS)
    return len(rows), sum(row != (True,) for row in rows)


@pytest.mark.parametrize("symbol", SYMBOLS)
def test_a_comparison_of_terms_implies_those_of_its_parts(symbol: str) -> None:
    found, missed = counted(symbol, Node(sql.name("l")), Node(sql.name("r")))
    assert found
    assert not missed


@pytest.mark.parametrize("symbol", SYMBOLS)
def test_a_comparison_with_a_computed_number_does_too(symbol: str) -> None:
    left = Node(sql.name("l"))
    doubled = arithmetic.FUNCTIONS["+"](left, left)
    found, missed = counted(symbol, doubled, Node(sql.name("r")))
    assert found
    assert not missed


def test_numbers_of_one_type_are_told_apart_by_what_is_implied() -> None:
    one, other = (Node(sql.text(f'"{n}"^^<http://www.w3.org/2001/XMLSchema#{kind}>')) for n, kind in
                  ((1, "double"), (2, "double")))  # fmt: skip
    (row,) = duckdb_rows(Select([sql.alias(sql.all_of(comparison.implied(">", one, other)), "implied")]))
    assert row == (False,)


def test_nothing_is_implied_for_values_that_are_no_numbers() -> None:
    assert comparison.implied("<", Node(sql.name("l")), Truth(sql.TRUE)) == []
