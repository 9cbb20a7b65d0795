"""Moments with a time zone and without, in DuckDB's dialect; `tests/spark/compile` has the same cases on Spark."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.support.dialects import compiled, duckdb_rows
from tests.support.evaluations import Cases, with_constants, with_variables
from tests.support.unordered_moments import UNORDERED


@pytest.mark.parametrize("manner", [with_constants, with_variables], ids=["constants", "variables"])
def test_moments_without_an_order_are_neither_equal_nor_unequal(manner: Callable[[Cases], str]) -> None:
    rows = duckdb_rows(compiled(manner(UNORDERED)))
    found = {int(i.partition('"')[2].partition('"')[0]): r for i, r in rows}
    answers = {case: found[i] if found[i] is None else found[i].split('"')[1] for i, case in enumerate(UNORDERED)}
    assert answers == UNORDERED
