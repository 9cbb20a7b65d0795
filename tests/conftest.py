"""One Spark session for all tests, the `jvm` marker, and how hypothesis runs."""

from __future__ import annotations

import gc
import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, settings

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

TESTS = Path(__file__).parent
WITHOUT_JVM = (TESTS / "unit", TESTS / "golden")

# The first query on Spark takes seconds and the next a few dozen milliseconds, so time says nothing about an example.
# The examples are always the same, so that a failure is of the change at hand; thorough runs look for other ones.
settings.register_profile(
    "ci",
    max_examples=50,
    derandomize=True,
    deadline=None,
    print_blob=True,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.register_profile("thorough", settings.get_profile("ci"), max_examples=2000, derandomize=False)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci"))

# Tests of Ctrl-C: a shell that runs the tests in the background has them start with the signal ignored.
signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what may start a JVM, by folder, and keep the quick folders quick. Tests that take minutes begin first, so
    that at the end nobody waits for one of them."""
    items.sort(key=lambda item: item.path.parent.name != "recovery")
    for item in items:
        quick = any(folder in item.path.parents for folder in WITHOUT_JVM)
        if quick and "spark" in getattr(item, "fixturenames", ()):
            raise pytest.UsageError(f"{item.nodeid} uses Spark: it belongs into another folder")
        if not quick:
            item.add_marker(pytest.mark.jvm)


def pytest_runtest_teardown(item: pytest.Item) -> None:
    """Handles on Java's objects refer to themselves: until Python finds these circles, Java keeps all plans. Looking
    for them takes a tenth of a second, so only tests with many plans do it."""
    if {"oracle", "stream"} & set(item.path.parts):
        gc.collect()


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkSession]:
    """The session that all tests share. Start-up dominates small tests, so nobody starts another without a reason."""
    from penstock.spark.session import session

    running = session.start("local[2]", **{"spark.driver.memory": "3g"})
    yield running
    session.stop(running)
