"""Dead letters: late elements and malformed lines, kept in files so that none is lost without a trace.

    ROOT/<stream>/<source>-<batch>.late.nq              timestamped N-Quads, readable again
    ROOT/<stream>/<source>-<batch>.malformed.ndjson     {"source", "line", "text", "reason"}

A batch that runs again writes the same files again.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import pyarrow as pa

from penstock.model.term_encoding import decode
from penstock.stream.base import durable_files
from penstock.stream.base.time_values import stamp

__all__ = ["DeadLetters", "Malformed", "line_of"]


@dataclass(frozen=True, slots=True)
class Malformed:
    """A line that holds no element: where it came from, its number there (from 1), its text, and why."""

    source: str
    line: int
    text: str
    reason: str


class DeadLetters:
    """The folder of dead letters."""

    def __init__(self, root: Path) -> None:
        self._root = root

    def write(self, stream: str, name: str, late: pa.Table, malformed: Sequence[Malformed]) -> None:
        """Write the late elements and malformed lines of a batch."""
        lines = [line_of(**row) for row in late.to_pylist()]
        records = [json.dumps(asdict(item), ensure_ascii=False) + "\n" for item in malformed]
        for texts, kind in ((lines, "late.nq"), (records, "malformed.ndjson")):
            if texts:
                folder = self._root / durable_files.folder_name(stream)
                folder.mkdir(parents=True, exist_ok=True)
                durable_files.replace(folder / f"{name}.{kind}", "".join(texts).encode())


def line_of(s: str, p: str, o: str, ts: int, g: str | None = None, start: int | None = None) -> str:
    """An element as a line of timestamped N-Quads."""
    graph = "" if g is None else f"{decode(g)} "
    return f"{decode(s)} {decode(p)} {decode(o)} {graph}{stamp(ts, start)} .\n"
