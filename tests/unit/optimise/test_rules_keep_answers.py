"""Each rule alone, and all together, leave the answers of generated plans as they are."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from pyoxigraph import NamedNode

from penstock.algebra import ops
from penstock.algebra.ops import Op, Query, Select
from penstock.algebra.sse import write
from penstock.optimise import ALL_RULES, Uniform, optimise
from penstock.optimise.walk import map_children, map_exists
from tests.support.event_plans import plan as event_plan
from tests.support.event_plans import world
from tests.support.event_reference import World, bag
from tests.support.plans import Triples, dataset, from_tape, whole_plan
from tests.support.reference import answers

Dataset = tuple[Triples, dict[NamedNode, Triples]]
CHOICES = [*((rule.name,) for rule in ALL_RULES), tuple(rule.name for rule in ALL_RULES)]


by_rules = pytest.mark.parametrize("rules", CHOICES, ids=lambda names: names[0] if len(names) == 1 else "all")


@by_rules
@settings(max_examples=150, deadline=None)
@given(plan=from_tape(whole_plan), data=from_tape(dataset, 40))
def test_same_answers(rules: tuple[str, ...], plan: Op, data: Dataset) -> None:
    check(rules, plan, data)


@by_rules
@settings(max_examples=100, deadline=None)
@given(plan=from_tape(whole_plan), data=from_tape(dataset, 40))
def test_same_answers_on_windows(rules: tuple[str, ...], plan: Op, data: Dataset) -> None:
    check(rules, windowed(plan), data)


@by_rules
@settings(max_examples=150, deadline=None)
@given(plan=from_tape(event_plan), given_=from_tape(world, 60))
def test_same_events(rules: tuple[str, ...], plan: Op, given_: World) -> None:
    """Intervals included."""
    optimised = optimise(Query(Select(), plan, emit="events"), Uniform(), rules).query.pattern
    assert bag(optimised, given_) == bag(plan, given_), f"{write(plan)}\n→\n{write(optimised)}"


def windowed(op: Op) -> Op:
    """The plan with windows that are read where it has graphs, and windows that override where it has some others."""
    inside = map_children(map_exists(op, windowed), windowed)
    match inside:
        case ops.Graph(name, pattern):
            return ops.InWindow(name, pattern)
        case ops.Reduced(pattern) | ops.OrderBy(_, pattern):
            return ops.WindowOverride(1, pattern)
        case ops.Join() | ops.Union():
            return inside.with_children((ops.WindowOverride(2, inside.children[0]), inside.children[1]))
    return inside


def check(rules: tuple[str, ...], plan: Op, data: Dataset) -> None:
    optimised = optimise(Query(Select(), plan), Uniform(), rules).query.pattern
    assert answers(optimised, *data) == answers(plan, *data), f"{write(plan)}\n→\n{write(optimised)}"
