"""The plan of continuous queries: modules that use the fixture run on each plan."""

from __future__ import annotations

import logging
from collections.abc import Iterator

import pytest

from tests.support.plan_under_test import PLANS, begin_test, shuffled_queries, using
from tests.support.sampling import ORDINARY


class Refusals(logging.Handler):
    """The texts that DuckDB refuses: such a query falls back to the shuffled plan, and the dialect has a gap."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        if "DuckDB refuses" in record.getMessage():
            self.found.append(record.getMessage())


@pytest.fixture(autouse=True)
def _no_refusal() -> Iterator[None]:
    """Fail a test in which a query falls back because of the SQL that it became."""
    optimiser, refusals = logging.getLogger("penstock.optimiser"), Refusals()
    level = optimiser.level
    optimiser.setLevel(logging.INFO)
    optimiser.addHandler(refusals)
    yield
    optimiser.removeHandler(refusals)
    optimiser.setLevel(level)
    assert refusals.found == []


@pytest.fixture(autouse=True)
def _sample(request: pytest.FixtureRequest) -> Iterator[None]:
    """Start a new sample of shuffled plans, and fail a property of which none is in it."""
    begin_test()
    yield
    parameters = request.node.callspec.params if hasattr(request.node, "callspec") else {}
    if ORDINARY and parameters.get("plan") == "shuffled" and hasattr(request.function, "hypothesis"):
        assert shuffled_queries() > 0


@pytest.fixture(scope="module", params=PLANS)
def plan(request: pytest.FixtureRequest) -> Iterator[None]:
    """Each test of a module once with each plan."""
    with using(request.param):
        yield
