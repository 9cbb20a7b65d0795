"""Dictionary-encoded rows of a static view in the driver, from which rows are looked up by term without a Spark job."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from penstock.compile.relation import Terms

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

__all__ = ["DictionaryEncodedRows", "collect_packed", "dictionary_encoded", "distinct_terms"]


@dataclass(frozen=True, slots=True)
class DictionaryEncodedRows:
    """Rows with numbers in place of terms, and a dictionary of terms for each column.

    `hashed` is an index by column: the hashes of the terms in ascending order, and the number of each.
    """

    table: pa.Table
    hashed: dict[str, tuple[np.ndarray, np.ndarray]] = field(default_factory=dict)

    def with_terms(self, wanted: Mapping[str, Terms]) -> pa.Table:
        """Return the rows that have one of the given terms in each of the given columns, decoded."""
        places = None
        for column, terms in sorted(wanted.items(), key=lambda item: len(item[1])):
            coded = self._coded(column)
            among = np.zeros(len(coded.dictionary), bool)
            among[self._numbers(column, terms)] = True
            numbers = coded.indices.to_numpy()
            places = np.flatnonzero(among[numbers]) if places is None else places[among[numbers[places]]]
        rows = self.table if places is None else self.table.take(places)
        return pa.table([part.cast(pa.string()) for part in rows.columns], names=rows.column_names)

    def _numbers(self, column: str, terms: Terms) -> np.ndarray:
        """Return the numbers of those terms that occur in the column."""
        if column not in self.hashed:
            hashes = _hashes(self._coded(column).dictionary)
            order = np.argsort(hashes)
            self.hashed[column] = hashes[order], order.astype(np.int32)
        hashes, order = self.hashed[column]
        asked = pa.array(terms, pa.string())
        first, beyond = (np.searchsorted(hashes, _hashes(asked), side) for side in ("left", "right"))
        alike = [order[first[first + i < beyond] + i] for i in range(max(beyond - first, default=0))]
        numbers = np.unique(np.concatenate([*alike, np.zeros(0, np.int32)]))
        likely = self._coded(column).dictionary.take(pa.array(numbers))
        same: np.ndarray = np.asarray(pc.is_in(likely, value_set=asked), bool)  # terms with an equal hash may differ
        return np.asarray(numbers[same])

    def _coded(self, column: str) -> pa.DictionaryArray[Any, Any]:
        whole = self.table.column(column)
        coded = whole.chunk(0) if whole.num_chunks == 1 else whole.combine_chunks()
        assert isinstance(coded, pa.DictionaryArray)
        return coded


def _hashes(terms: pa.Array[Any]) -> np.ndarray:
    import pandas as pd  # the import takes half a second, which a run without look-ups need not wait for

    return pd.util.hash_array(terms.to_numpy(zero_copy_only=False), categorize=False)


def collect_packed(frame: DataFrame, rows: int) -> DictionaryEncodedRows | None:
    """Collect the rows of a frame through a Parquet file, dictionary-encoded; None if the driver cannot read the
    file."""
    names = frame.columns
    with TemporaryDirectory(prefix="penstock-") as folder:
        frame.toDF(*map(str, range(len(names)))).write.mode("overwrite").parquet(folder)
        try:
            table = pq.read_table(folder, read_dictionary=[str(i) for i in range(len(names))])
        except (OSError, pa.ArrowException):
            return None
    packed = table.rename_columns(names).unify_dictionaries().combine_chunks()
    return DictionaryEncodedRows(packed) if packed.num_rows == rows else None


def dictionary_encoded(table: pa.Table) -> DictionaryEncodedRows:
    """Return the table with each column dictionary-encoded."""
    columns = [column.combine_chunks().dictionary_encode() for column in table.columns]
    return DictionaryEncodedRows(pa.table(columns, names=table.column_names))


def distinct_terms(table: pa.Table, columns: Iterable[str]) -> dict[str, Terms]:
    """Return the distinct terms of each of the columns."""
    return {column: frozenset(map(str, pc.unique(table.column(column)).to_pylist())) for column in columns}
