"""Numbers: operators with promotion (integer → decimal → float → double) and the numeric functions.

Integers and decimals are DECIMAL(38,18), which holds every 64-bit integer and 18 digits after the point; what exceeds
that is an error. https://www.w3.org/TR/sparql11-query/#func-numerics
"""

from __future__ import annotations

from collections.abc import Callable

from penstock.spark import sql
from penstock.spark.lets import let
from penstock.spark.values import DECIMAL, DOUBLE, EXACT, INTEGER, Number, Value, number


def integer(expression: str) -> Number:
    """An xsd:integer from a SQL integer."""
    return Number(INTEGER, f"CAST({expression} AS {EXACT})", None)


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
    result = let(real(a.as_real(), b.as_real()))
    if a.exact is None or b.exact is None:
        return result
    return let(sql.when(f"{a.exact} IS NULL OR {b.exact} IS NULL", result))


def _infix(symbol: str) -> Callable[[str, str], str]:
    return lambda a, b: f"({a} {symbol} {b})"


def _exact_product(a: str, b: str) -> str:
    """a·b without the digits that Spark's own product of two DECIMAL(38,18) drops: whole and fraction apart."""
    whole, rest = _whole, _fraction
    parts = (f"{whole(a)} * {whole(b)}", f"{whole(a)} * {rest(b)}", f"{rest(a)} * {whole(b)}", f"{rest(a)} * {rest(b)}")
    return "(" + " + ".join(f"CAST({part} AS {EXACT})" for part in parts) + ")"


def _whole(a: str) -> str:
    return let(f"CAST(CASE WHEN {a} < 0 THEN ceil({a}) ELSE floor({a}) END AS DECIMAL(19,0))")


def _fraction(a: str) -> str:
    return let(f"CAST({a} - {_whole(a)} AS DECIMAL(18,18))")


def _real_quotient(a: str, b: str) -> str:
    """IEEE division: SQL's has NULL where a double has infinity or NaN."""
    infinite = f"CAST(CASE WHEN {a} > 0 AND NOT isnan({a}) THEN 'Infinity' WHEN {a} < 0 THEN '-Infinity' ELSE 'NaN' END AS DOUBLE)"
    return sql.case((f"{a} IS NOT NULL AND {b} = 0", infinite), otherwise=f"({a} / {b})")


_divide = _operator(_infix("/"), _real_quotient)


def divide(left: Value, right: Value) -> Number:
    """Of integers, a decimal; by zero an error (or infinity for floats and doubles)."""
    quotient = _divide(left, right)
    kind = max(quotient.kind, DECIMAL) if isinstance(quotient.kind, int) else let(f"greatest({quotient.kind}, {DECIMAL})")
    return Number(kind, quotient.exact, quotient.real)


def _each(exact: str, real: str) -> Callable[[Value], Number]:
    """A function of one number that keeps its kind; the templates have `x` where the number goes."""

    def emit(value: Value) -> Number:
        n = number(value)
        return Number(n.kind, _fill(exact, n.exact), _fill(real, n.real))

    return emit


def _fill(template: str, x: str | None) -> str | None:
    return None if x is None else let(template.replace("{x}", x))


def _rounding(function: str, shift: str = "") -> Callable[[Value], Number]:
    """Doubles beyond 2⁵² are whole already, and floor and ceil would take them through a 64-bit integer."""
    real = f"CASE WHEN isnan({{x}}) OR abs({{x}}) >= 4503599627370496 THEN {{x}} ELSE CAST({function}({{x}}{shift}) AS DOUBLE) END"
    return _each(f"CAST({function}({{x}}{shift}) AS {EXACT})", real)


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
    "CEIL": _rounding("ceil"),
    "FLOOR": _rounding("floor"),
    "ROUND": _rounding("floor", " + 0.5BD"),
    "RAND": lambda: Number(DOUBLE, None, "rand()"),
}
