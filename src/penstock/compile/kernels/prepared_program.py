"""A prepared program: DuckDB has planned its text, and only the tables and the span change from slice to slice.

Planning takes ten times as long as a few hundred elements do. DuckDB plans a prepared statement again if it has
parameters or reads a table of the database, but not if it reads Arrow. So all that changes is Arrow: the elements, the
tables of the background, and one row with the span.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import duckdb
import pyarrow as pa

from penstock.compile.kernels import duckdb_functions

if TYPE_CHECKING:
    from penstock.compile.kernels.slice_kernel import Program

__all__ = ["PreparedProgram", "Unpreparable"]

_SPAN = "penstock_span"
_EXACT = (pa.string(), pa.int64(), pa.int32(), pa.bool_(), pa.float64())  # the same in Arrow as in DuckDB


class Unpreparable(Exception):
    """A temporary table of the program would not be the same in Arrow."""


class PreparedProgram:
    """The plans of a program for tables with these schemas, on a connection of its own, which has the functions."""

    def __init__(self, connection: duckdb.DuckDBPyConnection, program: Program) -> None:
        warnings.filterwarnings("ignore", message="Arrow output on a DB-API result")  # small ones; a relation is slower
        self._connection, self._program = connection, program
        self._tables: dict[str, _Replaceable] = {}
        self._statements: set[str] = set()

    def rows(self, tables: Mapping[str, pa.Table], after: int, through: int) -> pa.Table:
        """Return the rows of the query for a span of these tables."""
        for name, table in tables.items():
            self._put(name, table)
        self._put(_SPAN, pa.table([pa.array([after]), pa.array([through])], names=list(duckdb_functions.BOUNDS)))
        if not self._statements:  # a plan has the values of variables in it, so here the bounds are read from a table
            for bound in duckdb_functions.BOUNDS:
                self._connection.execute(f'CREATE TEMP MACRO span_{bound}() AS (SELECT "{bound}" FROM {_SPAN})')
        for name, text in self._program.steps:
            step = self._run(f"{name}_step", text)
            if not all(kind in _EXACT for kind in step.schema.types):
                raise Unpreparable(name)
            self._put(name, step)
        return self._run("penstock_query", self._program.query)

    def instants(self) -> pa.Table:
        """Return the instants that have an answer, in the span of the last rows."""
        assert self._program.instants is not None
        return self._run("penstock_instants_query", self._program.instants)

    def close(self) -> None:
        self._connection.close()

    def _put(self, name: str, table: pa.Table) -> None:
        """Replace the content of a table."""
        if name in self._tables:
            self._tables[name].table = table
        else:
            self._tables[name] = _Replaceable(table)
            self._connection.register(name, self._tables[name])

    def _run(self, name: str, text: str) -> pa.Table:
        """Return the rows of a statement, which is planned the first time."""
        if name not in self._statements:
            self._connection.execute(f"PREPARE {name} AS {text}")
            self._statements.add(name)
        rows = self._connection.execute(f"EXECUTE {name}").to_arrow_table()
        assert rows is not None  # as it is of a result that was read before
        return rows


class _Replaceable:
    """An Arrow table for DuckDB, which reads at each execution what it has then. The schema stays."""

    def __init__(self, table: pa.Table) -> None:
        self.table = table

    def __arrow_c_schema__(self) -> Any:
        return self.table.schema.__arrow_c_schema__()

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        return self.table.__arrow_c_stream__(requested_schema)
