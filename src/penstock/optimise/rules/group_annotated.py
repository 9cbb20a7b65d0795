"""An aggregate beside every row, of which each kind of row is wanted once, is a plain GROUP BY."""

from __future__ import annotations

from penstock.algebra import smart_constructors as make
from penstock.algebra.expressions import Aggregate, Expr, Var
from penstock.algebra.ops import Annotate, Distinct, Filter, Group, Op, Project
from penstock.algebra.scope import exists_in, references

__all__ = ["group_annotated"]


def group_annotated(op: Op) -> Op:
    """Distinct(Project(V, Annotate(v, f, K, P))) → Distinct(Project(V, Group(K, v = f, P))) for V ⊆ K ∪ {v}.

    Also through filters that read nothing else, and for several aggregates over the same K. All rows of a group agree
    in K and v, and a group has a row. With all of K in V the groups differ already, and DISTINCT goes too.
    """
    match op:
        case Distinct(Project(vars, pattern)):
            conditions, below = _unfiltered(pattern)
            made, keys, base = _annotations(below)
            if not keys or not _reads_only(vars, conditions, frozenset(keys).union(made)):
                return op
            result: Op = Group(keys, tuple(made.items()), base)
            for condition in reversed(conditions):
                result = Filter(condition, result)
            projected = make.project(vars, result)
            return projected if set(keys) <= set(vars) else Distinct(projected)
    return op


def _unfiltered(op: Op) -> tuple[list[Expr], Op]:
    conditions = []
    while isinstance(op, Filter):
        conditions.append(op.condition)
        op = op.pattern
    return conditions, op


def _annotations(op: Op) -> tuple[dict[Var, Aggregate], tuple[Var, ...], Op]:
    """Adjacent annotations with the same keys, and the pattern below them; none reads the result of another."""
    made: dict[Var, Aggregate] = {}
    keys: tuple[Var, ...] = ()
    while isinstance(op, Annotate) and (not made or set(op.keys) == set(keys)):
        if any(op.var in references(aggregate) for aggregate in made.values()):
            break
        keys = keys or op.keys
        made = {op.var: op.aggregate, **made}
        op = op.pattern
    return made, keys, op


def _reads_only(vars: tuple[Var, ...], conditions: list[Expr], known: frozenset[Var]) -> bool:
    return set(vars) <= known and all(references(c) <= known and not exists_in(c) for c in conditions)
