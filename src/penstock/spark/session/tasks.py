"""Python tasks on Spark's workers: one task for every piece of work."""

from __future__ import annotations

import gc
import hashlib
import pickle
import sys
import zlib
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from types import MappingProxyType, ModuleType
from typing import Any, TypeAlias, TypeVar
from weakref import WeakKeyDictionary

import pyarrow as pa
from pyspark import RDD, SparkContext, cloudpickle
from pyspark.core.broadcast import Broadcast
from pyspark.sql import DataFrame, SparkSession

__all__ = ["ShareWork", "Work", "by_value", "collect", "run"]

P = TypeVar("P")
T = TypeVar("T")
Batches: TypeAlias = Iterable[pa.RecordBatch]
Work: TypeAlias = Callable[[int, P], Iterator[pa.RecordBatch]]
"""Makes rows from a piece and its number."""
ShareWork: TypeAlias = Callable[[bytes, Mapping[int, pa.Table]], Iterable[T]]
"""Makes results from a share of work, and from large tables that the worker keeps."""

_KEPT = "penstock_kept_by_worker"  # a module of a worker, with the code that it has loaded
_EMPTY: WeakKeyDictionary[SparkContext, dict[int, RDD[Any]]] = WeakKeyDictionary()


def run(
    session: SparkSession, pieces: Sequence[P], work: Work[P], columns: str, modules: Iterable[ModuleType]
) -> DataFrame:
    """Return the rows of all tasks. Code of `modules` is sent by value: a worker need not have Penstock installed."""
    given = list(pieces)

    def task(batches: Batches) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for number in batch.column("id").to_numpy():
                yield from work(int(number), given[number])

    by_value(*modules, sys.modules[__name__])
    return session.range(0, len(given), 1, max(1, len(given))).mapInArrow(task, columns)


def collect(
    context: SparkContext,
    shares: Sequence[bytes],
    work: ShareWork[T],
    modules: tuple[ModuleType, ...],
    large: Mapping[int, Broadcast[pa.Table]] = MappingProxyType({}),
) -> list[T]:
    """Run a job with a task for every share, and return all that the tasks return. `large` has tables that they read.

    The quickest way through Spark: nothing is planned, and a worker loads the code of `work` once. That is for small
    jobs, which come again and again.
    """
    (digest, code), given, tables = _code(work, modules), list(shares), dict(large)

    def task(number: int, nothing: Iterable[object]) -> Iterable[T]:
        deque(nothing, maxlen=0)  # a worker that has not read to the end is ended, and the next job starts another
        results: Iterable[T] = _kept(digest, code)(given[number], {key: sent.value for key, sent in tables.items()})
        return results

    by_value(sys.modules[__name__])
    return _empty(context, len(given)).mapPartitionsWithIndex(task).collect()


@cache
def _code(work: ShareWork[T], modules: tuple[ModuleType, ...]) -> tuple[str, bytes]:
    """Return a digest of the code of a function, and the code, compressed: it goes to Java as text with every job."""
    by_value(*modules)
    code: bytes = zlib.compress(cloudpickle.dumps(work))
    return hashlib.sha256(code).hexdigest(), code


def _kept(digest: str, code: bytes) -> ShareWork[Any]:
    """Return the function with that code. It is loaded once by a worker, and its globals last as long as the worker.

    A worker collects garbage after every task. The modules that are loaded by now are never garbage: looking through
    them would take some tens of milliseconds of a core each time."""
    kept = sys.modules.setdefault(_KEPT, ModuleType(_KEPT)).__dict__
    if digest not in kept:
        kept[digest] = pickle.loads(zlib.decompress(code))
        gc.freeze()
    function: ShareWork[Any] = kept[digest]
    return function


def _empty(context: SparkContext, partitions: int) -> RDD[Any]:
    """Return a data set without rows, with that many partitions: making one takes some milliseconds."""
    by_size = _EMPTY.setdefault(context, {})
    if partitions not in by_size:
        by_size[partitions] = context.parallelize([], partitions)
    return by_size[partitions]


def by_value(*modules: ModuleType) -> None:
    """Make cloudpickle send the code of these modules along with functions that use it."""
    for module in modules:
        cloudpickle.register_pickle_by_value(module)
