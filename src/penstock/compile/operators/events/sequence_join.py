"""SQL of SEQ with a bounded duration: a join in time buckets.

A row of the right side starts after the left row ends, and early enough for both together to fit into the bound. So a
left row is copied into every bucket in which a partner may start, and a right row is in the bucket of its own start: a
pair meets at most once.
"""

from __future__ import annotations

from dataclasses import replace

from penstock.compile import sql
from penstock.compile.operators import joins
from penstock.compile.operators.time_buckets import BUCKET
from penstock.compile.relation import ENDS, STARTS, Relation
from penstock.compile.sql import Expr, Select


def join(left: Relation, right: Relation, within: int, width: int, hashed: bool) -> Relation:
    """Return the rows of SEQ whose first start and last end are at most `within` apart, in buckets of that width.

    Both sides have occurrence times; a row of the background precedes nothing.
    """
    column = sql.column
    order = [
        column("l", BUCKET).eq(column("r", BUCKET)),
        column("l", ENDS) < column("r", STARTS),
        column("r", ENDS) <= column("l", STARTS) + sql.long(within),
    ]
    hint = joins.HASH_RIGHT if hashed else None
    return joins.join(_reaching(left, within, width), _starting(right, width), hint, order)


def _reaching(relation: Relation, within: int, width: int) -> Relation:
    """Return a copy of each row for every bucket in which a partner may start, without rows that are too long
    already."""
    starts, ends = sql.name(STARTS), sql.name(ENDS)
    first, last = _bucket(ends + sql.long(1), width), _bucket(starts + sql.long(within), width)
    copies = sql.alias(sql.call("explode", sql.call("sequence", first, last)), BUCKET)
    return replace(relation, sql=Select([sql.STAR, copies], relation.sql, ends - starts < sql.long(within)))


def _starting(relation: Relation, width: int) -> Relation:
    own = sql.alias(_bucket(sql.name(STARTS), width), BUCKET)
    return replace(relation, sql=Select([*map(sql.name, relation.columns), own], relation.sql))


def _bucket(time: Expr, width: int) -> Expr:
    return time.div(sql.long(width))
