"""What older versions kept of queries and streams: a JSON file each, in the folder where the registry is now.

They are read once. With the last one gone nobody needs this any more.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from penstock.stream.base import durable_files

__all__ = ["Old", "read", "remove"]

_STREAMS = "streams.json"
_REACHED = ("progress", "open")  # what is now said of a unit


@dataclass(frozen=True, slots=True)
class Old:
    """Queries as (entry, how far it is), and streams by name."""

    queries: list[tuple[dict[str, Any], dict[str, Any]]] = field(default_factory=list)
    streams: dict[str, dict[str, Any]] = field(default_factory=dict)


def read(folder: Path) -> Old:
    """What the files say. Queries get the numbers 1, 2 and so on."""
    entries = sorted((json.loads(file.read_bytes()) for file in _files(folder)), key=lambda entry: str(entry["name"]))
    streams = folder / _STREAMS
    known = json.loads(streams.read_bytes()) if streams.exists() else {}
    return Old([_parted(entry, number) for number, entry in enumerate(entries, 1)], known)


def remove(folder: Path) -> None:
    """They have been read, if there were any."""
    for file in [*_files(folder), folder / _STREAMS]:
        file.unlink(missing_ok=True)


def _files(folder: Path) -> Iterator[Path]:
    return (file for file in folder.glob("*.json") if file.name != _STREAMS)


def _parted(entry: dict[str, Any], number: int) -> tuple[dict[str, Any], dict[str, Any]]:
    """What was open after so many deliveries lies where it lay, if anything was."""
    reached = {name: entry.pop(name) for name in _REACHED if name in entry}
    file = f"{durable_files.folder_name(entry['name'])}/{entry['batches']}.parquet"
    return entry, reached | {"states": ((file, number),)}
