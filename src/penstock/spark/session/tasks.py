"""Python tasks on Spark's workers: one task for every piece of work, which returns Arrow batches."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from types import ModuleType
from typing import TypeAlias, TypeVar

import pyarrow as pa
from pyspark import cloudpickle
from pyspark.sql import DataFrame, SparkSession

__all__ = ["Work", "by_value", "run"]

P = TypeVar("P")
Batches: TypeAlias = Iterable[pa.RecordBatch]
Work: TypeAlias = Callable[[int, P], Iterator[pa.RecordBatch]]
"""Makes rows from a piece and its number."""


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


def by_value(*modules: ModuleType) -> None:
    """Make cloudpickle send the code of these modules along with functions that use it."""
    for module in modules:
        cloudpickle.register_pickle_by_value(module)  # type: ignore[no-untyped-call]
