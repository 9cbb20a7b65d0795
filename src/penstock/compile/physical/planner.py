"""The physical planner: the pass after the rules that gives each operator its algorithm."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from penstock.algebra.ops import Op, Query, TriplePattern
from penstock.compile.context import Context
from penstock.compile.expressions import timestamps
from penstock.compile.physical import plan_operators, plan_patterns, static_view
from penstock.compile.physical.plan_operator import Emit, Planner, Surroundings
from penstock.compile.physical.sequence_bounds import longest_sequences

__all__ = ["PhysicalPlan", "physical_plan"]

REGISTERED = (plan_operators, plan_patterns, static_view)  # modules that register operators


@dataclass(frozen=True, slots=True)
class PhysicalPlan:
    """A query whose operators have their algorithms, and the sizes that planning has found.

    `view_rows` is the number of rows that are read of static views, `background_rows` the estimated triples that are
    read from the background besides, and `selectivity` the share of rows that look-ups and reductions leave.
    """

    query: Query
    view_rows: int
    background_rows: float
    selectivity: Mapping[Op | TriplePattern, float]


def physical_plan(query: Query, context: Context, choices: frozenset[str], emit: Emit) -> PhysicalPlan:
    """Return the physical plan of an optimised query.

    `choices` has the names of the choices to make (`optimise/choices.py`). `emit` compiles the patterns of static views
    that have to be materialised.
    """
    streaming = context.plan.streaming
    occurring = streaming is not None and streaming.occurrence_times
    planner = Planner(
        emit,
        choices,
        longest_sequences(query.pattern) if occurring else {},
        None if streaming is None else streaming.outer_projection,
        timestamps.calls(query.pattern),
    )
    planned = planner.plan(query.pattern, Surroundings(context))
    return PhysicalPlan(
        replace(query, pattern=planned.op),
        sum(planner.view_rows.values()),
        planner.background_rows,
        planner.selectivity,
    )
