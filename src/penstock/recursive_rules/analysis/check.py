"""Refuses operators and functions that a recursive rule cannot have, with a hint what to write instead."""

from __future__ import annotations

from penstock.algebra import ops
from penstock.algebra.expressions import Call, Exists, Expr, Var, walk
from penstock.algebra.occurrence import everywhere
from penstock.algebra.ops import Op
from penstock.algebra.scope import certain, exists_in, expressions_of, free, mentioned, references, visible
from penstock.errors import QueryError
from penstock.recursive_rules.analysis.rule import Rule

__all__ = ["check", "exists_operands", "join_is_enough"]

_APART = "compute it in a rule of its own that is not recursive, and read its triples here"
_REFUSED: dict[type[Op], tuple[str, str]] = {
    ops.Group: ("aggregates", "count and add by rules, as {…} SEQ {…} with BIND(?before + ?new AS ?sum), or " + _APART),
    ops.Annotate: ("AGGREGATE", _APART),
    ops.OrderBy: ("ORDER BY", "leave it out: triples have no order"),
    ops.Slice: ("LIMIT and OFFSET", _APART),
    ops.Path: (
        "property paths",
        "write the path as rules: CONSTRUCT { ?a :reaches ?b } WHERE { ?a :step ?b } and one that goes a step on, or "
        + _APART,
    ),
    ops.Graph: ("GRAPH", _APART),
    ops.InWindow: ("windows", _APART),
    ops.WindowOverride: ("windows", _APART),
}
_UNREPEATABLE = {
    "RAND": "take a value from the events",
    "UUID": "write a blank node into the template: each solution has its own",
    "STRUUID": "write a blank node into the template: each solution has its own",
    "BNODE": "write a blank node into the template: each solution has its own",
    "NOW": "write getENDTIME()",
    "TIMESTAMP": "write getENDTIME() in the group of the pattern",
}


def check(rule: Rule) -> None:
    """Raise a QueryError that names the rule, if the rule engine cannot evaluate it."""
    for op in everywhere(rule.pattern):
        if type(op) in _REFUSED:
            what, instead = _REFUSED[type(op)]
            raise _refusal(rule, f"no {what}", instead)
        for expr in expressions_of(op):
            _check_expression(rule, op, expr)


def _check_expression(rule: Rule, op: Op, expr: Expr) -> None:
    for call in walk(expr):
        if isinstance(call, Call) and call.name in _UNREPEATABLE:
            raise _refusal(rule, f"no {call.name}(), which has another value each time", _UNREPEATABLE[call.name])
    for exists in exists_in(expr):
        if not isinstance(op, ops.Filter | ops.Extend):
            hint = "put braces around the pattern and its FILTER: OPTIONAL { { … FILTER EXISTS { … } } }"
            raise _refusal(rule, "no EXISTS in the filter of an optional group", hint)
        if not join_is_enough(exists_operands(exists)[1], visible(op.children[0])):
            hint = "put that FILTER at the end of the group of EXISTS"
            raise _refusal(rule, "no EXISTS whose inner groups read variables of the outer one", hint)


def _refusal(rule: Rule, what: str, hint: str) -> QueryError:
    return QueryError(f"rule {rule.name} feeds itself, and such a rule can have {what}", hint=hint)


def exists_operands(exists: Exists) -> tuple[Expr | None, Op]:
    """The filter at the end of the group of an EXISTS, which may read the outer solution, and the pattern."""
    pattern = exists.pattern
    is_last = isinstance(pattern, ops.Filter) and not exists_in(pattern.condition)
    return (pattern.condition, pattern.pattern) if is_last and isinstance(pattern, ops.Filter) else (None, pattern)


def join_is_enough(op: Op, outer: frozenset[Var]) -> bool:
    """Whether the solutions of the pattern that agree with the outer one are those that substituting it would leave."""
    if free(op) & outer:
        return False
    return all(_is_plain(part, outer) for part in everywhere(op))


def _is_plain(op: Op, outer: frozenset[Var]) -> bool:
    match op:
        case ops.LeftJoin(_, needed, other) | ops.Minus(needed, other) | ops.EqualsOptional(needed, other):
            return not outer & mentioned(other) - certain(needed)
        case ops.OptionalSeq(other, needed):
            return not outer & mentioned(other) - certain(needed)
        case ops.Extend(var, expression, pattern):
            return var not in outer and not outer & references(expression) - certain(pattern)
        case ops.Filter(condition, pattern):
            return not outer & references(condition) - certain(pattern)
    return True
