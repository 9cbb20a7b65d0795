"""The base of sinks that are tables: one transaction a batch, so that each answer is there exactly once.

A run is one registration of a query. Its rows have their batch's number, and a table beside it has the newest number of
each run, written in the same transaction. The position is RUN:NUMBER. A batch that comes again replaces itself; and
where a query is registered anew, its answer at an instant replaces that of former runs.
"""

from __future__ import annotations

import re
import uuid
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, suppress
from datetime import datetime
from itertools import islice
from typing import Any, ClassVar

from penstock.answer import Answer
from penstock.errors import OptionError, StoreError
from penstock.io.connect.secrets import hidden
from penstock.io.sinks.connector import SinkConnector
from penstock.io.sinks.databases.cells import FIXED, Cell, cells_of, columns_of
from penstock.io.sinks.sink import Batch, Position

__all__ = ["TableSink", "quoted"]

_AT_ONCE = 1000  # answers, and rows, of one call of the client
_BATCHES = "penstock_batches"
_NAME = re.compile(r"\w+(\.\w+)?")


class TableSink(SinkConnector):
    """Overwrite `connect`, `transaction`, and the names that differ between databases."""

    mark: ClassVar[str]  # of a parameter
    moment: ClassVar[str]  # the type of an instant
    whole: ClassVar[str]  # the type of a whole number

    def check(self) -> None:
        if not _NAME.fullmatch(self.options.table):
            raise OptionError(
                f"{self.kind}: the option table is a name of letters, digits and _, not {self.options.table!r}"
            )
        self.table = ".".join(map(quoted, self.options.table.split(".")))
        self._connection: Any = None
        self._columns: list[str] | None = None
        self._run = ""

    def connect(self) -> Any:
        """A connection to the database."""
        raise NotImplementedError

    def transaction(self, connection: Any) -> AbstractContextManager[Any]:
        """A block that is done as a whole, or not at all."""
        raise NotImplementedError

    def cell(self, cell: Cell) -> Any:
        """A cell as the client takes it."""
        return cell

    def begin(self) -> Position:
        """See `Sink.begin`. A database that is not there is told at the registration."""
        self._guarded(self._prepared)
        return f"{uuid.uuid4().hex}:0"

    def rewind(self, position: Position) -> None:
        """See `Sink.rewind`."""
        self._run, _, number = str(position).partition(":")
        self._guarded(lambda: self._forget(int(number or 0)))

    def deliver(self, batch: Batch) -> Position:
        """See `Sink.deliver`."""
        self._guarded(lambda: self.send(batch))
        return f"{self._run}:{batch.number + 1}"

    def send(self, batch: Batch) -> None:
        connection = self._prepared()
        with self.transaction(connection):
            cursor = connection.cursor()
            answers, rows = iter(batch.answers), 0
            while some := list(islice(answers, _AT_ONCE)):
                if rows == 0:
                    self._replace(cursor, batch, some[0])
                rows += self._insert(cursor, batch, some, rows)
            self._note(cursor, batch, rows)

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()
        self._connection = self._columns = None

    def _guarded(self, step: Any) -> None:
        """Do a step; an error is one sentence, and the next step connects anew."""
        try:
            step()
        except Exception as error:
            with suppress(Exception):
                self.close()
            self._connection = self._columns = None
            said = " ".join(hidden(str(error)).split()) or type(error).__name__
            raise StoreError(f"{self.address.text}: {said}") from None

    def _prepared(self) -> Any:
        if self._connection is None:
            self._connection = self.connect()
            with self.transaction(self._connection):
                self._connection.cursor().execute(
                    f'CREATE TABLE IF NOT EXISTS {_BATCHES} ("table" TEXT NOT NULL, run TEXT NOT NULL, '
                    f'query TEXT NOT NULL, batch {self.whole} NOT NULL, "rows" {self.whole} NOT NULL, '
                    'PRIMARY KEY ("table", run))'
                )
        return self._connection

    def _forget(self, number: int) -> None:
        """Remove the batches of this run from that number on."""
        connection = self._prepared()
        with self.transaction(connection):
            cursor = connection.cursor()
            if self.exists(cursor):
                cursor.execute(self._sql("DELETE FROM {table} WHERE run = ? AND batch >= ?"), (self._run, number))

    def _replace(self, cursor: Any, batch: Batch, first: Answer) -> None:
        """Make the table if there is none, and remove the batch that this one takes the place of."""
        if self._columns is None:
            self._columns = self._made(cursor, first)
        cursor.execute(self._sql("DELETE FROM {table} WHERE run = ? AND batch >= ?"), (self._run, batch.number))

    def _insert(self, cursor: Any, batch: Batch, answers: Sequence[Answer], first: int) -> int:
        """Insert some answers, in place of those that former runs had at these instants; the number of rows."""
        times = [(batch.query, self._run, self.cell(_instant(answer)[0])) for answer in answers]
        cursor.executemany(self._sql("DELETE FROM {table} WHERE query = ? AND run <> ? AND time = ?"), times)
        columns = (*FIXED, *(self._columns or ()))
        names, marks = ", ".join(map(quoted, columns)), ", ".join("?" * len(columns))
        statement = self._sql(f"INSERT INTO {{table}} ({names}) VALUES ({marks})")
        rows, count = self._rows(batch, answers, first), 0
        while some := list(islice(rows, _AT_ONCE)):
            cursor.executemany(statement, some)
            count += len(some)
        return count

    def _rows(self, batch: Batch, answers: Sequence[Answer], row: int) -> Iterator[Sequence[Cell]]:
        for answer in answers:
            begin, end = map(self.cell, _instant(answer))
            for cells in cells_of(answer):
                yield [batch.query, self._run, batch.number, row, begin, end, *map(self.cell, cells)]
                row += 1

    def _note(self, cursor: Any, batch: Batch, rows: int) -> None:
        cursor.execute(
            self._sql(
                f'INSERT INTO {_BATCHES} VALUES (?, ?, ?, ?, ?) ON CONFLICT ("table", run) '
                'DO UPDATE SET batch = excluded.batch, "rows" = excluded."rows"'
            ),
            (self.options.table, self._run, batch.query, batch.number, rows),
        )

    def _made(self, cursor: Any, answer: Answer) -> list[str]:
        """The columns of the table, which is made for the first answer, and gets those that a later query has more."""
        columns = columns_of(answer)
        fixed = (
            f'query TEXT NOT NULL, run TEXT NOT NULL, batch {self.whole} NOT NULL, "row" {self.whole} NOT NULL, '
            f'time {self.moment}, until {self.moment}, PRIMARY KEY (run, batch, "row")'
        )
        cursor.execute(self._sql(f"CREATE TABLE IF NOT EXISTS {{table}} ({fixed})"))
        for index in ("query, time", "time"):
            name = quoted(f"{self.options.table.replace('.', '_')}_{index.replace(', ', '_')}")
            cursor.execute(self._sql(f"CREATE INDEX IF NOT EXISTS {name} ON {{table}} ({index})"))
        known = {name.lower() for name in self.columns(cursor)}
        for column in columns:
            if column.lower() not in known:
                of = "NUMERIC" if column.endswith("_number") else "TEXT"
                cursor.execute(self._sql(f"ALTER TABLE {{table}} ADD COLUMN {quoted(column)} {of}"))
        return columns

    def columns(self, cursor: Any) -> list[str]:
        """The columns that the table has by now."""
        cursor.execute(self._sql("SELECT * FROM {table} LIMIT 0"))
        return [column[0] for column in cursor.description]

    def exists(self, cursor: Any) -> bool:
        """Whether there is the table."""
        raise NotImplementedError

    def _sql(self, text: str) -> str:
        """A statement with the table's name, and with the marks of this database."""
        return text.replace("?", self.mark).replace("{table}", self.table)


def _instant(answer: Answer) -> tuple[datetime | None, datetime | None]:
    """The instant of an answer, or the beginning and the end of its interval."""
    times = list(answer.when.values())
    return times[0] if times else None, times[1] if len(times) > 1 else None


def quoted(name: str) -> str:
    """A name as SQL has it in quotes."""
    return '"' + name.replace('"', '""') + '"'
