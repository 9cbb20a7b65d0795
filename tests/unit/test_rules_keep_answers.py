"""Each rule alone, and all together, leave the answers of generated plans as they are."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from pyoxigraph import NamedNode

from penstock.algebra.ops import Op, Query, Select
from penstock.algebra.sse import write
from penstock.optimise import ALL_RULES, Uniform, optimise
from tests.unit.plans import Triples, dataset, from_tape, whole_plan
from tests.unit.reference import answers

CHOICES = [*((rule.name,) for rule in ALL_RULES), tuple(rule.name for rule in ALL_RULES)]


@pytest.mark.parametrize("rules", CHOICES, ids=lambda names: names[0] if len(names) == 1 else "all")
@settings(max_examples=150, deadline=None)
@given(plan=from_tape(whole_plan), data=from_tape(dataset, 40))
def test_same_answers(rules: tuple[str, ...], plan: Op, data: tuple[Triples, dict[NamedNode, Triples]]) -> None:
    optimised = optimise(Query(Select(), plan), Uniform(), rules).query.pattern
    assert answers(optimised, *data) == answers(plan, *data), f"{write(plan)}\n→\n{write(optimised)}"
