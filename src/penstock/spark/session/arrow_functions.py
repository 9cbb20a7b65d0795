"""Arrow functions that compiled queries call: functions that Spark's SQL lacks, in Python on whole columns."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from pyspark.sql import SparkSession
from pyspark.sql.functions import arrow_udf  # type: ignore[attr-defined]

from penstock.compile.expressions.functions import regex
from penstock.compile.expressions.iri import RESOLVE
from penstock.spark.session.tasks import by_value
from penstock.syntax import iri

__all__ = ["register"]

if TYPE_CHECKING:
    Column = pa.Array[Any]
else:
    Column = pa.Array  # Spark reads the annotations, in which it takes the bare class alone


def register(session: SparkSession) -> None:
    """Register all Arrow functions with a session. They are sent by value: a worker need not have Penstock
    installed."""
    by_value(sys.modules[__name__], iri, regex)
    session.udf.register(RESOLVE, arrow_udf(_resolve, "string"))
    session.udf.register(regex.PATTERN, arrow_udf(_patterns, "string"))
    session.udf.register(regex.REPLACEMENT, arrow_udf(_replacements, "string"))


def _resolve(references: Column, bases: Column) -> Column:
    pairs = zip(references.to_pylist(), bases.to_pylist(), strict=True)
    resolved = [None if reference is None else iri.resolve(reference, base) for reference, base in pairs]
    return pa.array(resolved, pa.string())


def _patterns(patterns: Column, flags: Column) -> Column:
    return _mapped(regex.to_java, patterns, flags)


def _replacements(replacements: Column, patterns: Column, flags: Column) -> Column:
    return _mapped(regex.replacement_to_java, replacements, patterns, flags)


def _mapped(function: Callable[..., str | None], *columns: Column) -> Column:
    """Return the function of every row; null where an argument is null."""
    rows = zip(*(column.to_pylist() for column in columns), strict=True)
    return pa.array([None if None in row else function(*row) for row in rows], pa.string())
