"""The plan that a test is about: slices that DuckDB evaluates in this process, or the shuffled plan of Spark.

Spark takes tenths of a second to plan a query, so an ordinary run evaluates one generated query in three by the
shuffled plan; `make thorough` evaluates all. The query itself decides, so that a failure can be repeated and reduced.
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
from tests.support.sampling import ORDINARY

__all__ = ["PLANS", "continuous_query", "stated_rows", "using"]

PLANS = {"shuffled": None, "one slice": 10**15, "many slices": 1}  # the elements of a slice
SHUFFLED_SHARE = 3  # one query in so many
_chosen = ["shuffled"]


@contextmanager
def using(plan: str) -> Iterator[None]:
    """Give the queries of the block that plan, as far as it can answer them."""
    _chosen.append(plan)
    yield
    _chosen.pop()


def continuous_query(
    query: Query, background: BackgroundTables, rules: Sequence[str] | None = None, **options: Any
) -> ContinuousQuery:
    """Return the query with the plan of the test, whatever `rules` say of it."""
    plan = "one slice" if _is_left_to_one_slice(query) else _chosen[-1]
    size, names = PLANS[plan], enabled(rules)
    if size is None:
        return ContinuousQuery(query, background, rules=sorted(names - {"sliced_plan"}), **options)
    background.tuning = replace(
        background.tuning, slice_elements=size, slice_overlaps=1, driver_elements=10**15, parallel_elements=10**15
    )
    return ContinuousQuery(query, background, rules=sorted(names | {"sliced_plan"}), local=True, **options)


def stated_rows(stated: int, real: int) -> int:
    """Return how many elements the statistics of a stream state: the shuffled plan chooses by them, whether they are
    true or not. Slices get the real number, since each may have a single element."""
    return stated if _chosen[-1] == "shuffled" else real


def _is_left_to_one_slice(query: Query) -> bool:
    """Whether an ordinary run spares Spark the query: it plans some of the shuffled ones, and none of those that have
    to be one slice, since a window has no bound in time."""
    if not ORDINARY:
        return False
    if _chosen[-1] == "many slices":
        return any(isinstance(stream.window, CountWindow) or stream.window.range is None for stream in query.streams)
    return _chosen[-1] == "shuffled" and zlib.crc32(sse.write(query.pattern).encode()) % SHUFFLED_SHARE != 0
