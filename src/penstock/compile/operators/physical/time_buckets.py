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

from dataclasses import dataclass, replace
from math import sqrt

from penstock.compile import sql
from penstock.compile.cardinality import Cardinality
from penstock.compile.relation import FROM, TO, Relation
from penstock.compile.sql import Expr, Select
from penstock.model.span import Span
from penstock.optimise.cost import rows_joined
from penstock.tuning import DEFAULT, Tuning

BUCKET = ".bucket"


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
    `pairs` the number of pairs per unit of time, and `copy` the cost of a copy.
    """
    return max(1.0, sqrt(both + copy * lasting / pairs))
