"""Which join algorithm is chosen from upper bounds and sizes of static views."""

from __future__ import annotations

import pytest

from penstock.compile import sql
from penstock.compile.operators.physical.join_algorithm import SHUFFLED_HASH_JOIN, choose_join_algorithm
from penstock.compile.relation import Relation
from penstock.tuning import DEFAULT

SURELY_FEW, FEW = DEFAULT.broadcast_elements, DEFAULT.broadcast_view_rows


def relation(*vars: str, upper_bound: int | None = None, view_rows: int | None = None) -> Relation:
    return Relation(sql.Select(()), vars, frozenset(vars), upper_bound=upper_bound, view_rows=view_rows)


@pytest.mark.parametrize("many", [True, False])
@pytest.mark.parametrize(
    ("left", "right", "side"),
    [
        (SURELY_FEW, None, "l"),
        (None, 20, "r"),
        (30, 20, "r"),
        (20, SURELY_FEW + 1, "l"),
        (SURELY_FEW + 1, SURELY_FEW + 1, None),
    ],
)
def test_side_with_a_small_upper_bound_is_broadcast(
    left: int | None, right: int | None, side: str | None, many: bool
) -> None:
    hint = choose_join_algorithm(relation("x", "y", upper_bound=left), relation("x", "z", upper_bound=right), many)
    assert hint == (("BROADCAST", (side,)) if side else SHUFFLED_HASH_JOIN if many else None)


def test_cross_product_is_left_to_spark() -> None:
    assert choose_join_algorithm(relation("x", upper_bound=1), relation("y"), many=True) is None


@pytest.mark.parametrize(("left", "right", "side"), [(FEW + 1, None, "r"), (None, FEW + 1, "l")])
def test_large_static_view_is_not_shuffled(left: int | None, right: int | None, side: str) -> None:
    hint = choose_join_algorithm(relation("x", view_rows=left), relation("x", view_rows=right), many=False)
    assert hint == ("BROADCAST", (side,))
