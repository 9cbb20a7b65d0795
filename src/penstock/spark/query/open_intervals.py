"""Operator state between evaluations: the open intervals that `ChangeResult.write_open` stored."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from typing import TypeAlias

from pyspark.sql import DataFrame, SparkSession

from penstock.compile import sql
from penstock.compile.parameter_table import ParameterTable
from penstock.compile.relation import MEMBER

__all__ = ["OpenIntervalFiles", "read_open_intervals"]

OpenIntervalFiles: TypeAlias = str | Sequence[tuple[str, int | None]] | None
"""A path, or several, each with the number of the member whose rows are read; None: those of all members.

The file of a single query has no member column; its rows are those of the given member."""

_MEMBER = sql.write_expression(sql.name(MEMBER))


def read_open_intervals(
    session: SparkSession, before: OpenIntervalFiles, members: ParameterTable | None
) -> DataFrame | None:
    """Return the intervals to continue; of a family those of its members alone, with the column `.km`."""
    files = [(before, None)] if isinstance(before, str) else before or ()
    found = [_read(session, path, number, members is not None) for path, number in files]
    if not found:
        return None
    frame = reduce(DataFrame.unionByName, found)
    if members is None:
        return frame
    present = session.sql(sql.write(members.universe(session).sql)).select(_MEMBER).hint("broadcast")
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
