"""Products with a constant: the same as with a column that has the constant in every row."""

from __future__ import annotations

import pyarrow as pa
import pytest
from pyoxigraph import Literal, NamedNode

from penstock.compile import sql
from penstock.compile.expressions.functions.arithmetic import FUNCTIONS
from penstock.compile.expressions.values import Node, Number, Value, of_term
from penstock.compile.sql import Select, Table
from penstock.model.term_encoding import XSD, encode
from tests.support.dialects import Row, duckdb_rows
from tests.support.edge_terms import EDGE_TERMS

CONSTANTS = (
    "0", "-0.0", "1", "-1", "007", "0.7", "1.05", "-0.5", "-2.25", "12.", "99999999999999999998.5", "0.0000001",
    "0.00000001", "0.9999999999999999999", "-0.9999999999999999995", "1.0000000000000000004", "0.000000000000000000",
)  # fmt: skip


def products(factor: Value, constants: str) -> list[Row]:
    found = FUNCTIONS["*"](Node(sql.name("t")), factor)
    assert isinstance(found, Number)
    items = [sql.alias(part, name) for name, part in (("exact", found.exact), ("real", found.real)) if part is not None]
    table = pa.table({"t": EDGE_TERMS, "c": [constants] * len(EDGE_TERMS)})
    return duckdb_rows(Select([sql.name("t"), *items], Table("terms")), terms=table)


@pytest.mark.parametrize("lexical", CONSTANTS)
def test_a_constant_factor_is_like_a_column(lexical: str) -> None:
    constant = Literal(lexical, datatype=NamedNode(XSD + "decimal"))
    one, other = products(of_term(constant), encode(constant)), products(Node(sql.name("c")), encode(constant))
    assert len(one) == len(EDGE_TERMS)
    assert list(map(repr, one)) == list(map(repr, other))  # NaN is NaN
