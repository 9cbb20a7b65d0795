"""Warnings about comparisons that can never hold, as the operands are of kinds that do not compare, and about constants
that have no value to compute with.

`=` is false and `!=` true between known kinds; the other comparisons of different kinds are errors, and so is what is
computed with a literal whose form is not of its datatype (https://www.w3.org/TR/sparql11-query/#OperatorMapping). Such
a literal is equal to itself only, as a term.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from penstock.errors import PenstockWarning
from penstock.syntax import tree
from penstock.syntax.checks.constants import Kind, is_of_datatype, kind_of_constant, right_form
from penstock.syntax.functions import SPELLED, XSD

__all__ = ["comparison_warnings"]

_COMPARISONS = ("<", ">", "<=", ">=", "=", "!=", "IN", "NOT IN")
_ARITHMETIC = ("+", "-", "*", "/", "PLUS", "NEGATE")
_AS_TERM = {
    **dict.fromkeys(("=", "IN"), "only this very term is equal to it"),
    **dict.fromkeys(("!=", "NOT IN"), "no literal is unequal to it"),
}
_RETURNS = {
    "GETDURATION": Kind.duration,
    "GETSTARTTIME": Kind.moment,
    "GETENDTIME": Kind.moment,
    "TIMESTAMP": Kind.moment,
    "NOW": Kind.moment,
}


def comparison_warnings(nodes: Iterable[object], text: str) -> Iterator[PenstockWarning]:
    """The warnings about the comparisons and the arithmetic among all nodes of a query, one for each pair of operands.

    IN compares its first operand with each of the others.
    """
    for node in nodes:
        match node:
            case tree.Call(sign, (first, *others)) if sign in _COMPARISONS:
                found = [_apart(sign, first, other, text) or _no_value(sign, first, other, text) for other in others]
            case tree.Call(sign, args) if sign in _ARITHMETIC:
                found = [_ill_typed(arg, "the result is an error", text) for arg in args]
            case _:
                continue
        yield from filter(None, found)


def _apart(sign: str, left: tree.Expression, right: tree.Expression, text: str) -> PenstockWarning | None:
    """The warning about operands of different kinds, one of which is a function."""
    function, other = (left, right) if _returns(left) else (right, left)
    kind, against = _returns(function), _kind(other)
    if kind is None or against is None or kind == against or sign in ("!=", "NOT IN"):
        return None
    reason = f"{_shown(function)} is {kind.value}, and {_shown(other)} {against.value}: {_never(sign)}"
    return _span(other).warning(reason, text, right_form(kind))


def _no_value(sign: str, left: tree.Expression, right: tree.Expression, text: str) -> PenstockWarning | None:
    """The warning about an operand without a value: a function never returns the same term."""
    outcome = _never(sign) if _returns(left) or _returns(right) else _AS_TERM.get(sign, _never(sign))
    return _ill_typed(right, outcome, text) or _ill_typed(left, outcome, text)


def _never(sign: str) -> str:
    return "they are never equal" if sign == "IN" else "this comparison never holds"


def _ill_typed(operand: tree.Expression, outcome: str, text: str) -> PenstockWarning | None:
    """The warning about a constant whose form is not of its datatype."""
    if not isinstance(operand, tree.Literal) or operand.datatype is None:
        return None
    datatype = operand.datatype.value
    if is_of_datatype(operand.value, datatype):
        return None
    reason = f'"{operand.value}" is no xsd:{datatype.removeprefix(XSD)}: {outcome}'
    return _span(operand).warning(reason, text, right_form(datatype))


def _kind(expression: tree.Expression) -> Kind | None:
    """The kind of what an expression returns, if it is a constant or one of the functions of time."""
    match expression:
        case tree.Literal():
            return kind_of_constant(expression)
        case tree.Iri():
            return Kind.iri
    return _returns(expression)


def _returns(expression: tree.Expression) -> Kind | None:
    match expression:
        case tree.Call(name):
            return _RETURNS.get(name)
        case tree.Aggregate("MIN" | "MAX" | "SAMPLE", argument) if argument is not None:
            return _returns(argument)
    return None


def _shown(expression: tree.Expression) -> str:
    """A constant or a function, as a query has it."""
    match expression:
        case tree.Iri(value):
            return f"<{value}>"
        case tree.Literal(value) if kind_of_constant(expression) in (Kind.number, Kind.boolean):
            return value
        case tree.Literal(value):
            return f'"{value}"'
        case tree.Call("TIMESTAMP", (tree.Variable(name), *_)):
            return f"timestamp(?{name})"
        case tree.Call(name):
            return f"{SPELLED.get(name, name)}()"
        case tree.Aggregate(name, argument) if argument is not None:
            return f"{name}({_shown(argument)})"
    raise AssertionError(f"neither a constant nor a function of time: {expression}")


def _span(expression: tree.Expression) -> tree.Span:
    """The place of an operand, that of its datatype included."""
    if isinstance(expression, tree.Literal) and expression.datatype is not None:
        return expression.span.to(expression.datatype.span)
    return expression.span
