"""The choice of a join's algorithm: which side is broadcast, or whether both are shuffled into a hash join.

The choice is a hint to Spark. It is made only where the compiler has better cardinalities than Spark can see.
"""

from __future__ import annotations

from penstock.compile.relation import Relation, shared_variables
from penstock.compile.sql import Hint
from penstock.tuning import DEFAULT, Tuning

__all__ = ["SHUFFLED_HASH_JOIN", "choose_join_algorithm"]

SHUFFLED_HASH_JOIN: Hint = ("SHUFFLE_HASH", ("r",))


def choose_join_algorithm(left: Relation, right: Relation, many: bool, tuning: Tuning = DEFAULT) -> Hint | None:
    """Return the hint for a join of the two sides, l and r; None leaves the choice to Spark.

    A side with a small upper bound is always broadcast: the other side is then not shuffled. A few elements beside a
    large static view are broadcast too, so that the view is not shuffled. With `many` elements Spark would estimate
    from the size of compressed files and broadcast a side that is many times as large. A shuffled hash join needs no
    sorting, and `Jobs.tune_for` has chosen the number of partitions so that each fits into memory.
    """
    if not shared_variables(left, right):
        return None
    bounded_side = _smaller_bounded_side(left, right, tuning.broadcast_elements)
    if bounded_side is not None:
        return _broadcast(bounded_side)
    large_views = [(side.view_rows or 0) > tuning.broadcast_view_rows for side in (left, right)]
    if all(large_views) or (any((left.view_rows, right.view_rows)) and not any(large_views)):
        return None
    if not many:
        return _broadcast("r" if large_views[0] else "l") if any(large_views) else None
    build_left = any(large_views) and _estimated_rows(left) < _estimated_rows(right)
    return ("SHUFFLE_HASH", ("l",)) if build_left else SHUFFLED_HASH_JOIN


def _broadcast(side: str) -> Hint:
    return "BROADCAST", (side,)


def _smaller_bounded_side(left: Relation, right: Relation, most: int) -> str | None:
    """Return the side whose upper bound allows a broadcast, the smaller one if both do; None if neither does."""
    bounds = [(side.upper_bound, name) for side, name in ((left, "l"), (right, "r")) if side.upper_bound is not None]
    rows, name = min(bounds, default=(most + 1, ""))
    return name if rows <= most else None


def _estimated_rows(relation: Relation) -> float:
    return float("inf") if relation.cardinality is None else relation.cardinality.estimate().rows
