"""How far the source of a stream has been read: a position and the newest event time of each of its partitions.

Every record of the journal has what it reached, and so does every segment, and the totals of dropped ones. Together
they say the same in whatever order they are put together, since each says in which batch it was reached.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

__all__ = ["NOWHERE", "Reached", "SourcePosition", "Sources", "merged", "sources_from_json", "sources_to_json"]

SourcePosition: TypeAlias = int | str | list[Any] | dict[str, Any] | None
"""A position as JSON: an offset, a sequence number, the id of an event, or whatever the source needs to continue."""


@dataclass(frozen=True, slots=True)
class Reached:
    """A partition: the position behind its last message, the newest event time, and the batch that came there."""

    position: SourcePosition
    newest: int | None
    batch: int

    def with_other(self, other: Reached) -> Reached:
        """The position of the later batch, and the newest time of both."""
        later = other if other.batch >= self.batch else self
        newest = max((time for time in (self.newest, other.newest) if time is not None), default=None)
        return Reached(later.position, newest, later.batch)


Sources: TypeAlias = Mapping[str, Mapping[str, Reached]]
"""Partitions by the name of the source, and then by their own."""

NOWHERE: Final[Sources] = {}
"""Nothing was read of any source that has a position."""


def merged(several: Iterable[Sources]) -> dict[str, dict[str, Reached]]:
    """How far all sources have been read."""
    total: dict[str, dict[str, Reached]] = {}
    for sources in several:
        for source, partitions in sources.items():
            known = total.setdefault(source, {})
            for name, reached in partitions.items():
                known[name] = known[name].with_other(reached) if name in known else reached
    return total


def sources_to_json(sources: Sources) -> dict[str, dict[str, list[Any]]]:
    """The same as JSON."""
    return {
        source: {name: [one.position, one.newest, one.batch] for name, one in partitions.items()}
        for source, partitions in sources.items()
    }


def sources_from_json(stored: Mapping[str, Mapping[str, list[Any]]]) -> dict[str, dict[str, Reached]]:
    """What `sources_to_json` has made."""
    return {source: {name: Reached(*one) for name, one in partitions.items()} for source, partitions in stored.items()}
