"""Which join algorithm is chosen from upper bounds and sizes of static views."""

from __future__ import annotations

import pytest

from penstock.algebra import ops
from penstock.compile.physical.facts import Facts
from penstock.compile.physical.join_algorithm import choose_join
from penstock.compile.physical.nodes import BroadcastJoin, HashJoin, Side
from penstock.optimise import PHYSICAL_CHOICES, enabled
from penstock.tuning import DEFAULT

SURELY_FEW, FEW = DEFAULT.broadcast_elements, DEFAULT.broadcast_view_rows
JOIN = ops.Join(ops.Bgp(()), ops.UNIT)


def facts(*vars: str, upper_bound: int | None = None, view_rows: int | None = None) -> Facts:
    return Facts(frozenset(vars), upper_bound=upper_bound, view_rows=view_rows)


def chosen(left: Facts, right: Facts, many: bool, *left_out: str) -> ops.Join:
    names = enabled([f"-{name}" for name in left_out] or None)
    return choose_join(JOIN, left, right, many=many, span=None, choices=names)


def broadcast(side: Side) -> ops.Join:
    return BroadcastJoin(JOIN.left, JOIN.right, side)


@pytest.mark.parametrize("many", [True, False])
@pytest.mark.parametrize(
    ("left", "right", "side"),
    [
        (SURELY_FEW, None, "left"),
        (None, 20, "right"),
        (30, 20, "right"),
        (20, SURELY_FEW + 1, "left"),
        (SURELY_FEW + 1, SURELY_FEW + 1, None),
    ],
)
def test_side_with_a_small_upper_bound_is_broadcast(
    left: int | None, right: int | None, side: Side | None, many: bool
) -> None:
    join = chosen(facts("x", "y", upper_bound=left), facts("x", "z", upper_bound=right), many)
    assert join == (broadcast(side) if side else HashJoin(JOIN.left, JOIN.right, "right") if many else JOIN)


def test_side_of_unknown_size_is_never_broadcast() -> None:
    assert chosen(facts("x"), facts("x"), many=False) == JOIN
    assert chosen(facts("x"), facts("x"), many=True) == HashJoin(JOIN.left, JOIN.right, "right")


def test_cross_product_is_left_to_spark() -> None:
    assert chosen(facts("x", upper_bound=1), facts("y"), many=True) == JOIN


@pytest.mark.parametrize(("left", "right", "side"), [(FEW + 1, None, "right"), (None, FEW + 1, "left")])
def test_large_static_view_is_not_shuffled(left: int | None, right: int | None, side: Side) -> None:
    assert chosen(facts("x", view_rows=left), facts("x", view_rows=right), many=False) == broadcast(side)


def test_an_algorithm_is_switched_off_by_its_name() -> None:
    few, other = facts("x", upper_bound=10), facts("x")
    assert chosen(few, other, True, "broadcast_join") == HashJoin(JOIN.left, JOIN.right, "right")
    assert chosen(few, other, True, "broadcast_join", "hash_join") == JOIN


def test_rules_and_choices_are_named_or_left_out() -> None:
    assert enabled(None) > set(PHYSICAL_CHOICES)
    assert enabled(["hash_join"]) == {"hash_join"}
    assert enabled(["-hash_join"]) == enabled(None) - {"hash_join"}
    with pytest.raises(ValueError, match="unknown rules: merge_join; there are broadcast_join"):
        enabled(["merge_join"])
    with pytest.raises(ValueError, match="not both"):
        enabled(["hash_join", "-broadcast_join"])
