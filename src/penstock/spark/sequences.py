"""Sequences that last no longer than something: both sides meet in buckets of time.

What follows a row starts after that row ends, and early enough for both together not to be too long. So a row of the
left side goes into every bucket in which a partner may start, and one of the right side into that of its own start:
they meet once at most.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from math import sqrt

from penstock.optimise.cost import Estimate, joined, rows_joined
from penstock.spark import joins
from penstock.spark.buckets import BUCKET, COPY, Size
from penstock.spark.relation import ENDS, STARTS, Relation
from penstock.spark.timeline import Span


def join(left: Relation, right: Relation, within: int, span: Span) -> Relation:
    """The left side before the right one, from the first start to the last end no longer than `within`.

    Both have times: what has none, a row of the background, is before nothing.
    """
    time = span.through - span.after + within
    width = _width(left.size, right.size, within, time)
    sides = _reaching(left, within, width), _starting(right, width)
    order = [
        f"l.`{BUCKET}` = r.`{BUCKET}`",
        f"l.`{ENDS}` < r.`{STARTS}`",
        f"r.`{ENDS}` - l.`{STARTS}` <= {within}L",
    ]
    hint = "" if left.size is None or right.size is None else joins.HASHED
    return replace(joins.join(*sides, hint, order=order), size=_size(left.size, right.size, within / time))


def _reaching(relation: Relation, within: int, width: int) -> Relation:
    """A copy for every bucket in which a partner may start; none of what is too long already."""
    first, last = _bucket(f"`{ENDS}` + 1L", width), _bucket(f"`{STARTS}` + {within}L", width)
    items = f"*, explode(sequence({first}, {last})) AS `{BUCKET}`"
    return replace(relation, sql=f"SELECT {items} FROM ({relation.sql}) t WHERE `{ENDS}` - `{STARTS}` < {within}L")


def _starting(relation: Relation, width: int) -> Relation:
    return replace(relation, sql=f"SELECT *, {_bucket(f'`{STARTS}`', width)} AS `{BUCKET}` FROM ({relation.sql}) t")


def _bucket(time: str, width: int) -> str:
    return f"({time}) div {width}L"


def _width(left: Size | None, right: Size | None, within: int, time: int) -> int:
    """The width that costs least: a row has 1 + within/width copies, and a copy looks at what starts in its bucket.

    Where little is known it is the longest duration, with two copies at most.
    """
    if left is None or right is None:
        return max(1, within)
    one, other = left.estimate(), right.estimate()
    return max(1, round(sqrt(COPY * one.rows * within * time / rows_joined(one, other))))


def _size(left: Size | None, right: Size | None, share: float) -> Size | None:
    """Of the pairs of the same key, those that are near enough, half of which are in order."""
    if left is None or right is None:
        return None

    def estimate() -> Estimate:
        found = joined(left.estimate(), right.estimate())
        return Estimate(found.rows * share / 2, found.distinct)

    return Size(cache(estimate), None)
