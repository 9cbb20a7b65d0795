"""The arrival order of a stream's files, as an SQL expression."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from urllib.parse import unquote

from penstock.compile import sql

__all__ = ["place"]

_FILE = sql.column("_metadata", "file_path")
_AFTER_SCHEME = sql.call("substr", _FILE, sql.call("instr", _FILE, sql.text(":")) + 1)
_WITHOUT_SCHEME = sql.call("ltrim", _AFTER_SCHEME, sql.text("/"))  # Spark has file:/a here and file:///a there


def place(files: Iterable[str], paths: Sequence[str]) -> sql.Expr:
    """Return an expression that orders rows of these files, as Spark names them, by the position of their path.

    `spool-10` came after `spool-9`, though not by name. Where the names sort in arrival order, the name is used: it is
    the cheapest expression.
    """
    numbers = {path.rpartition("://")[2].strip("/"): number for number, path in enumerate(paths)}
    names = [file.partition(":")[2].lstrip("/") for file in files]
    ordered = sorted(names, key=lambda name: (_number(unquote(name), numbers), name))
    if ordered == sorted(names):
        return _FILE
    return sql.call("array_position", sql.array(*map(sql.text, ordered)), _WITHOUT_SCHEME)


def _number(file: str, numbers: dict[str, int]) -> int:
    """Return the position of the file, or of the folder that it lies in."""
    while file and file not in numbers:
        file = file.rpartition("/")[0]
    return numbers.get(file, len(numbers))
