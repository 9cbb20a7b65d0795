"""Files of a stream's elements as a Spark job: every task reads a piece on its own, by `pyarrow` and not by the JVM.

Each task writes its Parquet file to the log itself, and returns only the statistics of that file: no element ever
crosses into the JVM. The code travels by value, so a worker needs numpy, pyarrow and pyoxigraph only.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from os import PathLike
from types import ModuleType
from typing import Any

import pyarrow as pa
from pyspark.sql import SparkSession

from penstock import errors
from penstock import tuning as thresholds
from penstock.errors import LoadError
from penstock.io import (
    columns,
    graphs,
    graphs_feed,
    graphs_times,
    lines,
    nquads,
    nquads_block,
    nquads_fast,
    nquads_grammar,
    nquads_reasons,
    nquads_slow,
    nquads_terms,
    nquads_time,
    splits,
)  # fmt: skip
from penstock.io.graphs import DOCUMENTS, Documents
from penstock.io.message_logs import contexts
from penstock.io.nquads import BadLine
from penstock.io.splits import Split
from penstock.model import hyperloglog
from penstock.model import stretches as time_stretches
from penstock.model.stretches import Stretch
from penstock.spark.session import tasks
from penstock.stream.ingest import load_task
from penstock.stream.ingest.load_task import LoadedFile, write_part
from penstock.tuning import DEFAULT, Tuning

__all__ = ["LoadedFile", "modules", "write"]

_TRAVELLING = (
    columns, contexts, errors, graphs, graphs_feed, graphs_times, lines, nquads, nquads_block, nquads_fast,
    nquads_grammar, nquads_reasons, nquads_slow, nquads_terms, nquads_time, load_task, hyperloglog, splits, thresholds,
    time_stretches,
)  # fmt: skip


def modules() -> tuple[ModuleType, ...]:
    """The modules that a task of a load needs; they are sent to workers by value."""
    return (*_TRAVELLING, sys.modules[__name__])


def write(
    session: SparkSession,
    pieces: Sequence[Split],
    stream: str,
    folder: str | PathLike[str],
    stamp: int | None = None,
    documents: Documents = DOCUMENTS,
    tuning: Tuning = DEFAULT,
) -> list[LoadedFile]:
    """Write each piece as `part-00000.parquet` and so on in the folder; returns the files with their statistics.

    A task that runs again replaces its file. `LoadError` if a piece cannot be read.
    """
    place = splits.absolute(folder)
    system, path = splits.filesystem(place)
    system.create_dir(path)

    def work(number: int, piece: Split) -> Iterator[pa.RecordBatch]:
        target = f"{place}/part-{number:05}.parquet"
        try:
            result: dict[str, Any] = asdict(write_part(piece, stream, target, stamp, documents, tuning))
        except LoadError as error:
            result = {"error": str(error)}
        yield pa.RecordBatch.from_pydict({"number": [number], "part": [json.dumps(result)]})

    rows = tasks.run(session, pieces, work, "number bigint, part string", modules()).collect()
    return [_part(json.loads(row.part)) for row in sorted(rows, key=lambda row: int(row.number))]


def _part(result: dict[str, Any]) -> LoadedFile:
    if "error" in result:
        raise LoadError(result["error"])
    stretches = tuple(Stretch(*one) for one in result["stretches"])
    return LoadedFile(**result | {"bad": [BadLine(**line) for line in result["bad"]], "stretches": stretches})
