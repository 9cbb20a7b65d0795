"""The registered queries, on disk: a JSON file each, replaced as a whole, so that progress and position agree.

    ROOT/<query>.json     text, options, whether paused, how far answered, and where its sink stood then
    ROOT/streams.json     the declared streams, so that a restart need not repeat them

Without a folder everything is held in memory alone.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from penstock.io.sinks import Position
from penstock.stream import durable

__all__ = ["Entry", "Registry"]

_STREAMS = "streams.json"


@dataclass(frozen=True, slots=True)
class Entry:
    """A query as the registry remembers it.

    All its instants up to `progress` are answered (None: none yet), in `batches` deliveries, after which the sink stood
    at `position`. `sink` is a path; None where answers go into this process, and then `needs_sink` says whether
    somebody has to bring the function or object again before more can be delivered. `emit` is what was asked for at
    registration (None: what the query itself says), and `open` how many solutions go on that were reported as begun.
    """

    name: str
    text: str
    base: str | None = None
    duplicates: str = "keep"
    sink: str | None = None
    needs_sink: bool = False
    paused: bool = False
    progress: int | None = None
    batches: int = 0
    position: Position = None
    emit: str | None = None
    open: int = 0


class Registry:
    """Where entries are kept. Every write is complete, or has not happened."""

    def __init__(self, folder: Path | None) -> None:
        self._folder = folder
        if folder is not None:
            folder.mkdir(parents=True, exist_ok=True)

    def load(self) -> list[Entry]:
        """What an earlier process left, in the order of the names."""
        if self._folder is None:
            return []
        files = sorted(file for file in self._folder.glob("*.json") if file.name != _STREAMS)
        return sorted((Entry(**json.loads(file.read_text("utf-8"))) for file in files), key=lambda entry: entry.name)

    def save(self, entry: Entry) -> None:
        """Remember the entry in place of the one with its name."""
        self._write(_file_name(entry.name), asdict(entry))

    def remove(self, name: str) -> None:
        """Forget a query."""
        if self._folder is not None:
            (self._folder / _file_name(name)).unlink(missing_ok=True)
            durable.sync(self._folder)

    def load_streams(self) -> dict[str, dict[str, Any]]:
        """The streams that were declared, by name, with their options."""
        file = None if self._folder is None else self._folder / _STREAMS
        if file is None or not file.exists():
            return {}
        streams: dict[str, dict[str, Any]] = json.loads(file.read_text("utf-8"))
        return streams

    def save_streams(self, streams: Mapping[str, Mapping[str, Any]]) -> None:
        """Remember all streams that are declared."""
        self._write(_STREAMS, streams)

    def _write(self, name: str, content: Mapping[str, Any]) -> None:
        if self._folder is None:
            return
        durable.replace(self._folder / name, json.dumps(content, ensure_ascii=False, indent=1).encode())


def _file_name(name: str) -> str:
    return f"{durable.folder_name(name)}.json"
