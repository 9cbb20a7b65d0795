"""Arithmetic: operators with promotion (integer → decimal → float → double) and the numeric functions.

Integers and decimals are DECIMAL(38,18), which holds every 64-bit integer and 18 digits after the point; a larger
result is an error. https://www.w3.org/TR/sparql11-query/#func-numerics
"""

from __future__ import annotations

import re
from collections.abc import Callable
from decimal import Decimal
from functools import reduce
from itertools import product
from operator import neg

from penstock.compile import sql
from penstock.compile.expressions import term_columns
from penstock.compile.expressions.values import (
    DECIMAL,
    DOUBLE,
    EXACT,
    FLOAT,
    INTEGER,
    Number,
    Value,
    magnitude,
    negated,
    number,
    single,
)
from penstock.compile.sql import Expr, let

Binary = Callable[[Expr, Expr], Expr]
Unary = Callable[[Expr], Expr]


def integer(expression: Expr) -> Number:
    """Return an xsd:integer of a SQL integer."""
    written = term_columns.typed(expression.cast("STRING"), "integer")
    return Number(INTEGER, expression.cast(EXACT), None, written)


def promoted(*numbers: Number) -> int | Expr:
    """Return the type that all the numbers are promoted to."""
    kinds = [n.kind for n in numbers]
    if all(isinstance(k, int) for k in kinds):
        return max(k for k in kinds if isinstance(k, int))
    return let(sql.call("greatest", *kinds))


def _operator(exact: Binary, real: Binary) -> Callable[[Value, Value], Number]:
    def emit(left: Value, right: Value) -> Number:
        a, b = number(left), number(right)
        both_exact = None if a.exact is None or b.exact is None else let(exact(a.exact, b.exact))
        return Number(promoted(a, b), both_exact, _real_result(a, b, real))

    return emit


def _real_result(a: Number, b: Number, real: Binary) -> Expr | None:
    if a.real is None and b.real is None:
        return None
    result = let(_rounded(real(a.as_real(), b.as_real()), promoted(a, b)))
    if a.exact is None or b.exact is None:
        return result
    return let(sql.when(a.exact.is_null() | b.exact.is_null(), result))


def _rounded(real: Expr, kind: int | Expr) -> Expr:
    """Return a double, rounded to a float if the type is known to be float; otherwise that happens where it is
    written."""
    return single(real) if kind == FLOAT else real


def _infix(symbol: str) -> Binary:
    return lambda a, b: a.compared(symbol, b)


def _exact(symbol: str) -> Binary:
    return lambda a, b: sql.exact(symbol, a, b)


def _exact_product(a: Expr, b: Expr) -> Expr:
    """Return a·b without the loss of digits in Spark's product of two DECIMAL(38,18): whole and fraction separately."""
    pairs = product(_parts(a), _parts(b))
    return reduce(_exact("+"), (sql.exact("*", *pair).cast(EXACT) for pair in pairs))


def _parts(a: Expr) -> list[Expr]:
    """Return the whole and the fraction; of a constant, without one that is zero."""
    constant = a.args[0] if isinstance(a, sql.Cast) else None
    written = constant.value if isinstance(constant, sql.Literal) and constant.is_text else ""
    if not _SHORT.fullmatch(written):
        return [_whole(a), _fraction(a)]
    value = Decimal(written)
    return [_whole(a)] * (abs(value) >= 1 or not value) + [_fraction(a)] * (value % 1 != 0)


_SHORT = re.compile(r"[+-]?[0-9]{1,20}(?:\.[0-9]{0,7})?")  # a number that Decimal and EXACT have alike


def _whole(a: Expr) -> Expr:
    return truncated(a, "DECIMAL(20,0)")


def truncated(exact: Expr, type: str = EXACT) -> Expr:
    """Return the number without its fraction."""
    return let(sql.case((exact < 0, sql.call("ceil", exact)), otherwise=sql.call("floor", exact)).cast(type))


def _fraction(a: Expr) -> Expr:
    return let(sql.exact("-", a, _whole(a)).cast("DECIMAL(18,18)"))


def _real_quotient(a: Expr, b: Expr) -> Expr:
    """Return the IEEE quotient: SQL's is NULL where a double is infinity or NaN."""
    negative = b.cast("STRING", of="DOUBLE").eq(sql.text("-0.0"))
    infinity = sql.case((negative, sql.text("-Infinity")), otherwise=sql.text("Infinity"))
    return sql.case((b.eq(0), a * infinity.cast("DOUBLE")), otherwise=a / b)


_divide = _operator(_exact("/"), _real_quotient)


def divide(left: Value, right: Value) -> Number:
    """Return the quotient: of integers a decimal; division by zero is an error (or infinity for floats and doubles)."""
    quotient = _divide(left, right)
    kind = quotient.kind
    kind = max(kind, DECIMAL) if isinstance(kind, int) else let(sql.call("greatest", kind, DECIMAL))
    return Number(kind, quotient.exact, quotient.real)


def _each(exact: Unary, real: Unary) -> Callable[[Value], Number]:
    """Return the emitter of a function of one number that keeps its type."""

    def emit(value: Value) -> Number:
        n = number(value)
        return Number(n.kind, _of(exact, n.exact), _of(real, n.real))

    return emit


def _of(function: Unary, x: Expr | None) -> Expr | None:
    return None if x is None else let(function(x))


def _rounding(exact: Unary, real: Unary) -> Callable[[Value], Number]:
    """Return the emitter of a rounding function.

    Doubles beyond 2⁵² are whole already; the others are cast to a 64-bit integer, which has no negative zero.
    """

    def of_real(x: Expr) -> Expr:
        whole = sql.any_of([sql.call("isnan", x), x.eq(0), sql.call("abs", x) >= 2**52])
        return sql.case((whole, x), otherwise=sql.call("sign", x) * sql.call("abs", real(x).cast("DOUBLE")))

    return _each(lambda x: exact(x).cast(EXACT), of_real)


def _called(function: str) -> Unary:
    return lambda x: sql.call(function, x)


def _half_up(x: Expr) -> Expr:
    """Round half up, without the sum of x and a half, which a double may not represent."""
    floor = sql.call("floor", x)
    return floor + (x - floor >= sql.double("0.5")).cast("INT")


def is_numeric(value: Value) -> Expr:
    n = number(value)
    return any_not_null(n.exact, n.real)


def any_not_null(*expressions: Expr | None) -> Expr:
    return sql.any_of(e.not_null() for e in expressions if e is not None)


negate = _each(negated, neg)

FUNCTIONS: dict[str, Callable[..., Value]] = {
    "+": _operator(_exact("+"), _infix("+")),
    "-": _operator(_exact("-"), _infix("-")),
    "*": _operator(_exact_product, _infix("*")),
    "/": divide,
    "NEGATE": negate,
    "PLUS": _each(lambda x: x, lambda x: x),
    "ABS": _each(magnitude, _called("abs")),
    "CEIL": _rounding(_called("ceil"), _called("ceil")),
    "FLOOR": _rounding(_called("floor"), _called("floor")),
    "ROUND": _rounding(lambda x: sql.call("floor", sql.exact("+", x, sql.Literal("0.5", "DECIMAL"))), _half_up),
    "RAND": lambda: Number(DOUBLE, None, sql.call("rand")),
}
