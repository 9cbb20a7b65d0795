"""Rows of a part that was answered before, packed so that those with some terms are found without a job."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from tempfile import TemporaryDirectory

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from pyspark.sql import DataFrame

from penstock.spark.relation import Terms

__all__ = ["brought", "packed", "terms_in", "with_terms"]


def brought(frame: DataFrame, rows: int) -> pa.Table | None:
    """The so many rows of a frame, packed on their way through a file; None where that is not one that both can see."""
    names = frame.columns
    with TemporaryDirectory(prefix="penstock-") as folder:
        frame.toDF(*map(str, range(len(names)))).write.mode("overwrite").parquet(folder)
        try:
            table = pq.read_table(folder, read_dictionary=[str(i) for i in range(len(names))])
        except (OSError, pa.ArrowException):
            return None
    found = table.rename_columns(names).unify_dictionaries().combine_chunks()
    return found if found.num_rows == rows else None


def packed(table: pa.Table) -> pa.Table:
    """Each term once: rows have its number."""
    columns = [column.combine_chunks().dictionary_encode() for column in table.columns]
    return pa.table(columns, names=table.column_names)


def terms_in(table: pa.Table, columns: Iterable[str]) -> dict[str, Terms]:
    """The terms that stand in these columns."""
    return {column: frozenset(map(str, pc.unique(table.column(column)).to_pylist())) for column in columns}


def with_terms(table: pa.Table, wanted: Mapping[str, Terms]) -> pa.Table:
    """The rows of what was packed that have one of these terms in each of these columns, unpacked."""
    found = np.ones(table.num_rows, bool)
    for column, some in wanted.items():
        coded = table.column(column).combine_chunks()
        assert isinstance(coded, pa.DictionaryArray)
        among = np.asarray(pc.is_in(coded.dictionary, value_set=pa.array(some, pa.string())))
        found &= among[coded.indices.to_numpy()]
    rows = table.filter(pa.array(found))
    return pa.table([part.cast(pa.string()) for part in rows.columns], names=table.column_names)
