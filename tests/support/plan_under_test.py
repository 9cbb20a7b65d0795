"""The plan that a test is about: slices that DuckDB evaluates in this process, or the shuffled plan of Spark.

Spark takes tenths of a second and more to plan and run a query. An ordinary run therefore evaluates a few examples of
each property by the shuffled plan, in at most two jobs each, and every other example in one slice or in many, not in
both. `make thorough` evaluates every example by each plan. The sample does not change from run to run, and the query
decides, so that a failure can be repeated.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from penstock.algebra import sse
from penstock.algebra.ops import Query
from penstock.algebra.windows import CountWindow
from penstock.optimise import enabled
from penstock.spark.query.continuous_query import ContinuousQuery
from penstock.spark.views.background_tables import BackgroundTables
from penstock.tuning import Tuning
from tests.support.sampling import ORDINARY, OutOfSample

__all__ = [
    "PLANS",
    "as_one_example",
    "begin_test",
    "continuous_query",
    "engine_options",
    "shuffled_queries",
    "spans_in_sample",
    "stated_rows",
    "using",
]

PLANS = {"shuffled": None, "one slice": 10**15, "many slices": 1}  # the elements of a slice
SHUFFLED = 3  # examples of a property that an ordinary run evaluates by the shuffled plan
COMPILED_SHARE = 4  # of the shuffled plans of an ordinary run, one in so many with the settings of its stated size
SHARE = 4  # of the queries of tests that name no plan, an ordinary run evaluates one in so many by the shuffled plan
_MANY = 10**15
_chosen: list[str | None] = [None]
_example: list[int] = []  # the number of the example that all queries belong to
_shuffled: list[int] = []  # the queries of this test that are in the sample of the shuffled plan
_simplest: list[int] = []  # the query of the first example, with which Hypothesis always begins


@contextmanager
def using(plan: str) -> Iterator[None]:
    """Give the queries of the block that plan, as far as it can answer them."""
    _chosen.append(plan)
    yield
    _chosen.pop()


@contextmanager
def as_one_example(query: Query) -> Iterator[None]:
    """Evaluate all queries of the block, or none of them: the given one decides."""
    _example.append(_number(query))
    try:
        yield
    finally:
        _example.pop()


def begin_test() -> None:
    """Start a new sample: one property has been tested, another begins."""
    _shuffled.clear()
    _simplest.clear()


def shuffled_queries() -> int:
    """Return how many queries of this test are in the sample of the shuffled plan."""
    return len(_shuffled)


def continuous_query(
    query: Query, background: BackgroundTables, rules: Sequence[str] | None = None, **options: Any
) -> ContinuousQuery:
    """Return the query with the plan of the test, whatever `rules` say of it.

    Raise `OutOfSample` if an ordinary run does not evaluate it by that plan."""
    number = _example[-1] if _example else _number(query)
    size, names = PLANS[_plan(number, _is_bounded(query))], enabled(rules)
    background.tuning = _tuning(background.tuning, size, number)
    if size is None:
        return ContinuousQuery(query, background, rules=sorted(names - {"sliced_plan"}), **options)
    return ContinuousQuery(query, background, rules=sorted(names | {"sliced_plan"}), local=True, **options)


def engine_options(text: str, rules: Sequence[str]) -> dict[str, Any]:
    """Return the options of an engine with the plan of the test. Many slices are as many as the engine makes, in a job.

    Raise `OutOfSample` if an ordinary run does not evaluate the query by that plan."""
    plan = _plan(zlib.crc32(text.encode()), True)
    if plan == "shuffled":
        return {"rules": [*rules, "-sliced_plan"]}
    return {"rules": rules, "rounds": "auto" if plan == "one slice" else "spark"}


def stated_rows(stated: int, real: int) -> int:
    """Return how many elements the statistics of a stream state: the shuffled plan chooses by them, whether they are
    true or not. Slices get the real number, since each may have a single element."""
    return stated if _chosen[-1] in ("shuffled", None) else real


def spans_in_sample(spans: int) -> int:
    """Return into how many jobs an example is cut that asks for so many."""
    return min(spans, 2) if ORDINARY and _chosen[-1] in ("shuffled", None) else spans


def _tuning(tuning: Tuning, size: int | None, number: int) -> Tuning:
    """Return the thresholds of the plan under test.

    Spark compiles and adapts plans for many rows; that takes seconds, so in an ordinary run most get the settings of
    small jobs. Penstock's own choices go by the stated rows all the same."""
    if size is not None:
        return replace(tuning, slice_elements=size, driver_elements=_MANY, parallel_elements=_MANY)
    if ORDINARY and number % COMPILED_SHARE:
        return replace(tuning, small_job_rows=_MANY)
    return tuning


def _number(query: Query) -> int:
    return zlib.crc32(sse.write(query.pattern).encode())


def _plan(number: int, bounded: bool) -> str:
    """Return the plan of the test for an example of that number; raise `OutOfSample` if it is not in the sample."""
    plan = _chosen[-1]
    if plan is None:
        return "one slice" if ORDINARY and number % SHARE else "shuffled"
    if ORDINARY and not _is_in_sample(plan, number, bounded):
        raise OutOfSample
    return plan


def _is_in_sample(plan: str, number: int, bounded: bool) -> bool:
    """Whether an ordinary run evaluates an example by the plan."""
    if plan == "shuffled":
        return _is_in_shuffled_sample(number)
    return (plan == "many slices") == (bounded and number % 2 == 0)


def _is_in_shuffled_sample(number: int) -> bool:
    """Whether the query is among the first of the test, after the simplest one. A query that was is so again: a
    failure is repeated."""
    if not _simplest:
        _simplest.append(number)
    if number not in _shuffled and number != _simplest[0] and len(_shuffled) < SHUFFLED:
        _shuffled.append(number)
    return number in _shuffled


def _is_bounded(query: Query) -> bool:
    """Whether the windows are bounded in time, so that the query can be cut into slices."""
    windows = [stream.window for stream in query.streams]
    return not any(isinstance(window, CountWindow) or window.range is None for window in windows)
