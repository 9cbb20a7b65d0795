"""SQL of joins in time buckets: a bucket of time is one more key of a join of rows with validity intervals.

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

from penstock.compile import sql
from penstock.compile.relation import FROM, TO, Relation
from penstock.compile.sql import Expr, Select
from penstock.compile.windows.plan_span import PlanSpan, moment

BUCKET = ".bucket"


@dataclass(frozen=True, slots=True)
class Buckets:
    """Buckets of equal width, numbered from the start of a span; times outside belong to the first or the last one."""

    width: int
    span: PlanSpan

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
        first = moment(self.span.after)
        clamped = sql.call("least", sql.call("greatest", time, first), moment(self.span.through))
        return (clamped - first).div(sql.long(self.width))
