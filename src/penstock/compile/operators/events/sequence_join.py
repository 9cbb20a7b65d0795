"""SEQ with a bounded duration: a join in time buckets.

A row of the right side starts after the left row ends, and early enough for both together to fit into the bound. So a
left row is copied into every bucket in which a partner may start, and a right row is in the bucket of its own start: a
pair meets at most once.
"""

from __future__ import annotations

from dataclasses import replace

from penstock.compile import notes, sql
from penstock.compile.cardinality import partial_join_cardinality
from penstock.compile.operators import joins
from penstock.compile.operators.physical.join_algorithm import SHUFFLED_HASH_JOIN
from penstock.compile.operators.physical.time_buckets import BUCKET, cheapest_width
from penstock.compile.relation import ENDS, STARTS, Relation
from penstock.compile.sql import Expr, Hint, Select
from penstock.model.span import Span
from penstock.optimise.cost import rows_joined
from penstock.tuning import DEFAULT, Tuning


def join(left: Relation, right: Relation, within: int, span: Span, tuning: Tuning = DEFAULT) -> Relation:
    """Return the rows of SEQ whose first start and last end are at most `within` apart.

    Both sides have occurrence times; a row of the background precedes nothing.
    """
    time = span.through - span.after + within
    hint: Hint | None = None
    width, cardinality = max(1, within), None  # without estimates, a row has at most two copies
    if left.cardinality is not None and right.cardinality is not None:
        one, other = left.cardinality.estimate(), right.cardinality.estimate()
        pairs = rows_joined(one, other) / time
        width = round(cheapest_width(0, one.rows * within, pairs, tuning.bucket_copy_cost))
        near = within / time  # share of the pairs; half of these are in order
        hint = SHUFFLED_HASH_JOIN
        cardinality = partial_join_cardinality(left.cardinality, right.cardinality, near / 2, None)
    notes.note(f"within {notes.about(within)}: in buckets of {notes.about(width)}")
    column = sql.column
    order = [
        column("l", BUCKET).eq(column("r", BUCKET)),
        column("l", ENDS) < column("r", STARTS),
        column("r", ENDS) - column("l", STARTS) <= sql.long(within),
    ]
    joined = joins.join(_reaching(left, within, width), _starting(right, width), hint, order=order)
    return replace(joined, cardinality=cardinality)


def _reaching(relation: Relation, within: int, width: int) -> Relation:
    """Return a copy of each row for every bucket in which a partner may start, without rows that are too long
    already."""
    starts, ends = sql.name(STARTS), sql.name(ENDS)
    first, last = _bucket(ends + sql.long(1), width), _bucket(starts + sql.long(within), width)
    copies = sql.alias(sql.call("explode", sql.call("sequence", first, last)), BUCKET)
    return replace(relation, sql=Select([sql.STAR, copies], relation.sql, ends - starts < sql.long(within)))


def _starting(relation: Relation, width: int) -> Relation:
    own = sql.alias(_bucket(sql.name(STARTS), width), BUCKET)
    return replace(relation, sql=Select([sql.STAR, own], relation.sql))


def _bucket(time: Expr, width: int) -> Expr:
    return time.div(sql.long(width))
