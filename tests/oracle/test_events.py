"""EP-SPARQL on Spark against the slow transcription of its definitions, `tests/support/event_reference.py`.

Generated patterns on generated streams of elements that last, with background, in one stream or two, without windows
and inside of them. Into how many files and jobs all is cut, for how many elements Spark makes partitions, which rules
of the optimiser are off, whether the streams' predicates are known, and whether the query is a plan or a text that has
to be read, is part of each example, and must not matter. `PENSTOCK_ORACLE_EXAMPLES` asks for more and new examples.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.algebra import ops
from penstock.algebra.occurrence import is_timed
from penstock.algebra.ops import Query, Select
from penstock.algebra.sse import write
from penstock.compile.operators.events.complex_events import complete
from penstock.spark.session.session import private
from tests.oracle.events_cases import (
    EVERYTHING,
    Case,
    chain_case,
    events_case,
    first,
    leaves,
    telling,
    uses,
    windowed_case,
)
from tests.oracle.events_rules import Ruled, ruled_case, says_more, solutions
from tests.oracle.events_runs import Bag, delivered, told
from tests.oracle.events_windows import answers_in, what_comes
from tests.support import event_reference as events
from tests.support.sampling import sampled

pytestmark = pytest.mark.usefixtures("plan")

Folder = Callable[[], Path]


@pytest.fixture(scope="module")
def session(spark: Any) -> Any:
    return private(spark)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Folder:
    """As many new folders as there are examples."""
    return lambda: tmp_path_factory.mktemp("stream")


def explained(case: Case) -> str:
    lines = [write(case.plan), f"{case.windows}, {case.duplicates} duplicates, {case.cut}", "background:"]
    lines += [f"  {' '.join(map(str, triple))}" for triple in case.world.background]
    lines += [f"  {e.stream} {e.start}..{e.end} {' '.join(map(str, e.triple))}" for e in case.world.elements]
    return "\n".join(lines)


def same(found: Bag, expected: Bag, case: Case, where: str = "") -> None:
    message = f"{where}missing {expected - found}\nnot expected {found - expected}\n{explained(case)}"
    assert found == expected, message


# Without windows: each answer once, when it is complete, with when it began


@given(case=telling(events_case))
@sampled(50)
def test_events(case: Case, session: Any, folder: Folder) -> None:
    same(delivered(case, session, folder()), events.delivered(case.plan, case.seen), case)


@given(case=telling(lambda tape: replace(events_case(tape), duplicates="merge")))
@sampled(12)
def test_equal_triples_are_one_event(case: Case, session: Any, folder: Folder) -> None:
    same(delivered(case, session, folder()), events.delivered(case.plan, case.seen), case)


@given(case=telling(events_case), part=st.integers(1, 5))
@sampled(12)
def test_delivered_solutions_stay(case: Case, part: int, session: Any, folder: Folder) -> None:
    """Timewise monotonicity: with all that ends later, the answers are the same and others that end later."""
    instant = max(e.end for e in case.world.elements) * part // 6 + 1
    early = replace(case, world=replace(case.world, elements=case.world.until(instant).elements))
    whole = delivered(case, session, folder())
    before = Counter({row: n for row, n in whole.items() if row[2] <= instant})
    same(delivered(early, session, folder()), before, case, f"up to {instant}: ")


def changes(case: Case) -> bool:
    """Whether an answer changes. A path of a query without times leads through the elements too, which the reference
    does not know."""
    query = Query(Select(), case.plan)
    is_known = is_timed(query) or not uses(case.plan, ops.Path)
    is_small = 1 <= leaves(case.plan) <= 3 and not complete(query)
    return is_small and is_known and case.is_clear and bool(what_comes(case))


@given(case=first(partial(events_case, makers=EVERYTHING), changes))
@sampled(10)
def test_answers_that_change(case: Case, session: Any, folder: Folder) -> None:
    """A group grows, so that no event completes it: what is reported is what comes."""
    compared(told(case, session, folder()), what_comes(case), case)


@given(case=telling(chain_case, ("nothing", "sequences may touch", "elements are points")))
@sampled(14)
def test_short_sequences(case: Case, session: Any, folder: Folder) -> None:
    same(delivered(case, session, folder()), events.delivered(case.plan, case.seen), case)


# In windows: the whole answer at each instant


def sees(case: Case) -> bool:
    is_small = 2 <= leaves(case.plan) <= 3 and is_timed(Query(Select(), case.plan)) and case.is_clear
    return is_small and any(answers_in(case).values())


@given(case=first(windowed_case, sees))
@sampled(18)
def test_in_windows(case: Case, session: Any, folder: Folder) -> None:
    compared(told(case, session, folder()), answers_in(case), case)


def compared(found: dict[int, Bag], expected: dict[int, Bag], case: Case) -> None:
    for instant in sorted(found.keys() | expected.keys()):
        same(found.get(instant, Counter()), expected.get(instant, Counter()), case, f"at {instant}: ")
    assert found.keys() == expected.keys(), explained(case)


# Rules: a query sees the least fixpoint


@pytest.mark.filterwarnings("ignore::penstock.PenstockWarning")
@given(case=first(ruled_case, says_more))
@sampled(12)
def test_rules(case: Ruled, spark: Any, folder: Folder) -> None:
    found, expected = solutions(case, spark, folder()), case.solutions
    lines = [*case.texts, str(case.cut), *map(str, (*case.world.background, *case.world.elements))]
    message = f"missing {expected - found}\nnot expected {found - expected}\n"
    assert found == expected, message + "\n".join(lines)
