"""No rule changes an answer: each one switched off alone, and all of them, against the same independent engine."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import pytest
from hypothesis import given

from penstock.optimise import ALL_RULES
from tests.oracle.data import Data
from tests.oracle.strategies import Generated, cases
from tests.oracle.test_oracle import check
from tests.support.sampling import sampled

REMAINING: dict[str, list[str]] = {f"without {rule.name}": [f"-{rule.name}"] for rule in ALL_RULES}


@pytest.mark.parametrize("rules", [*REMAINING.values(), []], ids=[*REMAINING, "without any"])
def test_answers_stay_the_same(rules: Collection[str], spark: Any) -> None:
    @given(case=cases())
    @sampled(8)
    def same(case: tuple[Data, Generated]) -> None:
        check(*case, spark, rules)

    same()
