"""SPARQL's order as a sort key: https://www.w3.org/TR/sparql11-query/#modOrderBy.

Unbound, blank nodes, IRIs, literals; literals by family (numbers, strings, language strings, booleans, moments,
others), within it by value. Where the specification leaves the order open, ties go to the term itself, so that the
order is total.
"""

from __future__ import annotations

from penstock.compile import sql
from penstock.compile.expressions import term_columns
from penstock.compile.expressions.functions.arithmetic import any_not_null
from penstock.compile.expressions.functions.moments import moment
from penstock.compile.expressions.values import EXACT, Node, Number, Value, boolean, number, term
from penstock.compile.sql import Expr


def sort_key(value: Value) -> Expr:
    """Return a struct that Spark compares field by field; NULL fields come first. Values known to be integers need
    none."""
    if isinstance(value, Number) and value.counted and value.exact is not None:
        return value.exact
    encoded = term(value)
    n, m = number(Node(encoded)), moment(encoded)
    fields = (
        _class(encoded),
        _family(encoded),
        n.as_real(),
        (n.exact or sql.null(EXACT)).cast(EXACT),
        sql.coalesce(m.micros, boolean(encoded).cast("BIGINT")),
        sql.when(term_columns.is_literal(encoded), term_columns.lexical(encoded)),
        encoded,
    )
    return sql.call("struct", *fields)


def _class(encoded: Expr) -> Expr:
    return sql.case(
        (encoded.is_null(), 0), (term_columns.is_blank(encoded), 1), (term_columns.is_iri(encoded), 2), otherwise=3
    )


def _family(encoded: Expr) -> Expr:
    n, m = number(Node(encoded)), moment(encoded)
    return sql.case(
        (any_not_null(n.exact, n.real), 0),
        (term_columns.is_plain(encoded), 1),
        (term_columns.has_language(encoded), 2),
        (boolean(encoded).not_null(), 3),
        (m.micros.not_null(), 4),
        otherwise=5,
    )
