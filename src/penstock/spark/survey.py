"""Which predicates a stream has, where no manifest says so: Parquet that was not written by the log."""

from __future__ import annotations

from collections.abc import Iterable

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import SparkSession

from penstock.io.splits import filesystem
from penstock.spark.triples import MOST_PREDICATES

_FEW_FILES = 64  # whose footers are read here


def predicates(session: SparkSession, paths: tuple[str, ...]) -> frozenset[str] | None:
    """The encoded predicates, from the files' statistics or by a job; None if there are too many to be of use."""
    single = _from_footers(paths) if len(paths) <= _FEW_FILES else None
    if single is not None:
        return single
    found = session.read.parquet(*paths).select("p").distinct().limit(MOST_PREDICATES + 1).toArrow()
    return None if found.num_rows > MOST_PREDICATES else frozenset(map(str, found.column("p").to_pylist()))


def _from_footers(paths: Iterable[str]) -> frozenset[str] | None:
    """Known where every row group has just one."""
    try:
        bounds = {bound for path in paths for bound in _bounds(path)}
    except (OSError, pa.ArrowException):
        return None
    return None if None in bounds else frozenset(str(bound) for bound in bounds)


def _bounds(path: str) -> Iterable[str | None]:
    system, inside = filesystem(path)
    with system.open_input_file(inside) as file:
        meta = pq.read_metadata(file)
    column = next(i for i in range(meta.num_columns) if meta.schema.column(i).name == "p")
    for group in range(meta.num_row_groups):
        found = meta.row_group(group).column(column).statistics
        yield found.min if found is not None and found.has_min_max and found.min == found.max else None
