"""Durations: xsd:duration and xsd:dayTimeDuration as microseconds.

Months have no fixed length: a constant with months lies between a shortest and a longest (`values.of_term`), and a
duration between these cannot be compared with it.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import reduce

from penstock.compile import sql
from penstock.compile.expressions.values import EXACT, Length, Node, Value, term
from penstock.compile.sql import Expr, let
from penstock.model import term_encoding

__all__ = ["compare", "length"]

_UNITS = (86_400_000_000, 3_600_000_000, 60_000_000, 1_000_000)
_TERM = (
    r'^"(-?)P(?:([0-9]+)D)?(?:T(?:([0-9]+)H)?(?:([0-9]+)M)?(?:([0-9]+(?:[.][0-9]+)?)S)?)?"\^\^<'
    + re.escape(term_encoding.XSD)
    + "(?:duration|dayTimeDuration)>$"
)

_INCOMPLETE = sql.text('[PT]"')  # a designator without an amount


def length(value: Value) -> Length:
    """Return the length of a value; NULL if it is no duration, or has months."""
    if isinstance(value, Length):
        return value
    encoded = term(value) if isinstance(value, Node) else sql.NULL
    parts = [sql.call("regexp_extract", encoded, sql.text(_TERM), group) for group in range(1, 6)]
    amounts = (sql.case((part.eq(sql.text("")), 0), otherwise=part.cast("DECIMAL(18,6)")) for part in parts[1:])
    micros = [sql.exact("*", amount.cast(EXACT), sql.long(unit)) for amount, unit in zip(amounts, _UNITS, strict=True)]
    total = let(reduce(lambda a, b: sql.exact("+", a, b), micros))
    signed = sql.case((parts[0].eq(sql.text("-")), -total), otherwise=total).cast("BIGINT", of="DECIMAL")
    form = encoded.rlike(sql.text(_TERM)) & ~encoded.rlike(_INCOMPLETE)
    microseconds = let(sql.when(form & (total < 2**63), signed))
    return Length(microseconds, microseconds, encoded)


def compare(symbol: str, left: Value, right: Value) -> Expr:
    """Return the comparison; NULL if months leave it undecided."""
    a, b = length(left), length(right)
    if a.low == a.high and b.low == b.high:
        return a.low.compared(symbol, b.low)
    yes, no = _CERTAIN[symbol]
    return sql.case((yes(a, b), sql.TRUE), (no(a, b), sql.FALSE))


_Test = Callable[[Length, Length], Expr]
_CERTAIN: dict[str, tuple[_Test, _Test]] = {  # when a comparison is surely true, and when it is surely false
    "<": (lambda a, b: a.high < b.low, lambda a, b: a.low >= b.high),
    "<=": (lambda a, b: a.high <= b.low, lambda a, b: a.low > b.high),
    ">": (lambda a, b: a.low > b.high, lambda a, b: a.high <= b.low),
    ">=": (lambda a, b: a.low >= b.high, lambda a, b: a.high < b.low),
    "=": (lambda a, b: a.low.eq(b.high) & a.high.eq(b.low), lambda a, b: (a.high < b.low) | (a.low > b.high)),
}
