"""Which predicates a stream has, where no manifest says so: Parquet that was not written by the log."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from pyspark.sql import SparkSession

from penstock.io.splits import filesystem
from penstock.spark.triples import MOST_PREDICATES

_FEW_FILES = 64  # whose footers are read here
_FEW_ROWS = 10_000_000  # whose predicates are: numbers and a short dictionary, quicker than a job


def predicates(session: SparkSession, paths: tuple[str, ...]) -> frozenset[str] | None:
    """The encoded predicates, from the files' statistics or by a job; None if there are too many to be of use."""
    found = _from_files(paths) if len(paths) <= _FEW_FILES else None
    if found is None:
        some = session.read.parquet(*paths).select("p").distinct().limit(MOST_PREDICATES + 1).toArrow()
        found = frozenset(map(str, some.column("p").to_pylist()))
    return None if len(found) > MOST_PREDICATES else found


def _from_files(paths: Iterable[str]) -> frozenset[str] | None:
    try:
        return _from_footers(paths) or _from_columns(paths)
    except (OSError, pa.ArrowException):
        return None


def _from_footers(paths: Iterable[str]) -> frozenset[str] | None:
    """Known where every row group has just one."""
    bounds = {bound for path in paths for bound in _bounds(path)}
    return None if None in bounds else frozenset(map(str, bounds))


def _bounds(path: str) -> Iterator[str | None]:
    with _opened(path) as file:
        for group in range(file.num_row_groups):
            found = file.metadata.row_group(group).column(file.schema_arrow.get_field_index("p")).statistics
            yield found.min if found is not None and found.has_min_max and found.min == found.max else None


def _from_columns(paths: Iterable[str]) -> frozenset[str] | None:
    """By looking at all rows, unless they are many."""
    found: set[str] = set()
    rows = 0
    for path in paths:
        with _opened(path) as file:
            rows += file.metadata.num_rows
            if rows > _FEW_ROWS:
                return None
            for group in range(file.num_row_groups):
                found.update(map(str, pc.unique(file.read_row_group(group, ["p"]).column("p")).to_pylist()))
    return frozenset(found)


def _opened(path: str) -> pq.ParquetFile:
    system, inside = filesystem(path)
    return pq.ParquetFile(system.open_input_file(inside), read_dictionary=["p"])
