"""The cheapest order of joins: compared with all trees that there are, and in what it must never do."""

from __future__ import annotations

import random
from collections.abc import Iterator
from itertools import combinations

import pytest

from penstock.algebra.expressions import Var
from penstock.algebra.ops import Bgp, Join, Op, Query, Select, StaticView
from penstock.algebra.sse import read, write
from penstock.optimise import PredicateCounts, optimise
from penstock.optimise.cost import Estimate, Model, Shares, cost, estimate, joined, rows_made
from penstock.optimise.join_order import Operand, Shape, best
from penstock.optimise.statics import connected
from penstock.tuning import DEFAULT, Tuning

NS = "http://example.org/"
ALL_TOGETHER = [(i, i + 1) for i in range(30)]

MODEL = Model.of(DEFAULT)


def operands(chance: random.Random, count: int) -> list[Operand]:
    """In a chain or a star, or something between, of any sizes."""
    found = []
    for i in range(count):
        vars = {Var(f"v{chance.randrange(i + 1)}"), Var(f"v{i + 1}")} if i else {Var("v0"), Var("v1")}
        rows = 10 ** chance.uniform(0, 6)
        distinct = {var: 10 ** chance.uniform(0, 5) for var in vars}
        estimate = Estimate(rows, distinct, chance.choice((0.0, 0.0, 2.0, 1e4)))
        found.append(Operand(frozenset(vars), estimate, chance.choice((0.0, 1e5)), chance.random() < 0.2))
    return found


def trees(places: tuple[int, ...]) -> Iterator[Shape]:
    """All bushy trees, each once."""
    if len(places) == 1:
        yield places[0]
        return
    first, *others = places
    for size in range(len(others)):
        for some in combinations(others, size):
            rest = tuple(place for place in others if place not in some)
            for left in trees((first, *some)):
                yield from ((left, right) for right in trees(rest))


def weighed(shape: Shape, given: list[Operand]) -> tuple[Estimate, float, bool]:
    """Rows, cost and whether there is a product in it, by the definition."""
    if isinstance(shape, int):
        return given[shape].estimate, given[shape].cost, False
    (left, one, crosses), (right, other, too) = (weighed(side, given) for side in shape)
    sides = zip(shape, (left, right), strict=True)
    brought = sum(MODEL.brought(each.in_all, isinstance(side, int) and given[side].kept) for side, each in sides)
    both = joined(left, right)
    product = not left.distinct.keys() & right.distinct.keys()
    return both, one + other + brought + MODEL.made(both.in_all), crosses or too or product


@pytest.mark.parametrize("seed", range(30))
def test_no_tree_without_products_is_cheaper(seed: int) -> None:
    chance = random.Random(seed)
    given = operands(chance, chance.randrange(2, 6))
    _, cheapest, crosses = weighed(best(given, _left_deep(len(given))), given)
    costs = [cost for _, cost, product in (weighed(t, given) for t in trees(tuple(range(len(given))))) if not product]
    assert cheapest == pytest.approx(min(costs), rel=1e-4)
    assert not crosses


def test_a_bushy_tree_where_both_ends_are_selective() -> None:
    """x – a – b – y: the join in the middle is large, each half is small."""
    rows = {"p": 10.0, "q": 100_000.0, "r": 100_000.0, "s": 10.0}
    sizes = {f"{NS}{name}": (count, count, 1_000.0) for name, count in rows.items()}
    plan = read("(bgp (?x :p ?a) (?a :q ?m) (?b :r ?m) (?y :s ?b))")
    ordered = optimise(Query(Select(), plan), PredicateCounts(200_020.0, sizes), {"order_joins"}).query.pattern
    assert isinstance(ordered, Join)
    assert isinstance(plan, Bgp)
    assert {frozenset(side.patterns) for side in ordered.children if isinstance(side, Bgp)} == {
        frozenset(plan.patterns[:2]), frozenset(plan.patterns[2:])
    }  # fmt: skip


def test_a_tree_as_good_as_any_stays() -> None:
    same = [Operand(frozenset({Var("x")}), Estimate(10.0, {Var("x"): 10.0})) for _ in range(4)]
    for tree in trees((0, 1, 2, 3)):
        chosen = best(same, tree)
        assert best(same, chosen) == chosen


