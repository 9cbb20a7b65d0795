"""Equality of dates and dateTimes for pyoxigraph, which calls a moment with a time zone unequal to one without.

By XML Schema such moments have no order, unless they are more than 14 hours apart. `<=` and `>=` of pyoxigraph are
errors then, so `=` between moments is written with these.
"""

from __future__ import annotations

from functools import reduce

from pyoxigraph import Literal, NamedNode

from penstock.algebra.expressions import Call, Const, Expr, Occurrence, Var
from penstock.model.term_encoding import XSD

__all__ = ["with_ordered_moments"]

_MOMENTS = tuple(NamedNode(XSD + name) for name in ("date", "dateTime"))
_PASSING = {"COALESCE", "IF", "STRDT", "NOW", *(name.value for name in _MOMENTS)}  # functions that may return a moment


def with_ordered_moments(expr: Expr) -> Expr:
    """Return the expression in which `=`, `!=`, IN and NOT IN are errors between moments that have no order."""
    match expr:
        case Call(name, args):
            operands = tuple(map(with_ordered_moments, args))
            return _compared(name, operands) if all(map(_may_be_moment, operands[:1])) else Call(name, operands)
    return expr


def _compared(name: str, operands: tuple[Expr, ...]) -> Expr:
    match name, operands:
        case "=" | "!=", (left, right) if _may_be_moment(right):
            return _negated(name == "!=", _equal(left, right))
        case "IN" | "NOT IN", (needle, *others) if any(map(_may_be_moment, others)):
            either = reduce(lambda a, b: Call("||", (a, b)), (_equal(needle, other) for other in others))
            return _negated(name == "NOT IN", either)
    return Call(name, operands)


def _negated(negated: bool, expr: Expr) -> Expr:
    return Call("!", (expr,)) if negated else expr


def _equal(left: Expr, right: Expr) -> Expr:
    if not _may_be_moment(right):
        return Call("=", (left, right))
    ordered = Call("&&", (Call("<=", (left, right)), Call(">=", (left, right))))
    return Call("IF", (_are_two_moments(left, right), ordered, Call("=", (left, right))))


def _are_two_moments(left: Expr, right: Expr) -> Expr:
    """Whether both are moments of one datatype, and different terms."""
    datatype = Call("DATATYPE", (left,))
    alike = Call("=", (datatype, Call("DATATYPE", (right,))))
    moments = Call("&&", (alike, Call("IN", (datatype, *map(Const, _MOMENTS)))))
    differ = Call("!", (Call("SAMETERM", (left, right)),))
    return Call("COALESCE", (Call("&&", (moments, differ)), Const(Literal(False))))


def _may_be_moment(expr: Expr) -> bool:
    match expr:
        case Const(Literal() as literal):
            return literal.datatype in _MOMENTS
        case Call(name):
            return name in _PASSING
    return isinstance(expr, Var) or expr in (Occurrence("start"), Occurrence("end"))
