"""The law of the design where physical choices are made that data of this size would not get, and without each choice.

With the eager thresholds joins of known size are in buckets of time, views are looked up, and windows reduced, however
few rows they have.
"""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given

from penstock.algebra.ops import Join
from penstock.compile import probe
from penstock.compile.physical import plan_patterns
from penstock.compile.physical.facts import Facts
from penstock.compile.physical.nodes import TimeBucketJoin
from penstock.optimise import PHYSICAL_CHOICES
from penstock.spark.session.session import private
from penstock.tuning import Tuning
from tests.oracle.streams import WINDOWS, streamed_cases
from tests.oracle.test_snapshots import Case, check
from tests.support.plan_probe import PlanProbe
from tests.support.sampling import sampled

EAGER = Tuning(hinted_elements=0, bucket_gain=0.0, lookup_view_rows=0, lookup_share=1.0, semijoin_share=1.1)
UNITED = Tuning(window_scans=0)  # windows of a default graph are always one relation
NARROW = 1_700_000  # microseconds: elements are seconds apart, and windows are several seconds long


@pytest.fixture(scope="module")
def session(spark: Any) -> Any:
    return private(spark)


def test_answers_stay_the_same_with_eager_choices(session: Any, tmp_path_factory: pytest.TempPathFactory) -> None:
    plans = PlanProbe()

    @given(case=streamed_cases(*WINDOWS))
    @sampled(8)
    def same(case: Case) -> None:
        check(*case, session, tmp_path_factory.mktemp("stream"), tuning=EAGER)

    with probe.probing(plans):
        same()
    assert plans.algorithms


@pytest.mark.parametrize("kinds", [("sliding", "uneven"), WINDOWS], ids=["sliding", "any"])
def test_answers_stay_the_same_in_buckets_that_rows_straddle(
    kinds: tuple[str, ...], session: Any, monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Every join of rows with validity intervals is in buckets, also those of unknown size."""
    plans = PlanProbe()

    def always(join: Join, left: Facts, right: Facts, **_: object) -> Join:
        timed = left.has_intervals and right.has_intervals
        return TimeBucketJoin(join.left, join.right, NARROW) if timed else join

    monkeypatch.setattr(plan_patterns, "choose_join", always)

    @given(case=streamed_cases(*kinds))
    @sampled(6)
    def same(case: Case) -> None:
        check(*case, session, tmp_path_factory.mktemp("stream"))

    with probe.probing(plans):
        same()
    assert TimeBucketJoin in plans.kinds


def test_answers_stay_the_same_with_united_windows(session: Any, tmp_path_factory: pytest.TempPathFactory) -> None:
    @given(case=streamed_cases(*WINDOWS))
    @sampled(8)
    def same(case: Case) -> None:
        check(*case, session, tmp_path_factory.mktemp("stream"), tuning=UNITED)

    same()


@pytest.mark.parametrize("name", sorted(PHYSICAL_CHOICES))
def test_answers_stay_the_same_without_a_choice(
    name: str, session: Any, tmp_path_factory: pytest.TempPathFactory
) -> None:
    @given(case=streamed_cases(*WINDOWS))
    @sampled(2)
    def same(case: Case) -> None:
        check(*case, session, tmp_path_factory.mktemp("stream"), tuning=EAGER, rules=[f"-{name}"])

    same()
