"""The gate of benchmarks: its own limits on what was measured, and no ratio that nobody looks at by mistake."""

from __future__ import annotations

import pytest

from benchmarks.common import Effort
from benchmarks.gate import GATES, Gate
from benchmarks.report import Bar, Section, at_most
from benchmarks.run import PARTS

MEASURED = Section(
    "title", ("a",), (), [at_most("count, 10 rows, ratio", 2.4, 3), at_most("other", 9, 1), Bar("x", False)]
)


@pytest.mark.parametrize(("limit", "met"), [(2.5, True), (1.5, False)])
def test_ratios_are_held_against_the_limits_of_the_gate(limit: float, met: bool) -> None:
    (bar,) = Gate("part", Effort(0.1), {"count": limit}).judged(MEASURED).bars
    assert bar.met is met
    assert bar.text == f"count, 10 rows, ratio 2.40, bar {limit}"


def test_a_limit_for_which_nothing_was_measured_is_an_error() -> None:
    with pytest.raises(ValueError, match="part: nothing was measured for coumt"):
        Gate("part", Effort(0.1), {"count": 1, "coumt": 1}).judged(MEASURED)


def test_the_gate_measures_the_five_parts_whose_bars_are_ratios() -> None:
    assert {gate.part for gate in GATES} == {"live", "replay", "outputs", "sequences", "start"} <= PARTS.keys()
    assert all(gate.effort.scale < 0.5 and gate.limits for gate in GATES)


def test_an_effort_is_repeated_as_often_as_it_says() -> None:
    assert [Effort(scale, repeats).runs(5) for scale, repeats in ((1, None), (0.1, None), (0.1, 3))] == [5, 1, 3]
