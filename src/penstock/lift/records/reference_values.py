"""The values of a reference in a batch of records: texts, and objects of JSON with their records."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, TypeAlias

import numpy as np

from penstock.lift.columns import Column, Ints
from penstock.lift.records.jsonpath import JsonPath
from penstock.lift.records.xpath import XPath

__all__ = ["NO_ROWS", "Records", "Reference", "ReferenceValues"]

Reference: TypeAlias = JsonPath | XPath | str
"""A value of a record: a path in JSON or XML, or the name of a column of CSV."""

NO_ROWS: Ints = np.zeros(0, np.int64)


@dataclass(frozen=True, slots=True)
class ReferenceValues:
    """The values of a reference. Of JSON also the objects, each with the record in which it is (`object_rows`), and
    the records that have an array there (`array_rows`), whose items are among the others, or a null (`null_rows`)."""

    column: Column
    object_rows: Ints
    objects: Records | None
    array_rows: Ints
    null_rows: Ints

    @staticmethod
    def plain(column: Column) -> ReferenceValues:
        """Values alone."""
        return ReferenceValues(column, NO_ROWS, None, NO_ROWS, NO_ROWS)


class Records(Protocol):
    """Records of a batch, each with the number of its message in the batch."""

    messages: Ints

    def find(self, references: Sequence[Reference]) -> list[ReferenceValues]:
        """The values of each of the references."""
        ...

    def names(self) -> list[str]:
        """The names that the first record has, for suggestions."""
        ...
