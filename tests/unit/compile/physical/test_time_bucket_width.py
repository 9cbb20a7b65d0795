"""When a join is made in buckets of time, and of what width. Seconds stand for microseconds: only ratios matter."""

from __future__ import annotations

from typing import Any

import pytest

from penstock.algebra import ops, sse
from penstock.algebra.build import translate
from penstock.algebra.expressions import Var
from penstock.compile import sql
from penstock.compile.physical import cardinality
from penstock.compile.physical.cardinality import Cardinality
from penstock.compile.physical.facts import Facts, TimeDomain
from penstock.compile.physical.join_algorithm import best_width, choose_join
from penstock.compile.physical.nodes import TimeBucketJoin
from penstock.compile.windows.stream_to_relation import WindowRelation
from penstock.model.span import Span
from penstock.optimise import PredicateCounts, enabled
from penstock.optimise.cost import Estimate
from penstock.tuning import DEFAULT
from tests.support.physical import STREAM, on_windows, physical

GATE = Var("gate")


def size(rows: float, gates: float, lasts: int | None) -> Cardinality:
    return Cardinality(lambda: Estimate(rows, {GATE: gates}), lasts)


def test_many_rows_a_key_and_short_windows() -> None:
    """A thousand passages a gate on each side, of which a hundredth is visible at a time."""
    width = best_width(size(1e6, 1e3, 10), size(1e6, 1e3, 10), 2_000)
    assert width is not None
    assert 10 <= width <= 100


@pytest.mark.parametrize(
    ("left", "right", "time"),
    [
        (size(1e6, 1e6, 10), size(1e6, 1e6, 10), 2_000),  # a row a key
        (size(1e6, 1e5, 10), size(1e6, 1e5, 10), 2_000),  # ten: there is little to save
        (size(1e6, 1e3, 1_000), size(1e6, 1e3, 1_000), 2_000),  # most rows meet anyhow
        (size(1e6, 1e3, 10), size(1e6, 1e3, 10), 1),  # a round of a live engine
        (size(1e6, 1e3, 10), size(1e6, 1e3, None), 2_000),  # one side is there for ever
        (size(10, 1, 10), size(1e6, 1, 10), 2_000),  # few rows on one side
    ],
)
def test_no_bucket_width_if_buckets_do_not_pay(left: Cardinality, right: Cardinality, time: int) -> None:
    assert best_width(left, right, time) is None
    assert best_width(right, left, time) is None


def test_the_width_is_the_cheapest() -> None:
    """Half and twice the width both cost more, by the sum that is minimised."""
    width = best_width(size(1e6, 1e3, 10), size(2e6, 1e3, 40), 2_000)
    assert width is not None

    def cost(width: float) -> float:
        copies = 1e6 * (1 + 10 / width) + 2e6 * (1 + 40 / width)
        met = 1e6 * (1 + 10 / width) * 2e6 * (1 + 40 / width) / 1e3 * width / 2_040
        return DEFAULT.bucket_copy_cost * copies + met

    assert cost(width) < min(cost(width / 2), cost(width * 2))


def timed(size: Cardinality | None) -> Facts:
    return Facts(frozenset(("gate",)), TimeDomain.INTERVALS, cardinality=size)


def width_of_join(left: Facts, right: Facts, span: Span | None) -> int | None:
    join = choose_join(ops.Join(ops.UNIT, ops.UNIT), left, right, many=True, span=span, choices=enabled(None))
    return join.width if isinstance(join, TimeBucketJoin) else None


def test_a_join_of_unknown_size_is_not_in_buckets() -> None:
    many, span = timed(size(1e6, 1e3, 10)), Span(0, 2_000)
    assert width_of_join(many, many, span) == best_width(size(1e6, 1e3, 10), size(1e6, 1e3, 10), 2_000)
    assert width_of_join(many, timed(None), span) is None
    assert width_of_join(many, many, None) is None
    always = Facts(frozenset(("gate",)), cardinality=size(1e6, 1e3, None))
    assert width_of_join(many, always, span) is None


def test_the_size_of_a_join() -> None:
    """Of a billion pairs the hundredth that holds at a time; with what holds always, all of them."""
    many, span = size(1e6, 1e3, 10), Span(0, 1_990)
    found = cardinality.join_cardinality(many, many, span)
    assert found is not None
    assert found.lasts == 10
    assert found.estimate().rows == pytest.approx(1e7)
    placed = cardinality.join_cardinality(many, size(100, 100, None), span)
    assert placed is not None
    assert placed.lasts == 10
    assert placed.estimate().rows == pytest.approx(1e5)
    assert cardinality.join_cardinality(many, None, span) is None


def test_the_size_of_a_union() -> None:
    found = cardinality.union_cardinality(size(1e6, 1e3, 10), size(1e5, 1e4, 30))
    assert found is not None
    assert found.lasts == 30
    assert found.estimate() == Estimate(1.1e6, {GATE: 1e4})
    endless = cardinality.union_cardinality(size(1e6, 1e3, 10), size(1e5, 1e4, None))
    assert endless is not None
    assert endless.lasts is None


# In whole plans


def planned(pattern: str, elements: int = 1_000_000, gates: float = 300, lasts: int | None = 10) -> str:
    """The physical plan of a pattern on one window, whose elements enter and exit through so many gates."""
    each = (elements / 2, gates, elements / 20)
    counts = PredicateCounts(elements, {"a:enters": each, "a:exits": each})
    known = frozenset(("<a:enters>", "<a:exits>"))
    content = WindowRelation(STREAM, sql.view("s"), known, rows=elements, lasts=lasts, counts=lambda: counts)
    context = on_windows(content, span=Span(0, 2_000))
    return sse.write(physical(translate(f"SELECT * {{ {pattern} }}").pattern, context))


ENTERS, EXITS = "?gate <a:enters> ?car .", "?gate <a:exits> ?other ."


@pytest.mark.parametrize("pattern", [f"{ENTERS} {EXITS}", f"{{ {ENTERS} }} {{ {EXITS} }}"])
def test_patterns_and_groups_are_joined_in_buckets(pattern: str) -> None:
    assert planned(pattern).count("(timebucketjoin ") == 1


@pytest.mark.parametrize(
    ("pattern", "known"),
    [
        (f"{ENTERS} {EXITS}", {"elements": 100_000}),
        (f"{ENTERS} {EXITS}", {"gates": 100_000}),
        (f"{ENTERS} {EXITS}", {"lasts": None}),
        (f"{ENTERS} {EXITS} FILTER(?car = ?other)", {}),  # by which Spark joins as well
        (f"{ENTERS} {EXITS} FILTER(?car != <a:car> && sameTerm(?car, ?other))", {}),
    ],
)
def test_other_joins_are_as_they_were(pattern: str, known: dict[str, Any]) -> None:
    assert "timebucketjoin" not in planned(pattern, **known)


def test_a_filter_that_equates_nothing_changes_nothing() -> None:
    assert "timebucketjoin" in planned(f"{ENTERS} {EXITS} FILTER(?car != ?other && ?car = <a:car>)")
