"""What the user said about a stream."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from penstock.io.graphs import PROPERTIES, Documents, Properties, kind_named

__all__ = ["StreamOptions"]


@dataclass(frozen=True, slots=True)
class StreamOptions:
    """Where a stream comes from (None: from pushes alone) and how its time moves. Durations are microseconds.

    `lateness` is by how much an element may be behind the newest one, `idle` the silence after which the stream holds
    nobody back, and with `advance` its time moves with the clock. The `format` "nt" has no times: lines get that of
    their arrival. `properties` say when a graph was, in documents.
    """

    source: Any = None
    lateness: int = 0
    idle: int | None = None
    advance: bool = False
    format: str | None = None
    properties: Properties = PROPERTIES

    @property
    def documents(self) -> Documents:
        """How documents of graphs are read."""
        return Documents(self.format, self.properties)

    @property
    def kind(self) -> str | None:
        """Of the documents that come as text; None: lines of timestamped N-Quads."""
        return kind_named(self.format)

    @property
    def stamped_on_arrival(self) -> bool:
        return self.format in ("nt", "ntriples")
