"""Files of a stream's elements as a Spark job: every task reads a piece on its own, by `pyarrow` and not by the JVM.

Into the log, each task writes its Parquet file itself as well, and only what is known of that file comes back: no
element ever crosses into the JVM. The code travels by value, so a worker needs numpy, pyarrow and pyoxigraph only.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict
from os import PathLike
from typing import Any, TypeAlias, TypeVar

import pyarrow as pa
from pyspark import cloudpickle
from pyspark.sql import DataFrame, SparkSession

from penstock import errors
from penstock.errors import LoadError
from penstock.io import (
    columns,
    graphs,
    graphs_feed,
    graphs_times,
    nquads,
    nquads_block,
    nquads_fast,
    nquads_grammar,
    nquads_slow,
    nquads_terms,
    nquads_time,
    splits,
)  # fmt: skip
from penstock.io.graphs import DOCUMENTS, Documents
from penstock.io.nquads import BadLine
from penstock.io.splits import Split
from penstock.spark import chain_part, replay_part, sketch
from penstock.spark.replay_part import Part, write_part

__all__ = ["Part", "job", "write"]

_TRAVELLING = (
    chain_part, columns, errors, graphs, graphs_feed, graphs_times, nquads, nquads_block, nquads_fast, nquads_grammar,
    nquads_slow, nquads_terms, nquads_time, replay_part, sketch, splits,
)  # fmt: skip

Batches: TypeAlias = Iterable[pa.RecordBatch]
P = TypeVar("P")


def write(
    session: SparkSession,
    pieces: Sequence[Split],
    stream: str,
    folder: str | PathLike[str],
    stamp: int | None = None,
    documents: Documents = DOCUMENTS,
) -> list[Part]:
    """Each piece as `part-00000.parquet` and so on in the folder, and what is known of these files, in order.

    A task that runs again replaces what it wrote before. `LoadError` if a piece cannot be read.
    """
    place = splits.absolute(folder)
    system, path = splits.filesystem(place)
    system.create_dir(path)

    def work(number: int, piece: Split) -> Iterator[pa.RecordBatch]:
        target = f"{place}/part-{number:05}.parquet"
        try:
            found: dict[str, Any] = asdict(write_part(piece, stream, target, stamp, documents))
        except LoadError as error:
            found = {"error": str(error)}
        yield pa.RecordBatch.from_pydict({"number": [number], "part": [json.dumps(found)]})

    rows = job(session, pieces, work, "number bigint, part string").collect()
    return [_part(json.loads(row.part)) for row in sorted(rows, key=lambda row: int(row.number))]


def job(
    session: SparkSession, pieces: Sequence[P], work: Callable[[int, P], Iterator[pa.RecordBatch]], columns: str
) -> DataFrame:
    """The rows of all tasks: one for every piece, with its number."""
    given = list(pieces)

    def run(batches: Batches) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for number in batch.column("id").to_numpy():
                yield from work(int(number), given[number])

    for module in (*_TRAVELLING, sys.modules[__name__]):
        cloudpickle.register_pickle_by_value(module)  # type: ignore[no-untyped-call]
    return session.range(0, len(given), 1, max(1, len(given))).mapInArrow(run, columns)


def _part(found: dict[str, Any]) -> Part:
    if "error" in found:
        raise LoadError(found["error"])
    return Part(**found | {"bad": [BadLine(**line) for line in found["bad"]]})