def test_a_product_does_not_stay_where_it_was() -> None:
    """Two small ends of a chain: their product would be smaller than either join."""
    sizes = {f"{NS}p": (2.0, 2.0, 1.0), f"{NS}q": (1e6, 10.0, 10.0), f"{NS}r": (2.0, 1.0, 2.0)}
    plan = read("(bgp (?x :p ?a) (?b :r ?y) (?a :q ?b))")
    ordered = optimise(Query(Select(), plan), PredicateCounts(1e6 + 4, sizes), {"order_joins"}).query.pattern
    assert isinstance(ordered, Bgp)
    assert write(Bgp(ordered.patterns[1:2])) == "(bgp (?a :q ?b))"


def test_rows_that_lie_ready_may_be_many() -> None:
    counts = PredicateCounts(2e6, {f"{NS}p": (1e6, 1e6, 1e6), f"{NS}q": (1e6, 1e6, 1e6)})
    plain, kept = read("(bgp (?x :p ?y))"), StaticView((Var("x"),), read("(bgp (?x :q ?z))"))
    assert cost(Join(plain, kept), counts) < cost(Join(plain, kept.pattern), counts)
    assert cost(kept, counts) == 0.0


def test_rows_that_are_left_out_are_not_joined() -> None:
    counts = PredicateCounts(2e6, {f"{NS}p": (1e6, 1e6, 10.0), f"{NS}q": (1e6, 10.0, 1e6)})
    plain, kept = read("(bgp (?x :p ?y))"), StaticView((Var("y"),), read("(bgp (?y :q ?z))"))
    assert isinstance(plain, Bgp)
    whole = rows_made(Join(plain, kept), counts)
    shares: list[Shares] = [{kept: 0.01}, {plain.patterns[0]: 0.01}]
    for left in shares:
        assert rows_made(Join(plain, kept), counts, selectivity=left) == pytest.approx(whole / 100)


@pytest.mark.parametrize("count", [DEFAULT.join_order_operands, DEFAULT.join_order_operands + 1, 30])
def test_many_operands(count: int) -> None:
    given = [Operand(frozenset({Var(f"v{i}"), Var(f"v{j}")}), Estimate(i + 1.0, {})) for i, j in ALL_TOGETHER[:count]]
    assert sorted(_leaves(best(given, _left_deep(count)))) == list(range(count))


def test_groups_share_no_variable() -> None:
    vars = ["ab", "cd", "bc", "ef", "f"]
    found = connected((frozenset(map(Var, own)), [place]) for place, own in enumerate(vars))
    assert sorted(map(sorted, found)) == [[0, 1, 2], [3, 4]]


def test_joins_inside_a_static_view_are_ordered() -> None:
    plan = StaticView((), read("(bgp (?s :r ?x) (?s :p ?z))"))
    counts = PredicateCounts(1010.0, {f"{NS}p": (10.0, 10.0, 10.0), f"{NS}r": (1000.0, 100.0, 1000.0)})
    ordered = optimise(Query(Select(), plan), counts, {"order_joins"}).query.pattern
    assert write(_inner(ordered)) == "(bgp (?s :p ?z) (?s :r ?x))"


def _inner(op: Op) -> Op:
    assert isinstance(op, StaticView)
    return op.pattern


def _left_deep(count: int) -> Shape:
    shape: Shape = 0
    for place in range(1, count):
        shape = (shape, place)
    return shape


def _leaves(shape: Shape) -> list[int]:
    return [shape] if isinstance(shape, int) else _leaves(shape[0]) + _leaves(shape[1])


def test_estimates_and_costs_follow_the_record() -> None:
    counts = PredicateCounts(100.0, {f"{NS}p": (100.0, 10.0, 10.0)})
    plan = read("(filter (> ?n 1) (bgp (?x :p ?n)))")
    assert estimate(plan, counts).rows == pytest.approx(DEFAULT.filter_selectivity * 100)
    assert estimate(plan, counts, Tuning(filter_selectivity=0.5)).rows == pytest.approx(50)
    join = Join(plan, read("(bgp (?x :p ?m))"))
    assert cost(join, counts, Tuning(join_us=0.0, moved_row_us=0.0, ready_row_us=0.0, made_row_us=1.0)) == (
        pytest.approx(rows_made(join, counts))
    )
