"""The kernel of a sliced plan: all instants of one slice of time, evaluated by DuckDB on the elements of the slice.

It runs in a task of Spark, or in the driver. Its input is text, Arrow tables and the paths of Parquet files.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import PurePath
from types import MappingProxyType
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from penstock.compile.kernels import duckdb_functions
from penstock.compile.kernels.prepared_program import PreparedProgram, Unpreparable
from penstock.tuning import DEFAULT

__all__ = ["ROW", "Kernel", "Program", "Scan", "Slice", "marked", "run"]

ROW = ".row"  # false in a row that only says that its instant has an answer
_COLUMNS = "s VARCHAR, p VARCHAR, o VARCHAR, g VARCHAR, ts BIGINT, start BIGINT"
_ELEMENT = ("s", "p", "o", "g", "ts", "start")


@dataclass(frozen=True, slots=True)
class Program:
    """The text of a plan: temporary tables by name, in their order, and the query of its rows.

    `instants` is the query of the instants that have an answer, where an answer may be empty. `ordered` has the scans
    whose elements need their place in the order of arrival, `functions` the names of those that DuckDB lacks.
    """

    query: str
    schema: pa.Schema
    steps: tuple[tuple[str, str], ...] = ()
    instants: str | None = None
    ordered: frozenset[str] = frozenset()
    functions: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Scan:
    """The elements of a stream with after < ts <= through: a table, or the files that have them."""

    table: pa.Table | None
    paths: tuple[str, ...] = ()
    after: int | None = None
    through: int | None = None


@dataclass(frozen=True, slots=True)
class Slice:
    """The instants t with after < t <= through, and the elements that they see, by scan.

    `count` is the number of instants if they are periodic.
    """

    after: int
    through: int
    scans: Mapping[str, Scan] = field(default_factory=dict)
    count: int | None = None


def run(
    program: Program, tables: Mapping[str, pa.Table], memory: int, java: int, _number: int, piece: Slice
) -> Iterator[pa.RecordBatch]:
    """Evaluate a slice in a task of its own."""
    yield from Kernel(memory, java, 1).evaluate(program, tables, piece).to_batches()


class Kernel:
    """A database in memory, which evaluates one slice after the other. It keeps the plans of so many programs."""

    def __init__(self, memory: int, java: int, programs: int = DEFAULT.kernel_programs) -> None:
        self._memory, self._java, self._programs = memory, java, programs
        self._folders: frozenset[str] = frozenset()  # the only ones in which it can read files
        self._opened: duckdb.DuckDBPyConnection | None = None
        self._functions: frozenset[str] = frozenset()
        # By program and schemas of its tables: None after the first evaluation, false if it cannot be prepared.
        self._prepared: OrderedDict[Hashable, PreparedProgram | bool | None] = OrderedDict()

    @property
    def _connection(self) -> duckdb.DuckDBPyConnection:
        if self._opened is None:
            self._opened = duckdb_functions.connect(self._memory, sorted(self._folders))
            self._functions = frozenset()
        return self._opened

    def rows(self, text: str, functions: Iterable[str], tables: Mapping[str, pa.Table]) -> pa.Table:
        """Return the rows of a query on these tables. DuckDB lacks the functions."""
        self._register(functions)
        with self._connection.cursor() as connection:
            for name, table in tables.items():
                connection.register(name, table)
            rows: pa.Table = connection.sql(text).to_arrow_table()
        return rows

    def _allow(self, paths: Iterable[str]) -> None:
        """Make these files readable: a database whose settings are locked is replaced by another."""
        folders = frozenset(map(_folder, paths))
        if not folders <= self._folders:
            self._folders |= folders
            if self._opened is not None:
                self._forget_prepared(0)
                self._opened.close()
                self._opened = None

    def _forget_prepared(self, most: int) -> None:
        """Forget the programs that were evaluated longest ago, so that `most` stay."""
        while len(self._prepared) > most:
            _, oldest = self._prepared.popitem(last=False)
            if isinstance(oldest, PreparedProgram):
                oldest.close()

    def _register(self, functions: Iterable[str]) -> None:
        connection, java = self._connection, self._java
        self._functions = duckdb_functions.register(connection, functions, java, self._functions)

    def refusal(self, program: Program, tables: Mapping[str, pa.Table], scans: Collection[str]) -> str | None:
        """Return why DuckDB does not take a program, found by running it on no rows; None if it does."""
        try:
            nothing = {name: table.slice(0, 0) for name, table in tables.items()}
            self.evaluate(program, nothing, Slice(0, 1, dict.fromkeys(scans, Scan(None))))
        except duckdb.Error as error:
            return str(error).partition("\n")[0]
        return None

    def evaluate(self, program: Program, tables: Mapping[str, pa.Table], piece: Slice) -> pa.Table:
        """Return the rows of a program for a slice. A column `.row` is true; an empty answer is one row, in which it is
        false.

        The plans of a program that comes again are kept, if all its elements are given as tables."""
        given = {name: scan.table for name, scan in piece.scans.items() if scan.table is not None}
        if len(given) == len(piece.scans):
            prepared_rows = self._evaluate_prepared(program, {**tables, **given}, piece)
            if prepared_rows is not None:
                return prepared_rows
        self._allow(path for scan in piece.scans.values() for path in scan.paths)
        self._register(program.functions)
        with self._connection.cursor() as connection:  # its tables and variables are gone afterwards
            rows = _rows(connection, program, tables, piece)
            return _with_empty_answers(program, piece, rows, lambda text: connection.sql(text).to_arrow_table())

    def _evaluate_prepared(self, program: Program, tables: Mapping[str, pa.Table], piece: Slice) -> pa.Table | None:
        """Return the rows by kept plans; None if it is evaluated for the first time, or cannot be prepared."""
        key = program, tuple((name, table.schema) for name, table in tables.items())
        if key not in self._prepared:
            self._prepared[key] = None
            self._forget_prepared(self._programs)
            return None
        self._prepared.move_to_end(key)
        prepared = self._prepared[key]
        if prepared is None:
            self._register(program.functions)
            prepared = self._prepared[key] = PreparedProgram(self._connection.cursor(), program)
        if isinstance(prepared, bool):
            return None
        try:
            rows = _as_declared(prepared.rows(tables, piece.after, piece.through), program)
            return _with_empty_answers(program, piece, rows, lambda _: prepared.instants())
        except (duckdb.Error, Unpreparable):  # the text itself may be in order: another error comes without plans
            prepared.close()
            self._prepared[key] = False
            return None


def _folder(path: str) -> str:
    """Return the folder of a file; of a file of a segment, the folder of its stream."""
    folder = PurePath(path).parent
    return str(folder.parent if folder.suffix == ".parquet" else folder)


def _rows(
    connection: duckdb.DuckDBPyConnection, program: Program, tables: Mapping[str, pa.Table], piece: Slice
) -> pa.Table:
    for name, table in tables.items():
        connection.register(name, table)
    for name, scan in piece.scans.items():
        _register_scan(connection, name, scan, name in program.ordered)
    connection.execute(f"SET VARIABLE after = {piece.after}::BIGINT")
    connection.execute(f"SET VARIABLE through = {piece.through}::BIGINT")
    for name, text in program.steps:
        connection.execute(f"CREATE OR REPLACE TEMP TABLE {name} AS {text}")
    return _as_declared(connection.sql(program.query).to_arrow_table(), program)


def _as_declared(rows: pa.Table, program: Program) -> pa.Table:
    renamed = rows.rename_columns(program.schema.names)
    return renamed if renamed.schema == program.schema else renamed.cast(program.schema)


def _register_scan(connection: duckdb.DuckDBPyConnection, name: str, scan: Scan, ordered: bool) -> None:
    if scan.table is not None:
        connection.register(name, scan.table)
        return
    connection.execute(f"CREATE OR REPLACE TEMP TABLE penstock_element ({_COLUMNS})")
    empty = "SELECT * FROM penstock_element"
    columns = ", ".join(_ELEMENT)
    if not scan.paths:
        places = ", 0 AS file, 0 AS row" if ordered else ""
        connection.execute(f"CREATE OR REPLACE TEMP VIEW {name} AS SELECT *{places} FROM penstock_element")
        return
    files = "[" + ", ".join(map(duckdb_functions.quoted, scan.paths)) + "]"
    options = "union_by_name = true" + (", filename = 'file', file_row_number = true" if ordered else "")
    times = [f"ts > {scan.after}"] * (scan.after is not None) + [f"ts <= {scan.through}"] * (scan.through is not None)
    where = f" WHERE {' AND '.join(times)}" if times else ""
    placed = f", list_position({files}, file) AS file, file_row_number AS row" if ordered else ""
    stored = f"SELECT * FROM read_parquet({files}, {options}){where}"
    both = f"({empty} UNION ALL BY NAME {stored})"
    connection.execute(f"CREATE OR REPLACE TEMP VIEW {name} AS SELECT {columns}{placed} FROM {both}")


def _with_empty_answers(
    program: Program, piece: Slice, rows: pa.Table, instants: Callable[[str], pa.Table]
) -> pa.Table:
    """Return the rows with a mark for each instant that has an answer and no row. `instants` runs a query."""
    if program.instants is None:
        return marked(rows)
    empty: list[int] = []
    present = pc.unique(rows.column(0))
    if len(present) != piece.count:
        reported: list[Any] = instants(program.instants).column(0).to_pylist()
        empty = sorted(set(reported) - set(present.to_pylist()))
    return marked(rows, {rows.column_names[0]: empty} if empty else {})


def marked(rows: pa.Table, empty: Mapping[str, list[int]] = MappingProxyType({})) -> pa.Table:
    """Return the rows and the empty answers as one table, told apart by the column `.row`."""
    schema = rows.schema.append(pa.field(ROW, pa.bool_()))
    real = rows.append_column(schema.field(ROW), pa.array(np.ones(rows.num_rows, bool)))
    count = max(map(len, empty.values()), default=0)
    if not count:
        return real
    cells = [pa.array(empty[f.name], f.type) if f.name in empty else pa.nulls(count, f.type) for f in rows.schema]
    marks = pa.table([*cells, pa.array([False] * count, pa.bool_())], schema=schema)
    return pa.concat_tables([real.cast(schema), marks])
