"""Generated queries on generated data: Penstock's whole compiler against pyoxigraph, an independent engine.

A failure prints data and query; keep it as `cases/NAME.trig` and `cases/NAME.rq`.
"""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given

import penstock
from tests.oracle.compare import difference
from tests.oracle.data import Data
from tests.oracle.strategies import Generated, cases
from tests.support.sampling import sampled

CASES = sorted((Path(__file__).parent / "cases").glob("*.rq"))


def check(data: Data, query: Generated, spark: Any, rules: Collection[str] | None = None) -> None:
    """Ask both engines; fail with everything needed to keep the case."""
    quads = data.quads()
    with penstock.Engine(background="spark", spark=spark, rules=rules) as engine:
        engine.load(quads)
        answer = engine.query(query.text)
        found = difference(answer, query, quads)
    assert found is None, f"{found}\n\n{query.text}\n\n{data.text}"


@given(case=cases())
@sampled(150)
def test_generated_queries(case: tuple[Data, Generated], spark: Any) -> None:
    check(*case, spark)


@pytest.mark.parametrize("path", CASES, ids=lambda path: path.stem)
def test_kept_cases(path: Path, spark: Any) -> None:
    text = path.read_text("utf-8")
    check(Data(path.with_suffix(".trig").read_text("utf-8")), Generated(text, text), spark)
