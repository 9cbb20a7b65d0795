"""A scan for the predicates of a stream without a manifest: Parquet files that the log did not write."""

from __future__ import annotations

from collections.abc import Iterable

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from pyspark.sql import SparkSession

from penstock.io.splits import parquet_file
from penstock.tuning import DEFAULT, Tuning


def predicates(session: SparkSession, paths: tuple[str, ...], tuning: Tuning = DEFAULT) -> frozenset[str] | None:
    """Return the encoded predicates, from the files' statistics or by a job; None if they are too many to be of use."""
    most = tuning.known_predicates
    names = _from_files(paths, tuning.footer_rows) if len(paths) <= tuning.footer_files else None
    if names is None:
        predicates = session.read.parquet(*paths).select("p").distinct().limit(most + 1).toArrow()
        names = frozenset(map(str, predicates.column("p").to_pylist()))
    return None if len(names) > most else names


def _from_files(paths: Iterable[str], most: int) -> frozenset[str] | None:
    """Return the predicates from row groups whose statistics show just one, else from all rows, unless they are
    many."""
    predicates: set[str] = set()
    rows = 0
    try:
        for file in (parquet_file(path, read_dictionary=["p"]) for path in paths):
            for group in range(file.num_row_groups):
                single = _single(file, group)
                rows += 0 if single else file.metadata.row_group(group).num_rows
                if rows > most:
                    return None
                predicates |= {single} if single else _unique(file, group)
    except (OSError, pa.ArrowException):
        return None
    return frozenset(predicates)


def _single(file: pq.ParquetFile, group: int) -> str | None:
    terms = file.metadata.row_group(group).column(file.schema_arrow.get_field_index("p")).statistics
    return str(terms.min) if terms is not None and terms.has_min_max and terms.min == terms.max else None


def _unique(file: pq.ParquetFile, group: int) -> set[str]:
    return set(map(str, pc.unique(file.read_row_group(group, ["p"]).column("p")).to_pylist()))
