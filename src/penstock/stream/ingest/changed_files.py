"""Whether a source that was read has changed since: it is not read again, and somebody has to know.

LOG/<stream>/<source>.size      how many bytes there were when it was read
"""

from __future__ import annotations

import warnings
from pathlib import Path

from penstock.errors import LoadError, PenstockWarning
from penstock.io.splits import filesystem, splits
from penstock.stream.base import durable_files

__all__ = ["Sizes"]


class Sizes:
    """Beside the segments of a log."""

    def __init__(self, log: Path) -> None:
        self._log = log

    def note(self, stream: str, source: str, path: str) -> None:
        """What is read now."""
        file = self._file(stream, source)
        file.parent.mkdir(parents=True, exist_ok=True)
        durable_files.replace(file, str(_bytes(path)).encode())

    def compare(self, stream: str, source: str, path: str) -> None:
        """Warn if there is more or less of it by now. One that is gone has done its duty."""
        file = self._file(stream, source)
        if file.exists() and (size := _bytes(path)) is not None and file.read_text() != str(size):
            warnings.warn(
                f"{path} has changed since it was read, and is not read again: push what is new, or put it into a"
                " folder that start() watches.",
                PenstockWarning,
                stacklevel=1,
            )

    def _file(self, stream: str, source: str) -> Path:
        return self._log / durable_files.folder_name(stream) / f"{source}.size"


def _bytes(path: str) -> int | None:
    """Of a file, or of all files of a folder; None if there is none."""
    try:
        files = {piece.path for piece in splits(path)}
    except LoadError:
        return None
    infos = (system.get_file_info(place) for system, place in map(filesystem, files))
    return sum(int(info.size or 0) for info in infos)
