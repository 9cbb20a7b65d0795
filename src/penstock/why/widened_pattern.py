"""Widens a pattern, so that each solution shows all the triples that made it.

A sub-SELECT hides variables, and GROUP BY and AGGREGATE hide the rows of a group. In the widened pattern such variables
have names of their own, and each solution is joined with the rows of its group:

    Group(k, n = COUNT(*), P)  →  Join(Group(k, n = COUNT(*), P), P with other names for all but k)
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import count

from penstock.algebra import ops
from penstock.algebra.expressions import Var
from penstock.algebra.ops import Op, TriplePattern
from penstock.algebra.pattern_scope import DEFAULT_SCOPE, PatternScope
from penstock.algebra.scope import mentioned, visible
from penstock.algebra.substitute import rename

__all__ = ["PlacedPattern", "Widened", "renamed", "widened"]

_PREFIX = "penstock_why_"
_FALLS_AWAY = (ops.Distinct, ops.Reduced, ops.OrderBy)
_BLOCKS = (ops.Graph, ops.InWindow, ops.WindowOverride)


@dataclass(frozen=True, slots=True)
class PlacedPattern:
    """A triple pattern, and the place where it stands."""

    triple: TriplePattern
    scope: PatternScope


@dataclass(frozen=True, slots=True)
class Widened:
    """A widened pattern, and the triple patterns whose matches make its solutions."""

    op: Op
    patterns: tuple[PlacedPattern, ...] = ()


@dataclass(slots=True)
class _Names:
    numbers: Iterator[int] = field(default_factory=count)

    def fresh(self, variables: Iterable[Var]) -> dict[Var, Var]:
        return {var: Var(f"{_PREFIX}{next(self.numbers)}") for var in sorted(variables)}


def widened(op: Op) -> Widened:
    """The widened pattern. What MINUS and EXISTS look for makes no solution, and of paths nothing is shown."""
    names = _Names()
    while isinstance(op, ops.Project | ops.Slice | ops.Distinct | ops.Reduced | ops.OrderBy):
        op = op.pattern
    internal = [var for var in mentioned(op) if var.internal]
    return _widen(renamed(op, names.fresh(internal)), DEFAULT_SCOPE, names)


def _widen(op: Op, scope: PatternScope, names: _Names) -> Widened:
    match op:
        case ops.Bgp(patterns):
            return Widened(op, tuple(PlacedPattern(pattern, scope) for pattern in patterns))
        case ops.Minus(left, _):
            inner = _widen(left, scope, names)
            return Widened(replace(op, left=inner.op), inner.patterns)
        case ops.Project(vars, pattern):
            hidden = mentioned(pattern) - set(vars)
            return _widen(renamed(pattern, names.fresh(hidden)), scope, names)
        case ops.Slice(_, _, pattern):
            return _joined(op, _widen(pattern, scope, names))
        case ops.Group(keys, _, pattern):
            return _joined(op, _members(pattern, keys, scope, names))
        case ops.Annotate(_, _, keys, pattern):
            own = _widen(pattern, scope, names)
            members = _members(pattern, keys, scope, names)
            both = _joined(replace(op, pattern=own.op), members)
            return Widened(both.op, own.patterns + both.patterns)
    if isinstance(op, _FALLS_AWAY):
        return _widen(op.pattern, scope, names)
    inside = scope.inside(op) if isinstance(op, _BLOCKS) else scope
    parts = [_widen(child, inside, names) for child in op.children]
    placed = tuple(pattern for part in parts for pattern in part.patterns)
    return Widened(op.with_children(tuple(part.op for part in parts)), placed)


def _members(pattern: Op, keys: tuple[Var, ...], scope: PatternScope, names: _Names) -> Widened:
    """The rows of a group, with other names for all but the keys."""
    others = visible(pattern) - set(keys)
    return _widen(renamed(pattern, names.fresh(others)), scope, names)


def _joined(op: Op, rows: Widened) -> Widened:
    return Widened(ops.Join(op, rows.op), rows.patterns)


def renamed(op: Op, names: Mapping[Var, Var]) -> Op:
    """The pattern with variables renamed; those that aggregates bind too, which `rename` leaves as they are."""
    match op:
        case ops.Group(keys, aggregates, pattern):
            inner = {var: name for var, name in names.items() if var in keys}
            made = tuple((names.get(var, var), rename(aggregate, inner)) for var, aggregate in aggregates)
            return replace(op, keys=rename(keys, inner), aggregates=made, pattern=renamed(pattern, inner))
        case ops.Project(vars, pattern):
            inner = {var: name for var, name in names.items() if var in vars}
            return replace(op, vars=rename(vars, inner), pattern=renamed(pattern, inner))
    if not op.children:
        return rename(op, names)
    own = rename(op.with_children((ops.UNIT,) * len(op.children)), names)
    return own.with_children(tuple(renamed(child, names) for child in op.children))
