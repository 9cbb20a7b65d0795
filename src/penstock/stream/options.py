"""What the user said about a stream."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

__all__ = ["StreamOptions"]


@dataclass(frozen=True, slots=True)
class StreamOptions:
    """Where a stream comes from (None: from pushes alone) and how its time moves. Durations are microseconds.

    `lateness` is by how much an element may be behind the newest one, `idle` the silence after which the stream holds
    nobody back, and with `advance` its time moves with the clock. The `format` "nt" has no times: lines get that of
    their arrival.
    """

    source: Any = None
    lateness: int = 0
    idle: int | None = None
    advance: bool = False
    format: str | None = None

    @property
    def stamped_on_arrival(self) -> bool:
        return self.format in ("nt", "ntriples")
