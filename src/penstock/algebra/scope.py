"""The variables that an operator binds, may bind, and reads: https://www.w3.org/TR/sparql11-query/#variableScope.

Rules and the compiler ask these questions again and again about the same nodes, so the answers are cached; nodes are
frozen and hashable.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import lru_cache

from penstock.algebra.expressions import Call, Const, Exists, Expr, Var, walk
from penstock.algebra.ops import (
    Annotate,
    Bgp,
    EqualsOptional,
    Extend,
    Filter,
    Graph,
    Group,
    InWindow,
    Join,
    LeftJoin,
    Minus,
    Op,
    OptionalSeq,
    OrderBy,
    Path,
    Project,
    Table,
    Union,
    variables_of,
)

__all__ = [
    "certain", "conjuncts", "exists_in", "expressions_of", "free", "map_expressions", "mentioned", "references",
    "substituted", "visible",
]  # fmt: skip

Vars = frozenset[Var]
NONE: Vars = frozenset()


@lru_cache(maxsize=8192)
def visible(op: Op) -> Vars:
    """The variables in scope: those that a solution of `op` may bind.

    A variable that a SELECT or GROUP BY names is in scope even where nothing below binds it.
    """
    match op:
        case Bgp(patterns):
            return frozenset(v for p in patterns for v in variables_of(p.subject, p.predicate, p.object))
        case Path(subject, _, object):
            return frozenset(variables_of(subject, object))
        case Table(vars, _) | Project(vars, _):
            return frozenset(vars)
        case Extend(var, _, pattern) | Annotate(var, _, _, pattern):
            return visible(pattern) | {var}
        case Graph(Var() as name, pattern) | InWindow(Var() as name, pattern):
            return visible(pattern) | {name}
        case Group(keys, aggregates, _):
            return frozenset(keys) | {var for var, _ in aggregates}
        case Minus(left, _):
            return visible(left)
    return union_of(visible(child) for child in op.children)


@lru_cache(maxsize=8192)
def certain(op: Op) -> Vars:
    """The variables that every solution of `op` binds; never too many, though sometimes too few."""
    match op:
        case Bgp() | Path():
            return visible(op)
        case Join(left, right):
            return certain(left) | certain(right)
        case Union(left, right):
            return certain(left) & certain(right)
        case LeftJoin(_, needed, _) | Minus(needed, _) | EqualsOptional(needed, _) | OptionalSeq(_, needed):
            return certain(needed)
        case Filter(condition, pattern):
            return certain(pattern) | (_asked_bound(condition) & visible(pattern))
        case Extend(var, expression, pattern):
            below = certain(pattern)
            return below | {var} if _cannot_fail(expression, below) else below
        case Annotate(var, aggregate, _, pattern):
            return certain(pattern) | {var} if aggregate.name == "COUNT" else certain(pattern)
        case Table(vars, rows):
            return frozenset(var for i, var in enumerate(vars) if all(row[i] is not None for row in rows))
        case Graph(Var() as name, pattern) | InWindow(Var() as name, pattern):
            return certain(pattern) | {name}
        case Group(keys, aggregates, pattern):
            counted = {var for var, aggregate in aggregates if aggregate.name == "COUNT"}
            return (certain(pattern) & frozenset(keys)) | counted
        case Project(vars, pattern):
            return certain(pattern) & frozenset(vars)
    return union_of(certain(child) for child in op.children)


def _cannot_fail(expression: Expr, bound: Vars) -> bool:
    return isinstance(expression, Const) or (isinstance(expression, Var) and expression in bound)


def _asked_bound(condition: Expr) -> Vars:
    """The variables of `BOUND(?v)` among the conjuncts."""
    return frozenset(
        var for part in conjuncts(condition) if isinstance(part, Call) and part.name == "BOUND"
        for var in part.args if isinstance(var, Var)
    )  # fmt: skip


def conjuncts(condition: Expr) -> tuple[Expr, ...]:
    """The operands of all `&&` at the top. A filter passes just where each of them is true, errors included."""
    if isinstance(condition, Call) and condition.name == "&&":
        return tuple(part for arg in condition.args for part in conjuncts(arg))
    return (condition,)


@lru_cache(maxsize=8192)
def references(expr: Expr) -> Vars:
    """All variables an expression mentions; those of an EXISTS are all that its pattern mentions at any depth."""
    return _variables(expr, mentioned)


@lru_cache(maxsize=8192)
def mentioned(op: Op) -> Vars:
    """All variables that stand anywhere in `op`, hidden ones and those of its expressions included."""
    own = visible(op) | union_of(references(expr) for expr in expressions_of(op))
    return own | union_of(mentioned(child) for child in op.children)


def exists_in(expr: Expr) -> tuple[Exists, ...]:
    """The EXISTS of an expression, left to right; those inside another's pattern are not looked for."""
    return tuple(part for part in walk(expr) if isinstance(part, Exists))


