"""The metadata store of a checkpoint: queries, progress and streams in one SQLite file, one transaction a change.

    queries     text, options, whether paused, and where its sink stood after the last delivery; a row each
    units       the progress and operator state of an evaluation group; a row each
    streams     the declared streams, so that a restart need not repeat them

Each row has a checksum of its other columns; that of a query has two, since its progress changes often. The file's
`user_version` is the format of the whole checkpoint folder. Without a folder everything is held in memory alone.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import count
from pathlib import Path
from threading import RLock
from typing import Any, NamedTuple, TypeAlias
from zlib import crc32

from penstock.errors import StoreError
from penstock.io.sinks import Position
from penstock.options import Duplicates, Emit, Overload
from penstock.stream.base.disk_errors import damaged, metadata_damage, metadata_errors

__all__ = ["GroupProgress", "MetadataStore", "QueryProgress", "QueryRecord", "State", "streams_of"]

_FILE = "registry.sqlite"
_VERSION = 5
_TABLES = """
CREATE TABLE queries (
    number INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL UNIQUE, unit INTEGER NOT NULL, paused INTEGER NOT NULL,
    batches INTEGER NOT NULL, position, skipped INTEGER NOT NULL, asked TEXT NOT NULL,
    checksum INTEGER, progress_checksum INTEGER
);
CREATE INDEX queries_of_unit ON queries (unit);
CREATE TABLE units (
    number INTEGER PRIMARY KEY, progress INTEGER, states TEXT NOT NULL, open INTEGER NOT NULL,
    stretched INTEGER NOT NULL, skipped INTEGER NOT NULL, checksum INTEGER
);
CREATE TABLE streams (name TEXT PRIMARY KEY, options TEXT NOT NULL, checksum INTEGER);
"""
_SUM = "row_checksum"
_QUERY_COLUMNS = "number, name, paused, asked"
_PROGRESS_COLUMNS = "unit, batches, position, skipped, number"
_GROUP_COLUMNS = "number, progress, states, open, stretched, skipped"
_STREAM_COLUMNS = "name, options"
_MOVE = (
    "UPDATE queries SET unit = ?1, batches = ?2, position = ?3, skipped = ?4, progress_checksum = ?6 WHERE number = ?5"
)
_SUM_QUERY = f"UPDATE queries SET checksum = {_SUM}({_QUERY_COLUMNS}) WHERE number = ?"

_ASKED = ("text", "base", "duplicates", "sink", "needs_sink", "emit", "overload", "retry")  # at registration

State: TypeAlias = tuple[str, int | None]


@dataclass(slots=True)
class QueryRecord:
    """A query as the store saves it. Text and most options never change; progress and position do.

    `batches` is the number of deliveries, and `position` that of the sink after the last. `sink` is a path; None for a
    Python object, and then `needs_sink` says whether the object has to be given again after a restart. `emit` and
    `overload` are the options of the registration (None: the report that the query names), and `retry` is how often its
    sink is tried again, which another registration may change. `number` is never given to
    another query. `group` is the number of the evaluation group, and `skipped` the number of instants that this query
    has skipped beyond those of its group.
    """

    name: str
    text: str
    base: str | None = None
    duplicates: Duplicates = "keep"
    sink: str | None = None
    needs_sink: bool = False
    paused: bool = False
    batches: int = 0
    position: Position = None
    emit: Emit | None = None
    overload: Overload = "catch-up"
    retry: int = 0
    number: int = 0
    group: int = 0
    skipped: int = 0


class QueryProgress(NamedTuple):
    """The fields of a record that change with a delivery, or with a move to another group."""

    group: int
    batches: int
    position: Position
    skipped: int
    number: int


@dataclass(frozen=True, slots=True)
class GroupProgress:
    """The progress of an evaluation group: all instants up to `progress` are answered (None: none yet).

    `open` solutions go on that were reported as begun. They lie in the files `states`, each of which belongs to the
    query of that number, or (None) to several and says so in its rows. Of `stretched` instants only one is evaluated,
    and `skipped` is how many were not.
    """

    progress: int | None = None
    states: tuple[State, ...] = ()
    open: int = 0
    stretched: int = 1
    skipped: int = 0


class MetadataStore:
    """Saves queries, groups and streams. Every method is one transaction, and thread-safe."""

    def __init__(self, folder: Path | None) -> None:
        if folder is not None:
            folder.mkdir(0o700, parents=True, exist_ok=True)
        self._lock = RLock()
        self._file = None if folder is None else folder / _FILE
        self._connection = sqlite3.connect(self._file or ":memory:", check_same_thread=False, isolation_level=None)
        self._connection.create_function(_SUM, -1, _checksum, deterministic=True)
        try:
            with metadata_damage(self._file):
                self._connection.execute("PRAGMA journal_mode = WAL")
                self._connection.execute("PRAGMA synchronous = FULL")
                self._create_tables()
                self._check_integrity()
                self._groups = count(self._scalar("SELECT coalesce(max(number), 0) FROM units") + 1)
        except BaseException:
            self.close()
            raise

    def load(self) -> list[QueryRecord]:
        """The records of all queries, in the order of their names."""
        defined = self._rows("queries", _QUERY_COLUMNS)
        reached = self._rows("queries", _PROGRESS_COLUMNS, "progress_checksum")
        return sorted(map(_entry, defined, reached), key=lambda entry: entry.name)

    def load_groups(self) -> dict[int, GroupProgress]:
        """The progress of all groups, by number."""
        return {number: _group_progress(*others) for number, *others in self._rows("units", _GROUP_COLUMNS)}

    def new_group(self) -> int:
        """A number that no group has."""
        return next(self._groups)

    def add(self, entry: QueryRecord, reached: GroupProgress) -> QueryRecord:
        """Save a new query, and return its record with the number that it has now."""
        with self._lock, self._transaction():
            return self._insert(entry, reached)

    def pause(self, number: int, paused: bool) -> None:
        """Save whether a query is paused."""
        with self._lock, self._transaction():
            self._connection.execute("UPDATE queries SET paused = ? WHERE number = ?", (paused, number))
            self._connection.execute(_SUM_QUERY, (number,))

    def save_options(self, entry: QueryRecord) -> None:
        """Save the options of a query that is registered again."""
        with self._lock, self._transaction():
            self._connection.execute(
                "UPDATE queries SET asked = ? WHERE number = ?", (_definition(entry), entry.number)
            )
            self._connection.execute(_SUM_QUERY, (entry.number,))

    def save_all(
        self, moved: Iterable[QueryProgress], groups: Mapping[int, GroupProgress], gone: Iterable[int] = ()
    ) -> None:
        """Save the progress of queries and groups. The groups `gone` are empty, and removed."""
        with self._lock, self._transaction():
            self._connection.executemany(_MOVE, [(*progress, _checksum(*progress)) for progress in moved])
            for number, reached in groups.items():
                self._save_group(number, reached)
            self._connection.executemany("DELETE FROM units WHERE number = ?", [(number,) for number in gone])

    def remove(self, entry: QueryRecord) -> None:
        """Remove a query, and its group if no other query is in it."""
        with self._lock, self._transaction():
            self._connection.execute("DELETE FROM queries WHERE number = ?", (entry.number,))
            unused = "DELETE FROM units WHERE number = ?1 AND NOT EXISTS (SELECT 1 FROM queries WHERE unit = ?1)"
            self._connection.execute(unused, (entry.group,))

    def load_streams(self) -> dict[str, dict[str, Any]]:
        """The streams that were declared, by name, with their options, in the order of declaration."""
        return {name: json.loads(options) for name, options in self._rows("streams", _STREAM_COLUMNS)}

    def save_streams(self, streams: Mapping[str, Mapping[str, Any]]) -> None:
        """Save the declared streams."""
        with self._lock, self._transaction():
            self._save_streams(streams)

    def close(self) -> None:
        """Close the file. Closing twice is harmless."""
        with self._lock:
            self._connection.close()

    def _create_tables(self) -> None:
        """Create the tables of a new file; refuse a file of another format."""
        version = self._scalar("PRAGMA user_version")
        if version == _VERSION:
            return
        if version != 0:
            raise StoreError(
                f"The checkpoint has format {version}; this Penstock reads format {_VERSION}: use the version that "
                "wrote it, or start on an empty folder and replay the sources."
            )
        with self._transaction():
            for statement in _TABLES.split(";"):
                self._connection.execute(statement)
            self._connection.execute(f"PRAGMA user_version = {_VERSION}")

    def _check_integrity(self) -> None:
        ((verdict,),) = self._all("PRAGMA integrity_check(1)")
        if verdict != "ok" and self._file is not None:
            raise damaged(self._file, str(verdict).splitlines()[-1])

    def _rows(self, table: str, columns: str, checksum_of: str = "checksum") -> list[tuple[Any, ...]]:
        """The rows of a table in the order in which they came, each as it was written."""
        with metadata_damage(self._file):
            rows = self._all(f"SELECT {columns}, {checksum_of} FROM {table} ORDER BY rowid")
        for *values, checksum in rows:
            if checksum != _checksum(*values):
                raise damaged(self._file or _FILE, f"the {checksum_of.replace('_', ' ')} of a row of {table} is wrong")
        return [values for *values, _ in rows]  # type: ignore[misc]

    def _insert(self, entry: QueryRecord, reached: GroupProgress) -> QueryRecord:
        progress = entry.batches, entry.position, entry.skipped
        row = (entry.name, entry.group, entry.paused, *progress, _definition(entry))
        cursor = self._connection.execute("INSERT INTO queries VALUES (NULL, ?, ?, ?, ?, ?, ?, ?, NULL, NULL)", row)
        assert cursor.lastrowid is not None
        moved = (entry.group, *progress, cursor.lastrowid)
        self._connection.execute(_MOVE, (*moved, _checksum(*moved)))
        self._connection.execute(_SUM_QUERY, (cursor.lastrowid,))
        self._save_group(entry.group, reached)
        return replace(entry, number=cursor.lastrowid)

    def _save_group(self, number: int, reached: GroupProgress) -> None:
        states = json.dumps(reached.states)
        row = (number, reached.progress, states, reached.open, reached.stretched, reached.skipped)
        self._connection.execute("INSERT OR REPLACE INTO units VALUES (?, ?, ?, ?, ?, ?, ?)", (*row, _checksum(*row)))

    def _save_streams(self, streams: Mapping[str, Mapping[str, Any]]) -> None:
        self._connection.execute("DELETE FROM streams")
        rows = [(name, json.dumps(options)) for name, options in streams.items()]
        self._connection.executemany("INSERT INTO streams VALUES (?, ?, ?)", [(*row, _checksum(*row)) for row in rows])

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        """Run the statements of the block in one transaction: all of them, or none."""
        with metadata_errors(self._file):
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                yield
                self._connection.execute("COMMIT")
            except BaseException:
                if self._connection.in_transaction:  # a full disk may have ended it
                    self._connection.execute("ROLLBACK")
                raise

    def _all(self, query: str) -> list[tuple[Any, ...]]:
        with self._lock:
            return self._connection.execute(query).fetchall()

    def _scalar(self, query: str) -> int:
        return int(self._all(query)[0][0])


def streams_of(checkpoint: Path) -> list[str]:
    """The names of the streams of a checkpoint, in the order of declaration. Only reads, also while an engine runs."""
    file = checkpoint / "registry" / _FILE
    if not file.is_file():
        raise StoreError(
            f"{checkpoint} is not a checkpoint: give the folder of --checkpoint or of Engine(checkpoint=…)"
        )
    try:
        connection = sqlite3.connect(f"{file.absolute().as_uri()}?mode=ro", uri=True)
        try:
            return [name for (name,) in connection.execute("SELECT name FROM streams ORDER BY rowid")]
        finally:
            connection.close()
    except sqlite3.Error as error:
        raise StoreError(f"{checkpoint}: the checkpoint cannot be read: {error}") from error


def _checksum(*values: object) -> int:
    """The CRC-32 of the values of a row, as SQLite returns them."""
    return crc32(repr(values).encode())


def _definition(entry: QueryRecord) -> str:
    return json.dumps({name: getattr(entry, name) for name in _ASKED}, ensure_ascii=False)


def _entry(defined: tuple[Any, ...], reached: tuple[Any, ...]) -> QueryRecord:
    number, name, paused, asked = defined
    group, batches, position, skipped, _ = reached
    moving = {"batches": batches, "position": position, "skipped": skipped}
    return QueryRecord(name=name, number=number, group=group, paused=bool(paused), **moving, **json.loads(asked))


def _group_progress(progress: int | None, states: str, *others: int) -> GroupProgress:
    return GroupProgress(progress, tuple((file, number) for file, number in json.loads(states)), *others)
