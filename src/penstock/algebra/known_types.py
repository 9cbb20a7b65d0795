"""Static type inference: variables whose terms are known to have one datatype."""

from __future__ import annotations

from functools import lru_cache

from penstock.algebra.expressions import Aggregate, Var
from penstock.algebra.ops import Annotate, Extend, Graph, Group, InWindow, Op, Project
from penstock.algebra.scope import Vars, union_of, visible

__all__ = ["counts"]

_OF_COUNTS = frozenset(("SUM", "MIN", "MAX", "SAMPLE"))


@lru_cache(maxsize=8192)
def counts(op: Op) -> Vars:
    """The variables that only ever hold the result of a COUNT, an xsd:integer in canonical form."""
    match op:
        case Group(keys, aggregates, pattern):
            below = counts(pattern)
            return below & frozenset(keys) | {var for var, aggregate in aggregates if _is_count(aggregate, below)}
        case Annotate(var, aggregate, _, pattern):
            return _with(var, _is_count(aggregate, counts(pattern)), pattern)
        case Extend(var, expression, pattern):
            return _with(var, expression in counts(pattern), pattern)
        case Graph(Var() as name, pattern) | InWindow(Var() as name, pattern):
            return counts(pattern) - {name}
        case Project(vars, pattern):
            return counts(pattern) & frozenset(vars)
    other = union_of(visible(child) - counts(child) for child in op.children)  # a variable may be bound on either side
    return union_of(map(counts, op.children)) - other


def _is_count(aggregate: Aggregate, below: Vars) -> bool:
    return aggregate.name == "COUNT" or (aggregate.name in _OF_COUNTS and aggregate.argument in below)


def _with(var: Var, is_count: bool, pattern: Op) -> Vars:
    return counts(pattern) | {var} if is_count else counts(pattern) - {var}