def expressions_of(op: Op) -> tuple[Expr, ...]:
    """The expressions that stand in the operator itself, not in its operands."""
    match op:
        case Filter(condition, _):
            return (condition,)
        case LeftJoin(condition, _, _) | OptionalSeq(_, _, condition) | EqualsOptional(_, _, condition):
            return () if condition is None else (condition,)
        case Extend(_, expression, _):
            return (expression,)
        case OrderBy(conditions, _):
            return tuple(key.expression for key in conditions)
        case Group(_, aggregates, _):
            return tuple(aggregate for _, aggregate in aggregates)
        case Annotate(_, aggregate, _, _):
            return (aggregate,)
    return ()


def map_expressions(op: Op, change: Callable[[Expr], Expr]) -> Op:
    """The operator with its own expressions changed: the counterpart of `expressions_of`."""
    match op:
        case Filter(condition, _) | LeftJoin(Expr() as condition, _, _):
            return replace(op, condition=change(condition))
        case OptionalSeq(_, _, Expr() as condition) | EqualsOptional(_, _, Expr() as condition):
            return replace(op, condition=change(condition))
        case Extend(_, expression, _):
            return replace(op, expression=change(expression))
        case OrderBy(conditions, _):
            return replace(op, conditions=tuple(replace(key, expression=change(key.expression)) for key in conditions))
        case Group(_, aggregates, _):
            return replace(op, aggregates=tuple((var, change(made)) for var, made in aggregates))  # type: ignore[misc]
        case Annotate(_, aggregate, _, _):
            return replace(op, aggregate=change(aggregate))  # type: ignore[arg-type]
    return op


@lru_cache(maxsize=8192)
def free(op: Op) -> Vars:
    """The variables that expressions anywhere inside mention without seeing them.

    They are always unbound, except inside EXISTS, where the outer solution is substituted for them: an EXISTS whose
    pattern has free variables is correlated by more than a join on the visible ones.
    """
    around = union_of(visible(child) for child in op.children)
    own = union_of(_variables(expr, _read) for expr in expressions_of(op)) - around
    return own | union_of(free(child) for child in op.children)


def _read(pattern: Op) -> Vars:
    """The variables as `mentioned` has them, without the variables that a sub-SELECT hides."""
    return visible(pattern) | free(pattern)


@lru_cache(maxsize=8192)
def substituted(op: Op) -> Vars:
    """The variables for which the outer solution is taken where `op` is the pattern of an EXISTS: all that it mentions,
    on the right of a MINUS too, but those that a SELECT or GROUP BY hides."""
    if isinstance(op, Project | Group):
        return visible(op)
    own = visible(op) | union_of(_variables(expr, substituted) for expr in expressions_of(op))
    return own | union_of(substituted(child) for child in op.children)


def _variables(expr: Expr, of_pattern: Callable[[Op], Vars]) -> Vars:
    """The variables of an expression, with those of an EXISTS as the function finds them in its pattern."""
    parts = (part for part in walk(expr) if isinstance(part, Var | Exists))
    return union_of(frozenset((part,)) if isinstance(part, Var) else of_pattern(part.pattern) for part in parts)


def union_of(sets: Iterable[Vars]) -> Vars:
    return NONE.union(*sets)
