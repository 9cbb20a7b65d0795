"""The plan of continuous queries: modules that use the fixture run on each plan."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.support.plan_under_test import PLANS, using


@pytest.fixture(scope="module", params=PLANS)
def plan(request: pytest.FixtureRequest) -> Iterator[None]:
    """Each test of a module once with each plan."""
    with using(request.param):
        yield
