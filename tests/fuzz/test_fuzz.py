"""Some thousand inputs that are the same in each run; `make fuzz` tries others for an hour."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.fuzz import TARGETS
from tests.fuzz.harness import attempt

PARTS = 5  # of a target, so that they run in parallel


@pytest.mark.parametrize("part", range(PARTS))
@pytest.mark.parametrize("name", TARGETS)
def test_an_answer_or_an_error_of_penstock(name: str, part: int, tmp_path: Path) -> None:
    target = TARGETS[name]
    tried = [attempt(target, 0, number, tmp_path) for number in range(part, target.quick, PARTS)]
    assert len(tried) == len(range(part, target.quick, PARTS))
    assert [str(fault) for fault in tried if fault is not None] == []
