"""Operator state between evaluations: the open intervals that `ChangeResult.write_open` stored."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from typing import TypeAlias

import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import parquet
from pyspark.sql import DataFrame, SparkSession

from penstock.compile import sql
from penstock.compile.parameter_table import ParameterTable
from penstock.compile.relation import MEMBER
from penstock.compile.reports.validity import SINCE
from penstock.spark.session.catalog import catalog

__all__ = ["OpenIntervalFiles", "open_interval_table", "read_open_intervals"]

OpenIntervalFiles: TypeAlias = str | Sequence[tuple[str, int | None]] | None
"""A path, or several, each with the number of the member whose rows are read; None: those of all members.

The file of a single query has no member column; its rows are those of the given member."""

_MEMBER = sql.write_expression(sql.name(MEMBER))


def read_open_intervals(
    session: SparkSession, before: OpenIntervalFiles, members: ParameterTable | None
) -> DataFrame | None:
    """Return the intervals to continue; of a family those of its members alone, with the column `.km`."""
    files = [(before, None)] if isinstance(before, str) else before or ()
    frames = [_read(session, path, number, members is not None) for path, number in files]
    if not frames:
        return None
    frame = reduce(DataFrame.unionByName, frames)
    if members is None:
        return frame
    present = catalog(session).rows(members.universe(catalog(session)).sql).select(_MEMBER).hint("broadcast")
    return frame.join(present, MEMBER, "left_semi")


def _read(session: SparkSession, path: str, number: int | None, family: bool) -> DataFrame:
    frame = session.read.parquet(path)
    if MEMBER in frame.columns:
        own = None if number is None else sql.write_expression(sql.name(MEMBER).eq(number))
        frame = frame if own is None else frame.where(own)
        return frame if family else frame.drop(_MEMBER)
    if not family:
        return frame
    member = sql.null("BIGINT") if number is None else sql.long(number)
    return frame.selectExpr("*", sql.write_expression(sql.alias(member, MEMBER)))


def open_interval_table(before: OpenIntervalFiles, members: ParameterTable | None, columns: Sequence[str]) -> pa.Table:
    """Return the same intervals in the driver. `columns` are those of the solution, of a family with `.km`."""
    fields = [(SINCE, pa.int64()), *((name, pa.int64() if name == MEMBER else pa.string()) for name in columns)]
    schema = pa.schema(fields)
    files = [(before, None)] if isinstance(before, str) else before or ()
    table = pa.concat_tables([schema.empty_table(), *(_table(path, number, schema) for path, number in files)])
    if members is None:
        return table
    return table.filter(pc.is_in(table.column(MEMBER), value_set=pa.array(members.numbers, pa.int64())))


def _table(path: str, number: int | None, schema: pa.Schema) -> pa.Table:
    table = parquet.read_table(path)
    family = MEMBER in schema.names
    if MEMBER in table.column_names:
        if number is not None:
            table = table.filter(pc.equal(table.column(MEMBER), pa.scalar(number, pa.int64())))
    elif family:
        table = table.append_column(MEMBER, pa.array([number] * table.num_rows, pa.int64()))
    return table.select(schema.names).cast(schema)
