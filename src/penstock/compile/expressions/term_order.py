"""SPARQL's order as a sort key: https://www.w3.org/TR/sparql11-query/#modOrderBy.

Unbound, blank nodes, IRIs, literals; literals by family (numbers, strings, language strings, booleans, moments,
others), within it by value. Where the specification leaves the order open, ties go to the term itself, so that the
order is total.
"""

from __future__ import annotations

from penstock.compile import sql
from penstock.compile.expressions import term_columns
from penstock.compile.expressions.functions.moments import moment
from penstock.compile.expressions.values import EXACT, Node, Number, Value, boolean, number, term


def sort_key(value: Value) -> str:
    """A struct that Spark compares field by field; NULL fields come first. Integers alone need none."""
    if isinstance(value, Number) and value.counted:
        return str(value.exact)
    encoded = term(value)
    n, m = number(Node(encoded)), moment(encoded)
    fields = (
        _class(encoded),
        _family(encoded),
        n.as_real(),
        f"CAST({n.exact} AS {EXACT})",
        f"coalesce({m.micros}, CAST({boolean(encoded)} AS BIGINT))",
        f"CASE WHEN {term_columns.is_literal(encoded)} THEN {term_columns.lexical(encoded)} END",
        encoded,
    )
    return sql.call("struct", *fields)


def _class(encoded: str) -> str:
    return sql.case(
        (f"{encoded} IS NULL", "0"),
        (term_columns.is_blank(encoded), "1"),
        (term_columns.is_iri(encoded), "2"),
        otherwise="3",
    )


def _family(encoded: str) -> str:
    tail = term_columns.tail(encoded)
    n, m = number(Node(encoded)), moment(encoded)
    return sql.case(
        (f"{n.exact} IS NOT NULL OR {n.real} IS NOT NULL", "0"),
        (f"{tail} = ''", "1"),
        (f"startswith({tail}, '@')", "2"),
        (f"{boolean(encoded)} IS NOT NULL", "3"),
        (f"{m.micros} IS NOT NULL", "4"),
        otherwise="5",
    )
