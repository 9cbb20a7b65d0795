"""The law of the design where every join of windows is made in buckets of time, which rows straddle."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given

from penstock.compile.operators.physical import time_buckets
from penstock.compile.operators.physical.time_buckets import Buckets
from penstock.compile.relation import Relation
from penstock.model.span import Span
from penstock.spark.session.session import private
from penstock.tuning import Tuning
from tests.oracle.streams import WINDOWS, streamed_cases
from tests.oracle.test_snapshots import Case, check
from tests.support.sampling import sampled

NARROW = 1_700_000  # microseconds: elements are seconds apart, and windows are several seconds long


@pytest.fixture(scope="module")
def session(spark: Any) -> Any:
    return private(spark)


@pytest.mark.parametrize("kinds", [("sliding", "uneven"), WINDOWS], ids=["sliding", "any"])
def test_answers_stay_the_same(
    kinds: tuple[str, ...], session: Any, monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory
) -> None:
    made = 0

    def always(left: Relation, right: Relation, span: Span | None, _: Tuning) -> Buckets | None:
        nonlocal made
        if span is None or not (left.timed and right.timed):
            return None
        made += 1
        return Buckets(NARROW, span)

    monkeypatch.setattr(time_buckets, "choose", always)

    @given(case=streamed_cases(*kinds))
    @sampled(6)
    def same(case: Case) -> None:
        check(*case, session, tmp_path_factory.mktemp("stream"))

    same()
    assert made >= 2
