"""A table of SQLite.

sqlite://answers.db?table=cars          beside the working folder
sqlite:///var/lib/answers.db?table=cars
"""

from __future__ import annotations

import math
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any

from penstock.errors import OptionError
from penstock.io.results import time_text
from penstock.io.sinks.databases.cells import Cell
from penstock.io.sinks.databases.table import TableSink

__all__ = ["SqliteOptions", "SqliteSink"]

_WAITING = 30.0  # seconds for a writer of the same file


@dataclass(frozen=True, slots=True)
class SqliteOptions:
    """`table` is made if it is not there."""

    table: str


class SqliteSink(TableSink):
    """Instants are text, as in 2026-01-01T08:00:00Z; numbers are integers where they are whole, else floats."""

    kind = "sqlite"
    Options = SqliteOptions
    mark, moment, whole = "?", "TEXT", "INTEGER"

    def check(self) -> None:
        super().check()
        place, path = self.address.place, self.address.path
        self._file = f"{place}/{path}" if path else place
        if not self._file.strip("/"):
            raise OptionError("sqlite: which file? Write sqlite://FILE.db?table=NAME")

    def connect(self) -> Any:
        """Commits are on the disk when they return, and readers do not wait for them."""
        connection = sqlite3.connect(self._file, _WAITING, isolation_level=None, check_same_thread=False)
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = FULL")
        return connection

    @contextmanager
    def transaction(self, connection: Any) -> Iterator[None]:
        connection.execute("BEGIN IMMEDIATE")
        try:
            yield
        except BaseException:
            connection.execute("ROLLBACK")
            raise
        connection.execute("COMMIT")

    def exists(self, cursor: Any) -> bool:
        name = self.options.table.rpartition(".")[2]
        return bool(cursor.execute("SELECT 1 FROM sqlite_master WHERE name = ? COLLATE NOCASE", (name,)).fetchall())

    def cell(self, cell: Cell) -> Any:
        if isinstance(cell, datetime):
            return time_text(cell)
        return _number(cell) if isinstance(cell, Decimal) else cell


def _number(number: Decimal) -> int | float | None:
    if number == number.to_integral_value() and abs(number) < 1 << 63:
        return int(number)
    return value if math.isfinite(value := float(number)) else None
