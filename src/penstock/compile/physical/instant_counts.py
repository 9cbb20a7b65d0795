"""Chooses between counts by running sums and counts by instant, where a count is the whole answer at each instant.

A running sum sorts the panes of each group; it is made for windows that overlap often. Where an element is seen at few
instants, copying the counts of a pane to these, and adding them up, is less work.
"""

from __future__ import annotations

from penstock.algebra import ops
from penstock.compile.context import Context, can_match
from penstock.compile.windows.evaluation_instants import PeriodicInstants

__all__ = ["counts_by_instant"]

_ROW_BY_ROW = (ops.Project, ops.Extend, ops.Filter, ops.Distinct, ops.Reduced)  # each of their rows is made of one


def counts_by_instant(query: ops.Query, context: Context) -> bool:
    """Whether the answer is a count of the elements of a window, each of which is seen at few instants.

    Rows of the background hold at every instant: with these, a group without a change has one running sum, but a row
    for each instant.
    """
    group = _below(query.pattern, _ROW_BY_ROW)
    counted = _below(group.pattern, (ops.Project, ops.Filter)) if isinstance(group, ops.Group) else None
    return isinstance(counted, ops.Bgp) and len(counted.patterns) == 1 and _is_brief(counted.patterns[0], context)


def _below(op: ops.Op, kinds: tuple[type[ops.Op], ...]) -> ops.Op:
    """Return the first operator below those of these kinds, which have one pattern."""
    while isinstance(op, kinds):
        op = op.pattern  # type: ignore[attr-defined]
    return op


def _is_brief(pattern: ops.TriplePattern, context: Context) -> bool:
    """Whether all matches of a pattern hold at few instants."""
    streaming, windows = context.plan.streaming, context.matching_windows(pattern)
    if streaming is None or not windows or can_match(pattern.predicate, context.background()):
        return False
    timeline, lengths = streaming.timeline, [window.length for window in windows]
    if not isinstance(timeline, PeriodicInstants):
        return False
    most = context.plan.tuning.copied_instants * timeline.step
    return all(length is not None and length <= most for length in lengths)
