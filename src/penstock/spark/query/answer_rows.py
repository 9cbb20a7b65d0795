"""The rows of an evaluation, which are computed when they are read."""

from __future__ import annotations

from typing import Protocol

import pyarrow as pa
from pyspark.sql import DataFrame

__all__ = ["AnswerRows", "SparkRows"]


class AnswerRows(Protocol):
    """Rows that are computed when they are read: see `SparkRows`, and `SlicedRows` in `sliced_rows.py`."""

    @property
    def frame(self) -> DataFrame:
        """The rows in Spark."""

    def collect(self) -> pa.Table:
        """Return the rows in the driver."""


class SparkRows:
    """The rows of a query that Spark evaluates."""

    def __init__(self, frame: DataFrame) -> None:
        self.frame = frame

    def collect(self) -> pa.Table:
        return self.frame.toArrow()
