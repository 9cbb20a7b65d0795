"""Joins in time buckets: a bucket of the time axis is an additional key of a join of rows with validity intervals.

    bucket      0         1         2         3
                |---------|---------|---------|
    left            [-------------)                    copies in 0 and 1
    right                   [----------)               copies in 1 and 2
    pair                  1 only: the bucket in which the later interval begins

Where many rows share a key, most pairs of an equi-join do not hold at the same time. So each row is copied into every
bucket that its interval touches, and joined within the bucket. Two rows may meet in several buckets: the pair counts in
the one in which the later interval begins.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from math import sqrt

from penstock.compile import sql
from penstock.compile.relation import FROM, TO, Relation
from penstock.compile.sql import Expr, Select
from penstock.model.span import Span
from penstock.optimise.cost import Estimate, joined, rows_joined
from penstock.tuning import DEFAULT, Tuning

BUCKET = ".bucket"


@dataclass(frozen=True, slots=True)
class Cardinality:
    """A cardinality estimate, computed at the first call, and the length of a validity interval (None: without end)."""

    estimate: Callable[[], Estimate]
    lasts: int | None


@dataclass(frozen=True, slots=True)
class Buckets:
    """Buckets of equal width, numbered from the start of a span; times outside belong to the first or the last one."""

    width: int
    span: Span

    def spread(self, relation: Relation) -> Relation:
        """Return a copy of each row for every bucket that its interval touches."""
        last = self._number(sql.name(TO) - sql.long(1))
        numbers = sql.call("sequence", self._number(sql.name(FROM)), last)
        copies = sql.alias(sql.call("explode", numbers), BUCKET)
        return replace(relation, sql=Select([sql.STAR, copies], relation.sql))

    def meeting(self) -> Expr:
        """Return the condition that l and r meet in the bucket that counts."""
        own, other = sql.column("l", BUCKET), sql.column("r", BUCKET)
        later = self._number(sql.call("greatest", sql.column("l", FROM), sql.column("r", FROM)))
        return own.eq(other) & own.eq(later)

    def _number(self, time: Expr) -> Expr:
        first = sql.long(self.span.after)
        clamped = sql.call("least", sql.call("greatest", time, first), sql.long(self.span.through))
        return (clamped - first).div(sql.long(self.width))


def choose(left: Relation, right: Relation, span: Span | None, tuning: Tuning = DEFAULT) -> Buckets | None:
    """Return the buckets for a join of two relations in the span; None where they do not pay."""
    if span is None or not (left.timed and right.timed and left.cardinality and right.cardinality):
        return None
    width = best_width(left.cardinality, right.cardinality, span.through - span.after, tuning)
    return None if width is None else Buckets(width, span)


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
    `pairs` the number of pairs per unit of time, and
    `copy` what a copy costs.
    """
    return max(1.0, sqrt(both + copy * lasting / pairs))


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
