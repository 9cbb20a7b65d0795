"""A join in buckets of time has the rows of the plain one, each as often, whatever the width."""

from __future__ import annotations

import random
from collections import Counter
from typing import Any

import pytest

from penstock.compile import sql
from penstock.compile.operators import joins
from penstock.compile.operators.time_buckets import BUCKET, Buckets
from penstock.compile.relation import ALWAYS, FROM, TO, Relation
from penstock.model.span import Span

SPAN = Span(-40, 60)


def relation(var: str, seed: int) -> Relation:
    """Short and long intervals around the span; some begin, end or begin and end far outside. Rows come twice."""
    chance = random.Random(seed)
    starts = [chance.choice([-ALWAYS, *range(-60, 80), *range(-60, 80)]) for _ in range(80)]
    ends = [chance.choice([start + 1, start + chance.randrange(1, 30), ALWAYS]) for start in starts]
    cells = [(chance.choice("ab"), chance.choice("uvw"), f, t) for f, t in zip(starts, ends, strict=True)]
    values = [(sql.text(k), sql.text(v), sql.long(f), sql.long(t)) for k, v, f, t in [*cells, *cells[:20]]]
    vars = ("k", var, FROM, TO)
    return Relation(sql.Select([sql.STAR], sql.Values(values, vars)), vars, frozenset(vars))


def rows(spark: Any, joined: Relation) -> Counter[Any]:
    return Counter(map(tuple, spark.sql(sql.write(joined.sql)).collect()))


@pytest.mark.parametrize("width", [1, 7, 30, 1_000])
def test_the_same_rows(spark: Any, width: int) -> None:
    left, right = relation("x", 1), relation("y", 2)
    plain, cut = joins.join(left, right), joins.join_in_buckets(left, right, Buckets(width, SPAN))
    assert BUCKET not in sql.write(plain.sql)
    assert BUCKET in sql.write(cut.sql)
    assert cut.vars == plain.vars
    found = rows(spark, cut)
    assert found.total() > 1_000
    assert found == rows(spark, plain)
