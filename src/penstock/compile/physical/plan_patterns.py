"""The physical plan of patterns that read triples: basic graph patterns, paths, graphs, windows, inline rows.

A basic graph pattern on windows becomes joins of single scans, so that each of its joins has an algorithm of its own.
Its triple patterns that read the background alone stay together.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import reduce

from penstock.algebra import ops
from penstock.algebra.expressions import Var
from penstock.algebra.ops import Op
from penstock.algebra.scope import visible
from penstock.compile.context import Context, can_match
from penstock.compile.physical.facts import Facts, TimeDomain, joined, of_background, of_window, union
from penstock.compile.physical.join_algorithm import choose_join
from penstock.compile.physical.nodes import KeyedGraph, ReducedScan, TermReduction
from penstock.compile.physical.plan_operator import Planned, Planner, Surroundings, plans
from penstock.compile.physical.semijoin_reduction import selective_terms
from penstock.compile.relation import KEY
from penstock.compile.windows.stream_to_relation import WindowRelation
from penstock.optimise.cost import of_pattern
from penstock.optimise.statics import connected


@plans(ops.Bgp)
def _bgp(op: ops.Bgp, at: Surroundings, planner: Planner) -> Planned:
    static = [p for p in op.patterns if not at.context.matching_windows(p)]
    if len(static) == len(op.patterns):
        return _background(op.patterns, at.context, planner)
    groups = {
        group[0]: _background(group, at.context, planner)
        for group in connected((frozenset(ops.variables_of(*p.terms)), [p]) for p in static)
    }
    parts = [groups[p] if p in static else _scan(p, at, planner) for p in op.patterns if p in groups or p not in static]
    return _joined(parts, [group.op for group in groups.values()], at, planner)


def _background(patterns: Sequence[ops.TriplePattern], context: Context, planner: Planner) -> Planned:
    """Return one scan and join of the background. This evaluation alone reads its triples, so they are counted."""
    streaming = context.plan.streaming
    if streaming is not None and not context.static and not context.in_window:
        planner.background_rows += sum(of_pattern(pattern, streaming.statistics).rows for pattern in patterns)
    return Planned(ops.Bgp(tuple(patterns)), of_background(patterns, context))


def _scan(pattern: ops.TriplePattern, at: Surroundings, planner: Planner) -> Planned:
    """Return the scan of one pattern in the windows, and in the background if its predicate may occur there."""
    context, windows = at.context, at.context.matching_windows(pattern)
    sized = context.has_many_elements and not at.joined_by_filter
    parts = [of_window(pattern, window, sized, context) for window in windows]
    if can_match(pattern.predicate, context.background()):
        parts.append(_background([pattern], context, planner).facts)
    reductions = tuple(_reductions(pattern, window, at, planner) for window in windows)
    scan = ReducedScan((pattern,), reductions) if any(reductions) else ops.Bgp((pattern,))
    return Planned(scan, reduce(union, parts))


def _reductions(
    pattern: ops.TriplePattern, window: WindowRelation, at: Surroundings, planner: Planner
) -> tuple[TermReduction, ...]:
    """Return the semi-join reductions of a scan: they drop elements that have no join partner."""
    plan = at.context.plan
    allowed = plan.members is None and "semijoin_reduction" in planner.choices
    reductions = selective_terms(pattern, window, at.known, plan.tuning) if allowed else ()
    share = min((reduction.share for reduction in reductions), default=1.0)
    planner.selectivity[pattern] = max(share, planner.selectivity.get(pattern, 0.0))
    return reductions


def _joined(parts: list[Planned], static: list[Op], at: Surroundings, planner: Planner) -> Planned:
    """Join the parts in their order, but a part that shares a variable before one that does not.

    Spark knows the size of the background, so it chooses the algorithm of a join with it.
    """
    result, *rest = parts
    while rest:
        solution = visible(result.op)
        following = next((part for part in rest if visible(part.op) & solution), rest[0])
        rest.remove(following)
        join, facts = ops.Join(result.op, following.op), joined(result.facts, following.facts, at.context.known_span)
        if result.op not in static and following.op not in static:
            join = planned_join(join, result.facts, following.facts, at, planner)
        result = Planned(join, facts)
    return result


def planned_join(join: ops.Join, left: Facts, right: Facts, at: Surroundings, planner: Planner) -> ops.Join:
    """Return the join with the algorithm that its sides allow."""
    context = at.context
    return choose_join(
        join,
        left,
        right,
        many=context.has_many_elements,
        span=context.known_span,
        choices=planner.choices,
        tuning=context.plan.tuning,
    )


@plans(ops.Path)
def _path(op: ops.Path, at: Surroundings, planner: Planner) -> Planned:
    """Keep the path. In windows it is evaluated instant by instant."""
    windows = any(window.when for window in at.context.contents())
    names = frozenset(var.name for var in visible(op))
    return Planned(op, Facts(names, TimeDomain.INSTANTS if windows else TimeDomain.ALWAYS))


@plans(ops.Table)
def _table(op: ops.Table, at: Surroundings, planner: Planner) -> Planned:
    rows = len(op.rows)
    return Planned(op, Facts(frozenset(var.name for var in op.vars), upper_bound=rows, view_rows=rows))


@plans(ops.Graph)
def _graph(op: ops.Graph, at: Surroundings, planner: Planner) -> Planned:
    if not isinstance(op.name, Var):
        inside = planner.operand(op.pattern, at.at(at.context.inside(op)))
        return Planned(replace(op, pattern=inside.op), inside.facts)
    key = at.context.plan.fresh(KEY)
    inside = planner.operand(op.pattern, at.at(at.context.in_each_graph(key)))
    facts = replace(inside.facts, vars=inside.facts.vars - {key}).binding(op.name)
    return Planned(KeyedGraph(op.name, inside.op, key), facts)


@plans(ops.InWindow)
def _in_window(op: ops.InWindow, at: Surroundings, planner: Planner) -> Planned:
    """Plan the pattern in its window; with a variable, as the union over all named windows."""
    if isinstance(op.name, Var):
        return planner.operand(_each_window(op, op.name, at.context), at)
    inside = planner.plan(op.pattern, at.at(at.context.inside(op)))
    return Planned(replace(op, pattern=inside.op), inside.facts)


def _each_window(op: ops.InWindow, var: Var, context: Context) -> Op:
    windows: list[Op] = [
        ops.Join(replace(op, name=name), ops.Table((var,), ((name,),))) for name in context.window_names()
    ]
    return reduce(ops.Union, windows) if windows else ops.Table(tuple(sorted(visible(op))), ())


@plans(ops.WindowOverride)
def _override(op: ops.WindowOverride, at: Surroundings, planner: Planner) -> Planned:
    inside = planner.plan(op.pattern, at.at(at.context.inside(op)))
    return Planned(replace(op, pattern=inside.op), inside.facts)
