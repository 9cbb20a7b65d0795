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

BUCKET = ".bucket"
_COPY = 30.0  # what it costs to bring a row to its join, where looking at a pair of rows is 1
_JOB = 2e7  # and what a job costs anyhow
_GAIN = 2.0  # how many times as cheap the buckets have to be: estimates are not exact


@dataclass(frozen=True, slots=True)
class Cardinality:
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


def choose(left: Relation, right: Relation, span: Span | None) -> Buckets | None:
    """The buckets for a join of the two at the instants of the span, where they pay."""
    if span is None or not (left.timed and right.timed and left.cardinality and right.cardinality):
        return None
    width = best_width(left.cardinality, right.cardinality, span.through - span.after)
    return None if width is None else Buckets(width, span)


def best_width(left: Cardinality, right: Cardinality, time: int) -> int | None:
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
    width = cheapest_width(left.lasts * right.lasts, lasting, pairs / time)
    met = pairs * (width + left.lasts) * (width + right.lasts) / width / time
    plain, cut = _JOB + _COPY * rows + pairs, _JOB + _COPY * (rows + lasting / width) + met
    return round(width) if plain > _GAIN * cut else None


def cheapest_width(both: int, lasting: float, pairs: float) -> float:
    """The width where copies and pairs together cost least: there the derivative by it is 0. `both` is the product of
    how long a row of either side lasts, `lasting` how long all rows do, `pairs` how many meet in a unit of time."""
    return max(1.0, sqrt(both + _COPY * lasting / pairs))


def join_cardinality(left: Cardinality | None, right: Cardinality | None, span: Span | None) -> Cardinality | None:
    """The size of a join: of the pairs, those that hold at the same time."""
    if left is None or right is None:
        return None
    lasting = [side.lasts for side in (left, right) if side.lasts is not None]
    time = None if span is None else span.through - span.after + max(lasting, default=0)
    share = min(1.0, sum(lasting) / time) if time and len(lasting) == 2 else 1.0
    return partial_join_cardinality(left, right, share, min(lasting, default=None))


def partial_join_cardinality(left: Cardinality, right: Cardinality, share: float, lasts: int | None) -> Cardinality:
    """The size of a join that has that share of the pairs."""

    def estimate() -> Estimate:
        found = joined(left.estimate(), right.estimate())
        return Estimate(found.rows * share, found.distinct)

    return Cardinality(cache(estimate), lasts)


def union_cardinality(left: Cardinality | None, right: Cardinality | None) -> Cardinality | None:
    """The size of a union."""
    if left is None or right is None:
        return None
    lasts = None if left.lasts is None or right.lasts is None else max(left.lasts, right.lasts)

    def estimate() -> Estimate:
        one, other = left.estimate(), right.estimate()
        vars = one.distinct.keys() & other.distinct.keys()
        return Estimate(one.rows + other.rows, {v: max(one.distinct[v], other.distinct[v]) for v in vars})

    return Cardinality(cache(estimate), lasts)
