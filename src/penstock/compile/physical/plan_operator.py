"""The planner's recursion: each logical operator becomes a physical one by the function that is registered for it.

A module registers a function with `@plans(ops.X)`; `planner` imports all of them. Facts about rows go up, and the
surroundings of a pattern go down.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import singledispatch
from typing import Any, NamedTuple

from penstock.algebra import ops
from penstock.algebra.expressions import Exists, Var
from penstock.algebra.ops import Op
from penstock.algebra.scope import exists_in, expressions_of, visible
from penstock.compile.context import Context
from penstock.compile.key_domain import Universe
from penstock.compile.physical.exists_algorithm import is_semi_join
from penstock.compile.physical.facts import Facts
from penstock.compile.physical.semijoin_reduction import Candidates, any_term
from penstock.compile.relation import KEY, Relation
from penstock.compile.sql import Select
from penstock.optimise.walk import map_exists

__all__ = ["Emit", "Planned", "Planner", "Surroundings", "plans"]

Emit = Callable[[Op, Context], Relation]
"""The compiler: returns the relation of a physical operator."""

# These operators use candidate terms or pass them on; above any other operator looked-up terms are not valid.
_NARROWED = (ops.Bgp, ops.InWindow, ops.Join, ops.StaticView, ops.WindowOverride, ops.Project)
_SUBSTITUTED = Universe((f"{KEY}outer",), Select(()))  # the values of an outer solution, as a domain of keys


class Planned(NamedTuple):
    """A physical operator, and the facts about its rows."""

    op: Op
    facts: Facts


@dataclass(frozen=True, slots=True)
class Surroundings:
    """The surroundings of a pattern: its place in the query, candidate terms of its variables, outer variables.

    With `joined_by_filter`, a filter above makes variables equal: Spark uses that as a join key, so estimates from the
    pattern alone are too high.
    """

    context: Context
    known: Candidates = any_term
    outer: frozenset[Var] = frozenset()  # variables of the solution around an EXISTS
    joined_by_filter: bool = False

    def at(self, context: Context) -> Surroundings:
        """Return the surroundings in another window or graph."""
        return replace(self, context=context)

    def knowing(self, known: Candidates) -> Surroundings:
        """Return the surroundings with other candidate terms."""
        return replace(self, known=known)

    def of_exists(self, around: frozenset[Var], substituted: bool) -> Surroundings:
        """Return the surroundings of the pattern of an EXISTS, with the variables of the solution around it."""
        context = self.context.with_universe(_SUBSTITUTED) if substituted else self.context
        return Surroundings(context, outer=self.outer | around)


@dataclass(slots=True)
class Planner:
    """One pass over a plan, with the names of the choices that it may make, and its findings.

    `sequences` has the longest duration of each bounded sequence, in microseconds.
    """

    emit: Emit
    choices: frozenset[str]
    sequences: Mapping[Op, int] = field(default_factory=dict)
    outer_projection: Op | None = None  # above this projection no operator reads occurrence times
    timestamp_calls: int = 0
    view_rows: dict[Op, int] = field(default_factory=dict)  # rows that are read of each static view
    selectivity: dict[Op | ops.TriplePattern, float] = field(default_factory=dict)  # shares that reductions leave
    background_rows: float = 0.0  # estimated triples that are read from the background, without static views

    def plan(self, op: Op, at: Surroundings) -> Planned:
        """Return the physical operator of a pattern."""
        planned = _plan(op, at, self)
        return planned if isinstance(op, _NARROWED) else Planned(planned.op, planned.facts.without_terms())

    def operand(self, op: Op, at: Surroundings) -> Planned:
        """Return the physical operator of an operand for which no candidate terms are known."""
        return self.plan(op, at.knowing(any_term))

    def exists(self, op: Op, at: Surroundings) -> tuple[Op, dict[Exists, Planned]]:
        """Return the operator with the patterns of its own EXISTS planned, and these plans by the logical EXISTS."""
        around = at.outer.union(*map(visible, op.children))
        plans = {
            exists: self.plan(exists.pattern, at.of_exists(around, not is_semi_join(exists.pattern, around)))
            for expr in expressions_of(op)
            for exists in exists_in(expr)
        }
        by_pattern = {exists.pattern: planned.op for exists, planned in plans.items()}
        return map_exists(op, by_pattern.__getitem__), plans


Plans = Callable[[Any, Surroundings, Planner], Planned]


@singledispatch
def _plan(op: Op, at: Surroundings, planner: Planner) -> Planned:
    raise AssertionError(f"no operator of a pattern: {op}")


def plans(kind: type[Op]) -> Callable[[Plans], Plans]:
    """Register the decorated function for operators of this kind."""
    return lambda function: _plan.register(kind, function)
