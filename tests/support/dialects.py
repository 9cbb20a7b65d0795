"""Queries in two dialects: compiled once, evaluated by Spark and by DuckDB on the same rows, and compared by cells."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

import duckdb
import pyarrow as pa
from pyspark.sql import SparkSession

from penstock.algebra.build import translate
from penstock.compile import sql
from penstock.compile.context import Context, Plan, Tables
from penstock.compile.kernels import duckdb_functions
from penstock.compile.operators import query_forms
from penstock.optimise import Uniform, optimise
from tests.support.physical import never, physical

__all__ = ["DIFFERENT", "PREFIXES", "Row", "compiled", "connection", "differences", "duckdb_rows", "spark_rows"]

PREFIXES = (
    "PREFIX : <http://e/> PREFIX xsd: <http://www.w3.org/2001/XMLSchema#>"
    " PREFIX rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#>\n"
)
DIFFERENT = "different"
Row = tuple[Any, ...]


def compiled(query: str) -> sql.Query:
    """Return the SQL of a query on the tables `triples` and `quads`."""
    planned = optimise(translate(PREFIXES + query), Uniform(), None).query
    context = Context(Plan(Tables(sql.Table("triples"), sql.Table("quads"), frozenset()), never, planned.base, ""))
    return query_forms.select_rows(replace(planned, pattern=physical(planned.pattern, context)), context)


def connection(functions: Iterable[str], **tables: pa.Table) -> duckdb.DuckDBPyConnection:
    """Return a new connection with the tables and the functions."""
    found = duckdb_functions.connect(1024)
    duckdb_functions.register(found, functions)
    for name, table in tables.items():
        found.register(name, table)
    return found


def duckdb_rows(query: sql.Query, **tables: pa.Table) -> list[Row]:
    written = sql.written(query, sql.DUCKDB)
    with connection(written.functions, **tables) as found:
        return found.execute(written.text).fetchall()


def spark_rows(session: SparkSession, query: sql.Query, **tables: pa.Table) -> list[Row]:
    for name, table in tables.items():
        session.createDataFrame(table).createOrReplaceTempView(name)
    return [tuple(row) for row in session.sql(sql.write(query)).collect()]


def differences(one: Iterable[Row], other: Iterable[Row]) -> list[tuple[Row, Row | None]]:
    """Return rows that only one side has, beside the other side's row with the same first cells."""
    left, right = Counter(one), Counter(other)
    lone = {row[:-1]: row for row in (right - left).elements()}
    found: list[tuple[Row, Row | None]] = [(row, lone.pop(row[:-1], None)) for row in (left - right).elements()]
    return found + [(row, None) for row in lone.values()]


def triples(pairs: Sequence[tuple[str | None, str | None]]) -> pa.Table:
    """Return the triples of pairs of encoded terms, under one predicate."""
    subjects, objects = zip(*pairs, strict=True)
    columns = [pa.array(subjects, pa.string()), pa.array(["<http://e/p>"] * len(pairs)), pa.array(objects, pa.string())]
    return pa.table(columns, names=["s", "p", "o"])
