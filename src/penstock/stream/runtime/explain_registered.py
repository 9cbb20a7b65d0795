"""Explains a registered query: planned anew over the log as it is now, beside the plan by which it is evaluated.

Profiles are imported when a query is explained: they import PySpark.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from penstock.model.span import Span
from penstock.stream.base.time_values import to_datetime
from penstock.stream.registry import due_instants

if TYPE_CHECKING:
    from penstock.spark.query.continuous_query import ContinuousQuery
    from penstock.spark.query.profile import Profile
    from penstock.stream.evaluation.plan_cache import PlanCache
    from penstock.stream.ingest.stream_view import StreamView
    from penstock.stream.registry.busy_spans import Segments
    from penstock.stream.registry.due_instants import CompiledQuery
    from penstock.stream.registry.registered_query import RegisteredQuery

__all__ = ["explain_registered"]


def explain_registered(task: RegisteredQuery, plans: PlanCache, inputs: StreamView, *, run: bool) -> Profile | None:
    """The explanation of a query; None if there is no element yet, or for recursive rules, which have no plan."""
    from penstock.spark.query.profile import profile_once

    if not task.inputs:
        return profile_once(task.query, plans.background, plans.rules, run=run) if run else None
    segments = {name: inputs.segments(name) for name in task.inputs}
    lasts = [part.last for parts in segments.values() for part in parts]
    if task.rules or not lasts:
        return None
    plan = plans.compiled(task.query, task.entry)
    try:
        span = due_instants.span(None, plan.schedule.last_instant(max(lasts)), segments)
        profile = None if span is None else _examined(plan, plans, inputs, segments, span, run)
    finally:
        plans.release(plan)
    if profile is not None:
        group = task.group
        profile.open, profile.together, profile.orders = group.reached.open, len(group.tasks), _orders(group.plan)
    return profile


def _examined(
    plan: CompiledQuery, plans: PlanCache, inputs: StreamView, segments: Segments, span: Span, run: bool
) -> Profile:
    from penstock.spark.query.profile import profile_continuous

    for name, parts in segments.items():
        inputs.verify(name, due_instants.needed_segments(plan, name, parts, span))
    streams = due_instants.visible_segments(plan, span, segments, inputs.dropped)
    return profile_continuous(cast("ContinuousQuery", plan), plans.background, streams, span, run=run)


def _orders(plan: CompiledQuery | None) -> list[str]:
    """The changes of the join order so far, each with its time and reason."""
    changes = getattr(plan, "history", ())
    costs = (f"{each.cost_before:.3g} → {each.cost_after:.3g}" for each in changes)
    return [f"{to_datetime(c.time):%F %T} cost {cost}: {c.why}" for c, cost in zip(changes, costs, strict=True)]
