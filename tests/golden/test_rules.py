"""The rules on plans in `rules/<rule>.test`: `case NAME`, a plan, `----`, and the plan it becomes or `same`.

Every pair is also executed: both plans have the same answers on every small graph that hypothesis finds.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import given, settings
from pyoxigraph import NamedNode

from penstock.algebra.occurrence import is_timed
from penstock.algebra.ops import Op, Query, Select, StreamWindow
from penstock.algebra.sse import read, write
from penstock.algebra.windows import TimeWindow
from penstock.compile.windows.window_statistics import LiveStatistics, WindowStatistics
from penstock.optimise import ALL_RULES, PredicateCounts, Statistics, optimise
from tests.support.event_plans import world
from tests.support.event_reference import World, bag
from tests.support.golden import golden_cases
from tests.support.plans import Triples, dataset, from_tape
from tests.support.reference import answers

FOLDER = Path(__file__).with_name("rules")
NS = "http://example.org/"

# :p is small, :q of middle size and :r large; each subject of :r has ten objects.
COUNTS = PredicateCounts(
    1110.0, {f"{NS}p": (10.0, 10.0, 10.0), f"{NS}q": (100.0, 100.0, 50.0), f"{NS}r": (1000.0, 100.0, 1000.0)}
)

# For rules that ask where triples come from: a stream in the default graph that has :s and :t, and a named window.
STREAM = StreamWindow(NamedNode(f"{NS}stream"), TimeWindow(10, 5))
NAMED = StreamWindow(NamedNode(f"{NS}stream"), TimeWindow(10, 5), name=NamedNode(f"{NS}w"))
LIVE = LiveStatistics(
    COUNTS, tuple(WindowStatistics(w, frozenset((f"<{NS}s>", f"<{NS}t>")), lambda: COUNTS) for w in (STREAM, NAMED))
)
# A stream that has :q beside a background in which :p and :r are large.
LARGE = PredicateCounts(2e8, {f"{NS}{name}": (1e8, 1e5, 1e6) for name in "pr"})
BESIDE = LiveStatistics(
    LARGE, tuple(WindowStatistics(w, frozenset((f"<{NS}q>",)), lambda: COUNTS) for w in (STREAM, NAMED))
)
KNOWN: dict[str, Statistics] = {"materialise_static": LIVE, "push_aggregate": BESIDE, "split_zero_length": LIVE}


@dataclass(frozen=True)
class Case:
    rule: str
    name: str
    before: Op
    after: Op


def cases() -> Iterator[Case]:
    for rule, name, before, after in golden_cases(FOLDER):
        plan = read(before)
        yield Case(rule, name, plan, plan if after is None else read(after))


CASES = list(cases())
by_case = pytest.mark.parametrize("case", CASES, ids=[f"{case.rule}: {case.name}" for case in CASES])


@by_case
def test_rule(case: Case) -> None:
    optimised = optimise(Query(Select(), case.before), KNOWN.get(case.rule, COUNTS), {case.rule})
    assert write(optimised.query.pattern) == write(case.after)
    assert [step.rule for step in optimised.trace] == [case.rule] * (case.before != case.after)


@by_case
def test_rule_twice_is_rule_once(case: Case) -> None:
    assert optimise(Query(Select(), case.after), KNOWN.get(case.rule, COUNTS), {case.rule}).trace == ()


@by_case
@settings(max_examples=10, deadline=None)
@given(data=from_tape(dataset, 60), given_=from_tape(world, 60))
def test_both_plans_have_the_same_answers(
    case: Case, data: tuple[Triples, dict[NamedNode, Triples]], given_: World
) -> None:
    if is_timed(Query(Select(), case.before)):
        assert bag(case.after, given_) == bag(case.before, given_)
    else:
        assert answers(case.after, *data) == answers(case.before, *data)


def test_every_rule_has_a_file_with_cases_that_change_and_cases_that_do_not() -> None:
    for rule in ALL_RULES:
        changed = {case.before != case.after for case in CASES if case.rule == rule.name}
        assert changed == {True, False}, rule.name
