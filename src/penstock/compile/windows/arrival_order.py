"""The order of arrival among a stream's files: the number of each, whatever its name."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from urllib.parse import unquote

from penstock.compile import sql

__all__ = ["place"]

_FILE = sql.column("_metadata", "file_path")
_AFTER_SCHEME = sql.call("substr", _FILE, sql.call("instr", _FILE, sql.text(":")) + 1)
_WITHOUT_SCHEME = sql.call("ltrim", _AFTER_SCHEME, sql.text("/"))  # Spark has file:/a here and file:///a there


def place(files: Iterable[str], paths: Sequence[str]) -> sql.Expr:
    """An expression that puts rows of these files, as Spark names them, into the order of the paths they lie under.

    `spool-10` came after `spool-9`, though not by name. Where names say the same, they are the cheapest place.
    """
    numbers = {path.rpartition("://")[2].strip("/"): number for number, path in enumerate(paths)}
    names = [file.partition(":")[2].lstrip("/") for file in files]
    ordered = sorted(names, key=lambda name: (_number(unquote(name), numbers), name))
    if ordered == sorted(names):
        return _FILE
    return sql.call("array_position", sql.array(*map(sql.text, ordered)), _WITHOUT_SCHEME)


def _number(file: str, numbers: dict[str, int]) -> int:
    """That of the file itself, or of the folder that it lies in."""
    while file and file not in numbers:
        file = file.rpartition("/")[0]
    return numbers.get(file, len(numbers))
