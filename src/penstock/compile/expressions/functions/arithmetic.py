"""Numbers: operators with promotion (integer → decimal → float → double) and the numeric functions.

Integers and decimals are DECIMAL(38,18), which holds every 64-bit integer and 18 digits after the point; what exceeds
that is an error. https://www.w3.org/TR/sparql11-query/#func-numerics
"""

from __future__ import annotations

from collections.abc import Callable

from penstock.compile import sql
from penstock.compile.expressions import term_columns
from penstock.compile.expressions.values import DECIMAL, DOUBLE, EXACT, FLOAT, INTEGER, Number, Value, number, single
from penstock.compile.sql.common_subexpressions import let


def integer(expression: str) -> Number:
    """An xsd:integer from a SQL integer."""
    written = term_columns.typed(f"CAST({expression} AS STRING)", "integer")
    return Number(INTEGER, f"CAST({expression} AS {EXACT})", None, written)


def promoted(*numbers: Number) -> int | str:
    """The kind that all the numbers are promoted to."""
    kinds = [n.kind for n in numbers]
    if all(isinstance(k, int) for k in kinds):
        return max(k for k in kinds if isinstance(k, int))
    return let(f"greatest({', '.join(map(str, kinds))})")


def _operator(exact: Callable[[str, str], str], real: Callable[[str, str], str]) -> Callable[[Value, Value], Number]:
    def emit(left: Value, right: Value) -> Number:
        a, b = number(left), number(right)
        both_exact = None if a.exact is None or b.exact is None else let(exact(a.exact, b.exact))
        return Number(promoted(a, b), both_exact, _real_result(a, b, real))

    return emit


def _real_result(a: Number, b: Number, real: Callable[[str, str], str]) -> str | None:
    if a.real is None and b.real is None:
        return None
    result = let(_rounded(real(a.as_real(), b.as_real()), promoted(a, b)))
    if a.exact is None or b.exact is None:
        return result
    return let(sql.when(f"{a.exact} IS NULL OR {b.exact} IS NULL", result))


def _rounded(real: str, kind: int | str) -> str:
    """A double, cut to what a float holds if it is known to be one; others are cut where they are written."""
    return single(real) if kind == FLOAT else real


def _infix(symbol: str) -> Callable[[str, str], str]:
    return lambda a, b: f"({a} {symbol} {b})"


def _exact_product(a: str, b: str) -> str:
    """a·b without the digits that Spark's own product of two DECIMAL(38,18) drops: whole and fraction apart."""
    whole, rest = _whole, _fraction
    parts = (f"{whole(a)} * {whole(b)}", f"{whole(a)} * {rest(b)}", f"{rest(a)} * {whole(b)}", f"{rest(a)} * {rest(b)}")
    return "(" + " + ".join(f"CAST({part} AS {EXACT})" for part in parts) + ")"


def _whole(a: str) -> str:
    return truncated(a, "DECIMAL(20,0)")


def truncated(exact: str, spark_type: str = EXACT) -> str:
    """Without what stands after the point."""
    return let(f"CAST(CASE WHEN {exact} < 0 THEN ceil({exact}) ELSE floor({exact}) END AS {spark_type})")


def _fraction(a: str) -> str:
    return let(f"CAST({a} - {_whole(a)} AS DECIMAL(18,18))")


def _real_quotient(a: str, b: str) -> str:
    """IEEE division: SQL's has NULL where a double has infinity or NaN."""
    infinity = f"CASE WHEN CAST({b} AS STRING) = '-0.0' THEN '-Infinity' ELSE 'Infinity' END"
    return sql.case((f"{b} = 0", f"{a} * CAST({infinity} AS DOUBLE)"), otherwise=f"({a} / {b})")


_divide = _operator(_infix("/"), _real_quotient)


def divide(left: Value, right: Value) -> Number:
    """Of integers, a decimal; by zero an error (or infinity for floats and doubles)."""
    quotient = _divide(left, right)
    kind = quotient.kind
    kind = max(kind, DECIMAL) if isinstance(kind, int) else let(f"greatest({kind}, {DECIMAL})")
    return Number(kind, quotient.exact, quotient.real)


def _each(exact: str, real: str) -> Callable[[Value], Number]:
    """A function of one number that keeps its kind; the templates have `x` where the number goes."""

    def emit(value: Value) -> Number:
        n = number(value)
        return Number(n.kind, _fill(exact, n.exact), _fill(real, n.real))

    return emit


def _fill(template: str, x: str | None) -> str | None:
    return None if x is None else let(template.replace("{x}", x))


def _rounding(exact: str, real: str) -> Callable[[Value], Number]:
    """Doubles beyond 2⁵² are whole already; the others go through a 64-bit integer, which has no negative zero."""
    whole = "isnan({x}) OR {x} = 0 OR abs({x}) >= 4503599627370496"
    real = f"CASE WHEN {whole} THEN {{x}} ELSE sign({{x}}) * abs(CAST({real} AS DOUBLE)) END"
    return _each(f"CAST({exact} AS {EXACT})", real)


def is_numeric(value: Value) -> str:
    n = number(value)
    return any_not_null(n.exact, n.real)


def any_not_null(*expressions: str | None) -> str:
    return sql.any_of(f"{e} IS NOT NULL" for e in expressions if e is not None)


negate = _each("(- {x})", "(- {x})")

FUNCTIONS: dict[str, Callable[..., Value]] = {
    "+": _operator(_infix("+"), _infix("+")),
    "-": _operator(_infix("-"), _infix("-")),
    "*": _operator(_exact_product, _infix("*")),
    "/": divide,
    "NEGATE": negate,
    "PLUS": _each("{x}", "{x}"),
    "ABS": _each("abs({x})", "abs({x})"),
    "CEIL": _rounding("ceil({x})", "ceil({x})"),
    "FLOOR": _rounding("floor({x})", "floor({x})"),
    "ROUND": _rounding("floor({x} + 0.5BD)", "floor({x}) + CAST({x} - floor({x}) >= 0.5D AS INT)"),
    "RAND": lambda: Number(DOUBLE, None, "rand()"),
}
