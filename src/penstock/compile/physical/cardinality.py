"""Cardinality estimates of relations with validity intervals: of joins, and of unions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

from penstock.model.span import Span
from penstock.optimise.cost import Estimate, joined

__all__ = ["Cardinality", "join_cardinality", "partial_join_cardinality", "union_cardinality"]


@dataclass(frozen=True, slots=True)
class Cardinality:
    """A cardinality estimate, computed at the first call, and the length of a validity interval (None: without end)."""

    estimate: Callable[[], Estimate]
    lasts: int | None


def join_cardinality(left: Cardinality | None, right: Cardinality | None, span: Span | None) -> Cardinality | None:
    """Return the cardinality of a join: the share of the pairs whose intervals overlap."""
    if left is None or right is None:
        return None
    lasting = [side.lasts for side in (left, right) if side.lasts is not None]
    time = None if span is None else span.through - span.after + max(lasting, default=0)
    share = min(1.0, sum(lasting) / time) if time and len(lasting) == 2 else 1.0
    return partial_join_cardinality(left, right, share, min(lasting, default=None))


def partial_join_cardinality(left: Cardinality, right: Cardinality, share: float, lasts: int | None) -> Cardinality:
    """Return the cardinality of a join that has the given share of the pairs."""

    def estimate() -> Estimate:
        pairs = joined(left.estimate(), right.estimate())
        return Estimate(pairs.rows * share, pairs.distinct)

    return Cardinality(cache(estimate), lasts)


def union_cardinality(left: Cardinality | None, right: Cardinality | None) -> Cardinality | None:
    """Return the cardinality of a union."""
    if left is None or right is None:
        return None
    lasts = None if left.lasts is None or right.lasts is None else max(left.lasts, right.lasts)

    def estimate() -> Estimate:
        one, other = left.estimate(), right.estimate()
        vars = one.distinct.keys() & other.distinct.keys()
        return Estimate(one.rows + other.rows, {v: max(one.distinct[v], other.distinct[v]) for v in vars})

    return Cardinality(cache(estimate), lasts)
