"""How Spark is told to join, where more is known of the sides than it can see."""

from __future__ import annotations

import pytest

from penstock.compile import sql
from penstock.compile.operators.joins import HASHED, way
from penstock.compile.relation import Relation
from penstock.tuning import DEFAULT

FEW, SURELY_FEW = DEFAULT.broadcast_view_rows, DEFAULT.broadcast_elements


def relation(*vars: str, most: int | None = None, kept: int | None = None) -> Relation:
    return Relation(sql.Select(()), vars, frozenset(vars), most=most, kept=kept)


@pytest.mark.parametrize("many", [True, False])
@pytest.mark.parametrize(
    ("left", "right", "sent"),
    [
        (SURELY_FEW, None, "l"),
        (None, 20, "r"),
        (30, 20, "r"),
        (20, SURELY_FEW + 1, "l"),
        (SURELY_FEW + 1, SURELY_FEW + 1, None),
    ],
)
def test_elements_that_are_surely_few_are_sent(
    left: int | None, right: int | None, sent: str | None, many: bool
) -> None:
    hint = way(relation("x", "y", most=left), relation("x", "z", most=right), many)
    assert hint == (("BROADCAST", (sent,)) if sent else HASHED if many else None)


def test_a_product_is_left_to_spark() -> None:
    assert way(relation("x", most=1), relation("y"), many=True) is None


@pytest.mark.parametrize(("left", "right", "sent"), [(FEW + 1, None, "r"), (None, FEW + 1, "l")])
def test_a_large_part_stays_where_it_lies(left: int | None, right: int | None, sent: str) -> None:
    assert way(relation("x", kept=left), relation("x", kept=right), many=False) == ("BROADCAST", (sent,))
