"""Scans of streams: the elements as views that all queries of a round share.

A few elements are read by the driver and sent along with each plan: Spark then knows their number, and opens no file.
Many elements are read by Spark from their files.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable, Iterable, Sequence
from functools import partial
from urllib.parse import unquote

import numpy as np
import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession

from penstock.compile import sql
from penstock.io.columns import LOGGED, ddl, logged
from penstock.io.splits import parquet_file
from penstock.model.span import Span
from penstock.model.stream_files import StreamFiles
from penstock.spark.session.catalog import catalog, frame
from penstock.spark.views.view_cache import ViewCache
from penstock.tuning import DEFAULT, Tuning

__all__ = ["StreamScans", "arrival_order"]

_SCHEMA = ddl(LOGGED)
_PATH = sql.column("_metadata", "file_path")
_AFTER_SCHEME = sql.call("substr", _PATH, sql.call("instr", _PATH, sql.text(":")) + 1)
_WITHOUT_SCHEME = sql.call("ltrim", _AFTER_SCHEME, sql.text("/"))  # Spark has file:/a here and file:///a there

Times = tuple[Span, ...] | None


class StreamScans:
    """The views of streams, by files, order and times, and the elements of files that were read."""

    def __init__(self, session: SparkSession, tuning: Tuning = DEFAULT) -> None:
        self._session, self._tuning = session, tuning
        self._views = ViewCache[str]("scan", catalog(session).drop, tuning.scan_views)
        self._files: OrderedDict[str, pa.Table] = OrderedDict()
        self._tables: OrderedDict[Hashable, pa.Table] = OrderedDict()  # those that were asked for last

    def view(self, stream: StreamFiles, ordered: bool, times: Times = None) -> str:
        """Return a view of the stream's elements.

        `ordered` adds the position of an element in the files, for the order of elements of the same time. With
        `times`, only elements with timestamps in one of these spans are needed.
        """
        key = stream.paths, stream.rows, ordered, times
        return self._views.get(key) or self._views.put(key, partial(self._made, stream, ordered, times))

    def table(self, stream: StreamFiles, times: Times = None, ordered: bool = False) -> pa.Table | None:
        """Return the same elements in the driver; None if they are many, or the driver cannot read the files.

        Queries of a round that have the same window get the same table, which is sent to a task once."""
        tuning = self._tuning
        if stream.rows > tuning.sent_elements or len(stream.paths) > tuning.sent_files:
            return None
        key = stream.paths, times, ordered
        if key not in self._tables:
            elements = self._read(stream, times, ordered)
            if elements is None:
                return None
            self._tables[key] = elements
        self._tables.move_to_end(key)
        while len(self._tables) > tuning.scan_views:
            self._tables.popitem(last=False)
        return self._tables[key]

    def _read(self, stream: StreamFiles, times: Times, ordered: bool) -> pa.Table | None:
        tuning = self._tuning
        try:
            elements = pa.concat_tables([LOGGED.empty_table(), *map(self._elements, stream.paths)])
        except (OSError, pa.ArrowException):
            return None
        elements = self._placed(elements, stream.paths) if ordered else elements
        most = tuning.remembered_elements
        while len(self._files) > 1 and sum(table.num_rows for table in self._files.values()) > most:
            self._files.popitem(last=False)
        return elements if times is None else elements.filter(_within(elements.column("ts").to_numpy(), times))

    def _made(self, stream: StreamFiles, ordered: bool, times: Times, name: str) -> str:
        catalog(self._session).define(name, partial(self._frame, stream, ordered, times))
        return name

    def _frame(self, stream: StreamFiles, ordered: bool, times: Times) -> DataFrame:
        table = self.table(stream, times, ordered)
        if table is not None:
            return frame(self._session, table, self._tuning.plan_rows)
        stored = self._session.read.schema(_SCHEMA).parquet(*stream.paths)
        if not ordered:
            return stored
        place = sql.alias(arrival_order(stored.inputFiles(), stream.paths), "file")
        row = sql.alias(sql.column("_metadata", "row_index"), "row")
        return stored.selectExpr("*", sql.write_expression(place), sql.write_expression(row))

    def _placed(self, table: pa.Table, paths: tuple[str, ...]) -> pa.Table:
        """Return the table with the number of each element's file, and its position there."""
        sizes = [self._elements(path).num_rows for path in paths]
        files = np.repeat(np.arange(len(sizes), dtype=np.int32), sizes)
        rows = np.arange(len(files)) - np.repeat(np.cumsum([0, *sizes[:-1]]), sizes)
        return table.append_column("file", pa.array(files)).append_column("row", pa.array(rows, pa.int64()))

    def _elements(self, path: str) -> pa.Table:
        """Return the elements of a file, cached: files of a log are written once."""
        if path not in self._files:
            with parquet_file(path) as file:
                elements = file.read([name for name in file.schema_arrow.names if name in LOGGED.names])
            self._files[path] = logged(elements).cast(LOGGED)
        self._files.move_to_end(path)
        return self._files[path]


def _within(stamps: np.ndarray, times: tuple[Span, ...]) -> pa.Array[pa.BooleanScalar]:
    return pa.array(np.logical_or.reduce([(stamps > span.after) & (stamps <= span.through) for span in times]))


def arrival_order(files: Iterable[str], paths: Sequence[str]) -> sql.Expr:
    """An expression that puts rows of these files, as Spark names them, into the order of the paths they lie under.

    `push-10` came after `push-9`, though not by name. Where names say the same, they are the cheapest place.
    """
    numbers = {path.rpartition("://")[2].strip("/"): number for number, path in enumerate(paths)}
    names = [file.partition(":")[2].lstrip("/") for file in files]
    ordered = sorted(names, key=lambda name: (_number(unquote(name), numbers), name))
    if ordered == sorted(names):
        return _PATH
    return sql.call("array_position", sql.array(*map(sql.text, ordered)), _WITHOUT_SCHEME)


def _number(file: str, numbers: dict[str, int]) -> int:
    """The number of the file itself, or of the folder that it lies in."""
    while file and file not in numbers:
        file = file.rpartition("/")[0]
    return numbers.get(file, len(numbers))
