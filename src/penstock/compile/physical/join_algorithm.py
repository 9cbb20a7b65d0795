"""The choice of a join's algorithm: which side is broadcast, a shuffled hash join, or buckets of time.

A choice is made only where the planner has better cardinalities than Spark can see. No side is broadcast without a
bound on its rows.
"""

from __future__ import annotations

from math import sqrt

from penstock.algebra import ops
from penstock.compile.physical.cardinality import Cardinality
from penstock.compile.physical.facts import Facts
from penstock.compile.physical.nodes import BroadcastJoin, HashJoin, Side, TimeBucketJoin
from penstock.model.span import Span
from penstock.optimise.cost import rows_joined
from penstock.tuning import DEFAULT, Tuning

__all__ = ["best_width", "cheapest_width", "choose_join"]


def choose_join(
    join: ops.Join,
    left: Facts,
    right: Facts,
    *,
    many: bool,
    span: Span | None,
    choices: frozenset[str],
    tuning: Tuning = DEFAULT,
) -> ops.Join:
    """Return the physical join; the logical one leaves the choice to Spark. `many`: the windows hold many elements."""
    width = _bucket_width(left, right, span, tuning) if "time_bucket_join" in choices else None
    if width is not None:
        return TimeBucketJoin(join.left, join.right, width)
    if not left.join_columns & right.join_columns:
        return join
    side = _broadcast_side(left, right, many, tuning) if "broadcast_join" in choices else None
    if side is not None:
        return BroadcastJoin(join.left, join.right, side)
    if many and "hash_join" in choices and not _are_views(left, right, tuning):
        return HashJoin(join.left, join.right, _build_side(left, right, tuning))
    return join


def _broadcast_side(left: Facts, right: Facts, many: bool, tuning: Tuning) -> Side | None:
    """Return the side to broadcast: one with a small upper bound, the smaller one if both have.

    A few elements beside a large static view are broadcast too, so that the view is not shuffled.
    """
    sides: tuple[tuple[Facts, Side], ...] = ((left, "left"), (right, "right"))
    bounds = [(facts.upper_bound, side) for facts, side in sides if facts.upper_bound is not None]
    rows, bounded = min(bounds, default=(None, None))
    if rows is not None and rows <= tuning.broadcast_elements:
        return bounded
    large = [_is_large_view(facts, tuning) for facts, _ in sides]
    if many or all(large) or not any(large):
        return None
    return "right" if large[0] else "left"


def _is_large_view(facts: Facts, tuning: Tuning) -> bool:
    return facts.view_rows is not None and facts.view_rows > tuning.broadcast_view_rows


def _are_views(left: Facts, right: Facts, tuning: Tuning) -> bool:
    """Whether Spark knows enough: both sides are large views, or a side is a view that Spark broadcasts by itself."""
    large = [_is_large_view(facts, tuning) for facts in (left, right)]
    return all(large) or (bool(left.view_rows or right.view_rows) and not any(large))


def _build_side(left: Facts, right: Facts, tuning: Tuning) -> Side:
    """Return the side that becomes the hash table of a task: beside a large view, the side with fewer rows.

    With many elements Spark would estimate from the size of compressed files, and broadcast a side that is many times
    as large. A shuffled hash join needs no sorting, and the number of partitions is chosen so that each fits into
    memory.
    """
    beside_view = _is_large_view(left, tuning) or _is_large_view(right, tuning)
    return "left" if beside_view and _estimated_rows(left) < _estimated_rows(right) else "right"


def _estimated_rows(facts: Facts) -> float:
    return float("inf") if facts.cardinality is None else facts.cardinality.estimate().rows


# Buckets of time


def _bucket_width(left: Facts, right: Facts, span: Span | None, tuning: Tuning) -> int | None:
    """Return the width of the buckets for a join in the span; None where they do not pay."""
    if span is None or not (left.has_intervals and right.has_intervals and left.cardinality and right.cardinality):
        return None
    return best_width(left.cardinality, right.cardinality, span.through - span.after, tuning)


def best_width(left: Cardinality, right: Cardinality, time: int, tuning: Tuning = DEFAULT) -> int | None:
    """Return the cheapest width; None if a join without buckets costs about the same.

    A row has 1 + lasts/width copies, and a pair of copies is in the same bucket width/time of the time. Intervals may
    begin before the span, at most their own length.
    """
    if left.lasts is None or right.lasts is None:
        return None
    one, other = left.estimate(), right.estimate()
    time += max(left.lasts, right.lasts)
    rows, pairs = one.rows + other.rows, rows_joined(one, other)
    lasting = one.rows * left.lasts + other.rows * right.lasts
    copy, job = tuning.bucket_copy_cost, tuning.bucket_job_cost
    width = cheapest_width(left.lasts * right.lasts, lasting, pairs / time, copy)
    met = pairs * (width + left.lasts) * (width + right.lasts) / width / time
    plain, cut = job + copy * rows + pairs, job + copy * (rows + lasting / width) + met
    return round(width) if plain > tuning.bucket_gain * cut else None


def cheapest_width(both: int, lasting: float, pairs: float, copy: float = DEFAULT.bucket_copy_cost) -> float:
    """Return the width at which copies and pairs together cost least: the derivative of the cost is 0 there.

    `both` is the product of the interval lengths of the two sides, `lasting` the sum of the lengths of all rows,
    `pairs` the number of pairs per unit of time, and `copy` the cost of a copy.
    """
    return max(1.0, sqrt(both + copy * lasting / pairs))
