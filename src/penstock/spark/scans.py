"""The elements of streams as views, which all queries of a round share.

A few elements are read here and sent along with each plan: Spark then knows how many there are, and opens no file. It
reads many by itself, where they lie.
"""

from __future__ import annotations

from collections import OrderedDict
from itertools import count

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession

from penstock.io.columns import LOGGED, ddl, logged
from penstock.io.splits import parquet_file
from penstock.spark import arrival
from penstock.spark.contents import Stream

__all__ = ["Scans"]

_FEW, _FILES = 20_000, 100  # elements that are sent along, and files of them that are opened for it
_KEPT = 16  # views: a round has few streams, and what they hold changes with each
_PLACE = {"file": pa.int32(), "row": pa.int64()}  # where an element lies
_SCHEMA = ddl(LOGGED)
_numbers = count()


class Scans:
    """Views by what they are of."""

    def __init__(self, session: SparkSession) -> None:
        self._session = session
        self._views: OrderedDict[tuple[tuple[str, ...], int, bool], str] = OrderedDict()

    def view(self, stream: Stream, ordered: bool) -> str:
        """The stream's elements; `ordered` with the place where they lie, for the order of those of the same time."""
        wanted = stream.paths, stream.rows, ordered
        if wanted not in self._views:
            self._views[wanted] = f"penstock_scan_{next(_numbers)}"
            self._frame(stream, ordered).createOrReplaceTempView(self._views[wanted])
        self._views.move_to_end(wanted)
        while len(self._views) > _KEPT:
            self._session.catalog.dropTempView(self._views.popitem(last=False)[1])
        return self._views[wanted]

    def _frame(self, stream: Stream, ordered: bool) -> DataFrame:
        few = stream.rows <= _FEW and len(stream.paths) <= _FILES
        table = _read(stream.paths) if few else None
        if table is not None:
            return self._session.createDataFrame(table)
        frame = self._session.read.schema(_SCHEMA).parquet(*stream.paths)
        if not ordered:
            return frame
        place = arrival.place(frame.inputFiles(), stream.paths)
        return frame.selectExpr("*", f"{place} AS file", "_metadata.row_index AS row")


def _read(paths: tuple[str, ...]) -> pa.Table | None:
    """All elements with their places; None where a path is not a file that can be read here."""
    tables = [pa.schema([*LOGGED, *(pa.field(name, kind) for name, kind in _PLACE.items())]).empty_table()]
    try:
        for number, path in enumerate(paths):
            table = logged(_elements(path)).cast(LOGGED)
            place = [[number] * table.num_rows, range(table.num_rows)]
            arrays = [pa.array(values, kind) for values, kind in zip(place, _PLACE.values(), strict=True)]
            tables.append(pa.table([*table.columns, *arrays], schema=tables[0].schema))
    except (OSError, pa.ArrowException):
        return None
    return pa.concat_tables(tables)


def _elements(path: str) -> pa.Table:
    with parquet_file(path) as file:
        return file.read([name for name in file.schema_arrow.names if name in LOGGED.names])
