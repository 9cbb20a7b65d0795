"""The choice of an algorithm for EXISTS: a semi-join, or the pattern with the outer solution substituted.

Substituting the outer solution means more than joining with it if a filter inside reads an outer variable, or an
OPTIONAL inside depends on one. A filter around the whole pattern is then tested on the pairs of a semi-join.
"""

from __future__ import annotations

from penstock.algebra import ops
from penstock.algebra.expressions import Call, Exists, Expr, Occurrence, Var, walk
from penstock.algebra.scope import certain, exists_in, expressions_of, free, references, substituted

__all__ = ["correlated_filter", "is_semi_join"]

_OF_A_SIDE = frozenset(("BNODE", "TIMESTAMP"))


def is_semi_join(op: ops.Op, outer: frozenset[Var]) -> bool:
    """Whether a join of the pattern's solutions with the outer one gives the same as substituting it."""
    outer = outer & substituted(op)
    if not outer:
        return True
    if any(outer & references(e) - _certain_below(op) or exists_in(e) for e in expressions_of(op)):
        return False
    match op:
        case ops.LeftJoin(_, left, right) | ops.Minus(left, right) | ops.EqualsOptional(left, right):
            return _are_independent(left, right, outer)
        case ops.OptionalSeq(left, right):
            return _are_independent(right, left, outer)
        case ops.Group(keys, _, pattern):
            return outer <= frozenset(keys) and is_semi_join(pattern, outer)
        case ops.Slice():
            return False
        case ops.Project(vars, pattern):
            return is_semi_join(pattern, outer & frozenset(vars))
    return all(is_semi_join(child, outer) for child in op.children)


def correlated_filter(op: ops.Op, outer: frozenset[Var]) -> tuple[Expr, ops.Op] | None:
    """Return the filter around a pattern, and the pattern, if the filter may as well be tested on the pairs of an outer
    solution and a solution of the pattern; None if it may not.

    That is so if the pattern itself can be joined. Occurrence times and timestamps belong to the triples of one side.
    """
    match op:
        case ops.Filter(condition, pattern) if is_semi_join(pattern, outer):
            return None if any(map(_is_bound_to_a_side, walk(condition))) else (condition, pattern)
    return None


def _is_bound_to_a_side(part: Expr) -> bool:
    return isinstance(part, Exists | Occurrence) or (isinstance(part, Call) and part.name in _OF_A_SIDE)


def _are_independent(needed: ops.Op, other: ops.Op, outer: frozenset[Var]) -> bool:
    alone = outer & substituted(other) - certain(needed)
    return not alone and is_semi_join(needed, outer) and _independent(other, outer)


def _independent(op: ops.Op, outer: frozenset[Var]) -> bool:
    return not (free(op) & outer) and is_semi_join(op, outer)


def _certain_below(op: ops.Op) -> frozenset[Var]:
    return frozenset().union(*(certain(child) for child in op.children))
