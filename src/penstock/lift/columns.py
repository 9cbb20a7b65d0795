"""Columns of values and of terms, each with the record that it belongs to, and their products record by record."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any, TypeAlias, cast

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from penstock.io.nquads_block import Mask
from penstock.io.nquads_terms import replaced

__all__ = [
    "BOOLEAN", "DOUBLE", "INTEGER", "TEXT", "Column", "Ints", "Kinds", "Mask", "first_bytes", "joined", "mapped",
    "matching", "matching_rows", "repeated", "replaced", "strings",
]  # fmt: skip

Ints: TypeAlias = npt.NDArray[np.int64]
Kinds: TypeAlias = npt.NDArray[np.uint8]

TEXT, INTEGER, DOUBLE, BOOLEAN = range(4)  # kinds of values, as JSON tells them apart


@dataclass(frozen=True, slots=True)
class Column:
    """Values of records: the record of each, in ascending order, its text, and its kind (None: all are text).

    A record without a value has no row, and one with several has several.
    """

    rows: Ints
    texts: pa.StringArray
    kinds: Kinds | None = None

    def take(self, places: Ints | Mask) -> Column:
        """The values at these places, or where the mask is true."""
        chosen = np.flatnonzero(places) if places.dtype == np.bool_ else cast(Ints, places)
        kinds = None if self.kinds is None else self.kinds[chosen]
        return Column(self.rows[chosen], self.texts.take(chosen), kinds)

    def of_kind(self, kind: int) -> Column:
        """The values of one kind."""
        if self.kinds is None:
            return self if kind == TEXT else self.take(np.zeros(0, np.int64))
        return self.take(self.kinds == kind)

    @staticmethod
    def empty() -> Column:
        return Column(np.zeros(0, np.int64), strings([]))

    @staticmethod
    def merged(columns: Sequence[Column]) -> Column:
        """All values of several columns, by record; those of the same record in the order of the columns."""
        columns = [column for column in columns if len(column.rows)] or [Column.empty()]
        if len(columns) == 1:
            return columns[0]
        kinds = [np.zeros(len(c.rows), np.uint8) if c.kinds is None else c.kinds for c in columns]
        texts = pa.concat_arrays([column.texts for column in columns])
        whole = Column(np.concatenate([column.rows for column in columns]), texts, np.concatenate(kinds))
        return whole.take(np.argsort(whole.rows, kind="stable").astype(np.int64))


def strings(values: Sequence[str | None]) -> pa.StringArray:
    """An Arrow column of texts."""
    return pa.array(values, pa.string())


def repeated(value: str, count: int) -> pa.StringArray:
    """A column with the same text throughout."""
    return pa.repeat(pa.scalar(value, pa.string()), count)


def joined(*parts: pa.StringArray | str) -> pa.StringArray:
    """The texts of each row, one after the other; a part may be the same text for all rows."""
    given: list[Any] = [pa.scalar(part, pa.string()) if isinstance(part, str) else part for part in parts]
    return cast(pa.StringArray, pc.binary_join_element_wise(*given, pa.scalar("", pa.string())))


def matching(texts: pa.StringArray, pattern: str) -> Mask:
    """Whether each text has a match of the expression, in the syntax of RE2."""
    return cast(Mask, pc.match_substring_regex(texts, pattern).to_numpy(zero_copy_only=False).astype(np.bool_))


def mapped(texts: pa.StringArray, function: Callable[[str], str | None]) -> pa.StringArray:
    """The column with a function applied to each text, which is called once for equal ones; None is NULL."""
    encoded = texts.dictionary_encode()
    return strings([function(str(text)) for text in encoded.dictionary.to_pylist()]).take(encoded.indices)


def first_bytes(texts: pa.StringArray) -> Kinds:
    """The first byte of each text, none of which is empty or NULL."""
    _, offsets, data = cast(list[pa.Buffer], texts.buffers())
    starts = np.frombuffer(memoryview(offsets), np.int32)[texts.offset : texts.offset + len(texts)]
    return np.frombuffer(memoryview(data), np.uint8)[starts] if len(texts) else np.zeros(0, np.uint8)


def matching_rows(columns: Sequence[Ints]) -> list[Ints]:
    """The places in each of some columns of records that belong together: all combinations of the same record.

    Equal columns without repetitions, as most are, belong together as they stand.
    """
    first = columns[0]
    if all(rows is first or np.array_equal(rows, first) for rows in columns[1:]) and _distinct(first):
        return [np.arange(len(first))] * len(columns)
    return reduce(_with_column, columns[1:], ([np.arange(len(first))], first))[0]


def _with_column(so_far: tuple[list[Ints], Ints], rows: Ints) -> tuple[list[Ints], Ints]:
    places, left = so_far
    starts, ends = np.searchsorted(rows, left, "left"), np.searchsorted(rows, left, "right")
    counts = ends - starts
    copies = np.repeat(np.arange(len(left)), counts)
    right = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts - starts, counts)
    return [*(place[copies] for place in places), right], left[copies]


def _distinct(rows: Ints) -> bool:
    return len(rows) < 2 or bool((rows[1:] > rows[:-1]).all())
