"""Live sources: a table of kinds, each with the texts or objects that it stands for.

FOLDER                  watched: every file in it is read once (files appear by being renamed into it)
tcp://HOST:PORT         connects and reads lines; when the connection is lost, connects again
listen://HOST:PORT      accepts producers, and tells each how many of its lines are durable
an iterable             of lines or blocks of lines, asked for the next when the last is durable
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from penstock.errors import PenstockError
from penstock.stream.ingest.sources.folder import Folder
from penstock.stream.ingest.sources.iterable import IterableSource
from penstock.stream.ingest.sources.listen import ListenSource
from penstock.stream.ingest.sources.receiver import Receiver
from penstock.stream.ingest.sources.tcp import TcpSource

__all__ = ["Folder", "Receiver", "open"]

_BY_SCHEME: dict[str, Callable[[str], Receiver]] = {"tcp": TcpSource, "listen": ListenSource}


def open(spec: Any) -> Folder | Receiver:
    """The live source that a user's specification stands for."""
    if isinstance(spec, str | Path):
        scheme, _, address = str(spec).partition("://")
        if address and scheme in _BY_SCHEME:
            return _BY_SCHEME[scheme](address)
        return Folder(str(spec))
    if isinstance(spec, Iterable):
        return IterableSource(spec)
    raise PenstockError(f"{spec!r} is not a source: give a folder, tcp://HOST:PORT, listen://HOST:PORT or an iterable.")
