"""The protocol of live sources: they bring lines to the log until they are stopped."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, TypeAlias, runtime_checkable

from penstock.stream.base.clock import Clock

__all__ = ["Accept", "Source"]

Accept: TypeAlias = Callable[[bytes], int]
"""Takes whole lines and returns when they are durable, with their number."""


@runtime_checkable
class Source(Protocol):
    """A live source. It is made from the part of its spec after `://`, and connects to nothing before `start`."""

    @property
    def message(self) -> str | None:
        """The problem of the source in one sentence, or None."""

    def start(self, accept: Accept, clock: Clock) -> None:
        """Begin to call `accept` with whole lines, in a thread of its own. `start` may follow `stop`.

        Lines are durable when `accept` returns: only then does the source move the position from which it continues.
        """

    def stop(self) -> None:
        """Give `accept` all that has been read, then end. Nothing is given after this returns."""
