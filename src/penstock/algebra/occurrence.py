"""Tests for the parts of a query that ask when something occurred (EP-SPARQL).

Where one does, every solution has an interval, and OPTIONAL, MINUS and EXISTS count only events that have ended when
the solution itself ends, so that no later event retracts an answer.
"""

from __future__ import annotations

from collections.abc import Iterator

from penstock.algebra.expressions import Expr, Occurrence, walk
from penstock.algebra.ops import Equals, EqualsOptional, Op, OptionalSeq, Query, Seq
from penstock.algebra.scope import exists_in, expressions_of

__all__ = ["EVENT_OPERATORS", "asks_interval", "everywhere", "inner_plans", "is_timed"]

EVENT_OPERATORS = (Seq, Equals, OptionalSeq, EqualsOptional)


def is_timed(query: Query) -> bool:
    """Whether the answers depend on the intervals of solutions."""
    return query.emit == "events" or _is_timed(query.pattern)


def _is_timed(op: Op) -> bool:
    if isinstance(op, EVENT_OPERATORS) or any(map(asks_interval, expressions_of(op))):
        return True
    return any(map(_is_timed, inner_plans(op)))


def inner_plans(op: Op) -> Iterator[Op]:
    """The operands, and then the patterns of the operator's own EXISTS, in a fixed order."""
    yield from op.children
    for expression in expressions_of(op):
        yield from (exists.pattern for exists in exists_in(expression))


def everywhere(op: Op) -> Iterator[Op]:
    """The nodes of a plan, and of the patterns in its expressions."""
    yield op
    for inner in inner_plans(op):
        yield from everywhere(inner)


def asks_interval(expression: Expr) -> bool:
    """Whether the expression has getDURATION() or the like; inside EXISTS these read the rows of its pattern."""
    return any(isinstance(part, Occurrence) for part in walk(expression))
