"""Failures of the disk as one sentence: the file, the reason, and what to do."""

from __future__ import annotations

import errno
import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from penstock.errors import StoreError

__all__ = ["damaged", "disk_errors", "metadata_damage", "metadata_errors"]

_RIGHTS = "give this process the right to write there"
_REMEDIES = {
    errno.ENOSPC: "free some space on its disk",
    errno.EDQUOT: "free some space, or raise the quota",
    errno.EFBIG: "raise the limit for the size of a file (ulimit -f)",
    errno.EROFS: "mount its file system so that it can be written",
    errno.EACCES: _RIGHTS,
    errno.EPERM: _RIGHTS,
}
_OTHERWISE = "look after its disk"
_METADATA_REMEDIES = {
    "database or disk is full": _REMEDIES[errno.ENOSPC],
    "attempt to write a readonly database": _REMEDIES[errno.EROFS],
}


@contextmanager
def disk_errors(path: Path) -> Iterator[None]:
    """Raise a failure of the disk in writing a file, or making a folder, as a StoreError."""
    try:
        yield
    except OSError as error:
        reason = os.strerror(error.errno) if error.errno else str(error)
        remedy = _REMEDIES.get(error.errno or 0, _OTHERWISE)
        raise StoreError(f"{path} cannot be written: {reason}; {remedy}, and try again.") from error


@contextmanager
def metadata_errors(path: Path | None) -> Iterator[None]:
    """Raise a failure of SQLite in writing the metadata as a StoreError."""
    try:
        with metadata_damage(path):
            yield
    except sqlite3.OperationalError as error:
        remedy = _METADATA_REMEDIES.get(str(error), _OTHERWISE)
        raise StoreError(f"{path or 'The metadata'} cannot be written: {error}; {remedy}, and try again.") from error


@contextmanager
def metadata_damage(path: Path | None) -> Iterator[None]:
    """Raise what SQLite says of a damaged file as a StoreError."""
    try:
        yield
    except UnicodeDecodeError as error:  # what SQLite says quotes bytes of its schema, which are no text any more
        raise damaged(path or "The metadata", error.object.decode(errors="replace")) from error
    except sqlite3.DatabaseError as error:
        is_schema = isinstance(error, sqlite3.OperationalError) and str(error).startswith("no such ")
        if path is None or not (is_schema or type(error) is sqlite3.DatabaseError):
            raise
        raise damaged(path, str(error)) from error


def damaged(path: Path | str, how: str) -> StoreError:
    """The error for a file of a checkpoint that is not as it was written."""
    return StoreError(
        f"{path} is damaged: {how}. Put back a copy of the checkpoint, or start on an empty folder and replay the "
        "sources."
    )
