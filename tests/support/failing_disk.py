"""A disk that fails: errors of the operating system, injected where the engine writes."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from penstock.stream.base import durable_files

__all__ = ["FAULTS", "failing_disk", "flip"]

FAULTS = {  # the operation that fails, and the error
    "no space": ("write", errno.ENOSPC),
    "read-only": ("write", errno.EROFS),
    "failed fsync": ("sync", errno.EIO),
    "failed rename": ("rename", errno.EIO),
}


@contextmanager
def failing_disk(fault: str, ending: str = "", after: int = 0, often: int = 1 << 30) -> Iterator[list[Path]]:
    """Let an operation on files and folders whose path ends so fail so often, after it has been done so many times.
    Yields the paths for which it has failed."""
    failing, code = FAULTS[fault]
    met: list[Path] = []
    failed: list[Path] = []

    def ask(operation: str, path: Path) -> None:
        if operation == failing and str(path).endswith(ending):
            met.append(path)
            if after < len(met) <= after + often:
                failed.append(path)
                raise OSError(code, os.strerror(code))

    assert durable_files.faults is None
    durable_files.faults = ask
    try:
        yield failed
    finally:
        durable_files.faults = None


def flip(path: Path, place: int) -> None:
    """Flip one bit of the byte at that place of a file."""
    content = bytearray(path.read_bytes())
    content[place] ^= 1
    path.write_bytes(content)
