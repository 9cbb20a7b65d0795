"""Warnings about comparisons that can never hold, as the operands are of kinds that do not compare, and about constants
that have no value to compute with.

`=` is false and `!=` true between known kinds; the other comparisons of different kinds are errors, and so is what is
computed with a literal whose form is not of its datatype (https://www.w3.org/TR/sparql11-query/#OperatorMapping). Such
a literal is equal to itself only, as a term.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from penstock.errors import PenstockWarning
from penstock.syntax import tree
from penstock.syntax.checks.computed_kinds import ComputedKinds
from penstock.syntax.checks.constants import Kind, is_of_datatype, kind_of_constant, right_form
from penstock.syntax.functions import SPELLED, XSD

__all__ = ["comparison_warnings"]

_COMPARISONS = ("<", ">", "<=", ">=", "=", "!=", "IN", "NOT IN")
_ARITHMETIC = ("+", "-", "*", "/", "PLUS", "NEGATE")
_AS_TERM = {
    **dict.fromkeys(("=", "IN"), "only this very term is equal to it"),
    **dict.fromkeys(("!=", "NOT IN"), "no literal is unequal to it"),
}


def comparison_warnings(nodes: Sequence[object], text: str) -> Iterator[PenstockWarning]:
    """The warnings about the comparisons and the arithmetic among all nodes of a query, one for each pair of operands.

    IN compares its first operand with each of the others.
    """
    kinds = ComputedKinds(nodes)
    for node in nodes:
        match node:
            case tree.Call(sign, (first, *others)) if sign in _COMPARISONS:
                warnings = [_unequal(sign, first, other, kinds, text) for other in others]
            case tree.Call(sign, args) if sign in _ARITHMETIC:
                warnings = [_ill_typed(arg, "the result is an error", text) for arg in args]
            case _:
                continue
        yield from filter(None, warnings)


def _unequal(
    sign: str, left: tree.Expression, right: tree.Expression, kinds: ComputedKinds, text: str
) -> PenstockWarning | None:
    return _apart(sign, left, right, kinds, text) or _no_value(sign, left, right, kinds, text)


def _apart(
    sign: str, left: tree.Expression, right: tree.Expression, kinds: ComputedKinds, text: str
) -> PenstockWarning | None:
    """The warning about operands of different kinds, one of which is computed."""
    computed, other = (left, right) if kinds.of(left) else (right, left)
    kind, against = kinds.of(computed), _kind(other, kinds)
    if kind is None or against is None or kind == against or sign in ("!=", "NOT IN"):
        return None
    reason = f"{_shown(computed)} is {kind.value}, and {_shown(other)} {against.value}: {_never(sign)}"
    return _span(other).warning(reason, text, right_form(kind))


def _no_value(
    sign: str, left: tree.Expression, right: tree.Expression, kinds: ComputedKinds, text: str
) -> PenstockWarning | None:
    """The warning about an operand without a value: a computed term is never the same term."""
    outcome = _never(sign) if kinds.of(left) or kinds.of(right) else _AS_TERM.get(sign, _never(sign))
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


def _kind(expression: tree.Expression, kinds: ComputedKinds) -> Kind | None:
    """The kind of a constant, or of what an expression computes."""
    match expression:
        case tree.Literal():
            return kind_of_constant(expression)
        case tree.Iri():
            return Kind.iri
    return kinds.of(expression)


def _shown(expression: tree.Expression) -> str:
    """A constant, a variable or a function, as a query has it; the arguments only if they are variables."""
    match expression:
        case tree.Variable(name):
            return f"?{name}"
        case tree.Iri(value):
            return f"<{value}>"
        case tree.Literal(value) if kind_of_constant(expression) in (Kind.number, Kind.boolean):
            return value
        case tree.Literal(value):
            return f'"{value}"'
        case tree.Call("TIMESTAMP", (tree.Variable(name), *_)):
            return f"timestamp(?{name})"
        case tree.Call(name, args):
            return f"{SPELLED.get(name, name)}({_arguments(args)})"
        case tree.FunctionCall(tree.Iri(name), args):
            return f"xsd:{name.removeprefix(XSD)}({_arguments(args)})"
        case tree.Aggregate(name, argument):
            return f"{name}({'*' if argument is None else _arguments((argument,))})"
    raise AssertionError(f"neither a constant nor computed: {expression}")


def _arguments(args: tuple[tree.Expression, ...]) -> str:
    brief = all(isinstance(arg, tree.Variable | tree.Call) for arg in args)
    return ", ".join(map(_shown, args)) if brief else "…"


def _span(expression: tree.Expression) -> tree.Span:
    """The place of an operand, that of its datatype included."""
    if isinstance(expression, tree.Literal) and expression.datatype is not None:
        return expression.span.to(expression.datatype.span)
    return expression.span
