"""The time in the key of a join: rows that hold during intervals are joined in buckets of time.

Where many rows share a key, most of the pairs that a join by the key alone makes do not hold at the same time. So each
row goes into every bucket that its interval touches, and meets only what is there. Two rows may meet in several
buckets: they count in the one in which the later of them begins.
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
class Size:
    """About how many rows, asked for only where it decides something, and how long one holds (None: without end)."""

    estimate: Callable[[], Estimate]
    lasts: int | None


@dataclass(frozen=True, slots=True)
class Buckets:
    """Numbered from the beginning of a span. What is before or after it belongs to the first or the last one."""

    width: int
    span: Span

    def spread(self, relation: Relation) -> Relation:
        """A copy of each row for every bucket that it touches."""
        last = self._number(sql.name(TO) - sql.long(1))
        numbers = sql.call("sequence", self._number(sql.name(FROM)), last)
        copies = sql.alias(sql.call("explode", numbers), BUCKET)
        return replace(relation, sql=Select([sql.STAR, copies], relation.sql))

    def meeting(self) -> Expr:
        """When rows of l and r meet in the bucket that counts."""
        own, other = sql.column("l", BUCKET), sql.column("r", BUCKET)
        later = self._number(sql.call("greatest", sql.column("l", FROM), sql.column("r", FROM)))
        return own.eq(other) & own.eq(later)

    def _number(self, time: Expr) -> Expr:
        first = sql.long(self.span.after)
        clamped = sql.call("least", sql.call("greatest", time, first), sql.long(self.span.through))
        return (clamped - first).div(sql.long(self.width))


def choose(left: Relation, right: Relation, span: Span | None, tuning: Tuning = DEFAULT) -> Buckets | None:
    """The buckets for a join of the two at the instants of the span, where they pay."""
    if span is None or not (left.timed and right.timed and left.size and right.size):
        return None
    width = best_width(left.size, right.size, span.through - span.after, tuning)
    return None if width is None else Buckets(width, span)


def best_width(left: Size, right: Size, time: int, tuning: Tuning = DEFAULT) -> int | None:
    """The width that costs least, None if a join without buckets is hardly dearer.

    A row has 1 + lasts/width copies, and a pair of copies is in the same bucket width/time of the time. Rows may begin
    before the span, as long ago as they last.
    """
    if left.lasts is None or right.lasts is None:
        return None
    one, other = left.estimate(), right.estimate()
    time += max(left.lasts, right.lasts)
    rows, pairs = one.rows + other.rows, rows_joined(one, other)
    lasting = one.rows * left.lasts + other.rows * right.lasts
    copy, job = tuning.bucket_copy_cost, tuning.bucket_job_cost
    width = cheapest(left.lasts * right.lasts, lasting, pairs / time, copy)
    met = pairs * (width + left.lasts) * (width + right.lasts) / width / time
    plain, cut = job + copy * rows + pairs, job + copy * (rows + lasting / width) + met
    return round(width) if plain > tuning.bucket_gain * cut else None


def cheapest(both: int, lasting: float, pairs: float, copy: float = DEFAULT.bucket_copy_cost) -> float:
    """The width where copies and pairs together cost least: there the derivative by it is 0. `both` is the product of
    how long a row of either side lasts, `lasting` how long all rows do, `pairs` how many meet in a unit of time, and
    `copy` what a copy costs."""
    return max(1.0, sqrt(both + copy * lasting / pairs))


def both(left: Size | None, right: Size | None, span: Span | None) -> Size | None:
    """The size of a join: of the pairs, those that hold at the same time."""
    if left is None or right is None:
        return None
    lasting = [size.lasts for size in (left, right) if size.lasts is not None]
    time = None if span is None else span.through - span.after + max(lasting, default=0)
    share = min(1.0, sum(lasting) / time) if time and len(lasting) == 2 else 1.0
    return part(left, right, share, min(lasting, default=None))


def part(left: Size, right: Size, share: float, lasts: int | None) -> Size:
    """The size of a join that has that share of the pairs."""

    def estimate() -> Estimate:
        found = joined(left.estimate(), right.estimate())
        return Estimate(found.rows * share, found.distinct)

    return Size(cache(estimate), lasts)


def either(left: Size | None, right: Size | None) -> Size | None:
    """The size of a union."""
    if left is None or right is None:
        return None
    lasts = None if left.lasts is None or right.lasts is None else max(left.lasts, right.lasts)

    def estimate() -> Estimate:
        one, other = left.estimate(), right.estimate()
        vars = one.distinct.keys() & other.distinct.keys()
        return Estimate(one.rows + other.rows, {v: max(one.distinct[v], other.distinct[v]) for v in vars})

    return Size(cache(estimate), lasts)
