"""One Spark session for all tests, the `jvm` marker, and how hypothesis runs."""

from __future__ import annotations

import gc
import os
import signal
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, settings

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

TESTS = Path(__file__).parent
WITHOUT_JVM = (TESTS / "unit", TESTS / "golden")
SLOWEST_FIRST = ("recovery", "oracle", "examples", "spark")  # folders; the tests of all others take a second or less

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


# Commands that the tests run keep their class-data archives out of the user's cache folder. Workers inherit the place.
if "PENSTOCK_TEST_CACHE" not in os.environ:
    _CACHE = tempfile.TemporaryDirectory(prefix="penstock-cache-", ignore_cleanup_errors=True)
    os.environ["PENSTOCK_TEST_CACHE"] = os.environ["XDG_CACHE_HOME"] = _CACHE.name


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what may start a JVM, by folder, and keep the quick folders quick. Tests that take minutes begin first, so
    that at the end nobody waits for one of them."""
    items.sort(key=_turn)
    for item in items:
        quick = any(folder in item.path.parents for folder in WITHOUT_JVM)
        if quick and "spark" in getattr(item, "fixturenames", ()):
            raise pytest.UsageError(f"{item.nodeid} uses Spark: it belongs into another folder")
        if not quick:
            item.add_marker(pytest.mark.jvm)


def _turn(item: pytest.Item) -> tuple[int, bool]:
    """The place of a test in the order: by folder, and the oracles of Spark's shuffled plan before the others."""
    places = (place for place, folder in enumerate(SLOWEST_FIRST) if TESTS / folder in item.path.parents)
    return next(places, len(SLOWEST_FIRST)), "[shuffled" not in item.name


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> object | None:
    """With `--dist loadscope` a worker that is free takes the next test, or the next module of `tests/spark`, whose
    tests share an engine."""
    if config.getoption("dist") != "loadscope":
        return None
    from tests.support.scheduling import InTurn

    return InTurn(config, log)


def pytest_make_parametrize_id(val: object, argname: str) -> str | None:
    """The argument's name stands for bytes in the name of a test: compressed bytes have the time in them, and workers
    that collect different names refuse to start."""
    return argname if isinstance(val, bytes) else None


def pytest_runtest_teardown(item: pytest.Item) -> None:
    """Handles on Java's objects refer to themselves: until Python finds these circles, Java keeps all plans. Only
    tests with many plans look for them."""
    if item.get_closest_marker("jvm") and {"oracle", "stream"} & set(item.path.parts):
        gc.collect()


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkSession]:
    """The session that all tests share. Start-up dominates small tests, so nobody starts another without a reason."""
    from penstock.spark.session import session

    gc.collect()
    gc.freeze()  # modules and collected tests stay: looking through them would take a tenth of a second after each test
    running = session.start("local[2]", **{"spark.driver.memory": "3g"})
    yield running
    session.stop(running)
