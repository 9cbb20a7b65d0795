"""Lengths of time: xsd:duration and xsd:dayTimeDuration as microseconds.

Months have no one length: a constant with months lies between a shortest and a longest (`algebra.durations`), and
what lies between those cannot be compared with it.
"""

from __future__ import annotations

import re

from pyoxigraph import Literal

from penstock.algebra.durations import lengths
from penstock.compile import sql
from penstock.compile.expressions import term_columns
from penstock.compile.expressions.values import Length, Node, Value, term
from penstock.compile.sql.common_subexpressions import let
from penstock.model import term_encoding

__all__ = ["compare", "constant", "length"]

_UNITS = (86_400_000_000, 3_600_000_000, 60_000_000, 1_000_000)
_TERM = (
    r'^"(-?)P(?=[0-9T])(?:([0-9]+)D)?(?:T(?=[0-9])(?:([0-9]+)H)?(?:([0-9]+)M)?(?:([0-9]+(?:[.][0-9]+)?)S)?)?"\^\^<'
    + re.escape(term_encoding.XSD)
    + "(?:duration|dayTimeDuration)>$"
)


def constant(literal: Literal) -> Length | None:
    """The length that a literal of a query denotes; None if it is none."""
    found = lengths(literal)
    return None if found is None else Length(f"{found[0]}L", f"{found[1]}L", term_columns.constant(literal))


def length(value: Value) -> Length:
    """The length of any value; NULL where it is none, or has months."""
    if isinstance(value, Length):
        return value
    encoded = term(value) if isinstance(value, Node) else sql.NULL
    parts = [f"regexp_extract({encoded}, {sql.text(_TERM)}, {group})" for group in range(1, 6)]
    amounts = (f"coalesce(CAST(nullif({part}, '') AS DECIMAL(18,6)), 0)" for part in parts[1:])
    total = " + ".join(f"{amount} * {unit}" for amount, unit in zip(amounts, _UNITS, strict=True))
    signed = f"CAST(CASE WHEN {parts[0]} = '-' THEN -({total}) ELSE {total} END AS BIGINT)"
    micros = let(sql.when(f"{encoded} RLIKE {sql.text(_TERM)}", signed))
    return Length(micros, micros, encoded)


def compare(symbol: str, left: Value, right: Value) -> str:
    """NULL where the months of one leave it open."""
    a, b = length(left), length(right)
    if a.low == a.high and b.low == b.high:
        return f"{a.low} {symbol} {b.low}"
    yes, no = _CERTAIN[symbol]
    return sql.case((yes.format(a=a, b=b), "true"), (no.format(a=a, b=b), "false"))


_CERTAIN = {  # when a comparison is surely true, and when it is surely false
    "<": ("{a.high} < {b.low}", "{a.low} >= {b.high}"),
    "<=": ("{a.high} <= {b.low}", "{a.low} > {b.high}"),
    ">": ("{a.low} > {b.high}", "{a.high} <= {b.low}"),
    ">=": ("{a.low} >= {b.high}", "{a.high} < {b.low}"),
    "=": ("{a.low} = {b.high} AND {a.high} = {b.low}", "{a.high} < {b.low} OR {a.low} > {b.high}"),
}
