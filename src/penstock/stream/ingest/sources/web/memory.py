"""The ids of items that have been taken: the newest few, as part of a source's position."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from hashlib import blake2b

from penstock.stream.ingest.sources.web.items import Item

__all__ = ["Memory"]

_LONGEST = 24  # characters of an id that is kept as it is


class Memory:
    """At most `most` ids, and at least those of the document that was seen last: these may come again."""

    def __init__(self, most: int, ids: Iterable[str] = ()) -> None:
        self._most = most
        self._ids = dict.fromkeys(ids)

    def fresh(self, items: Sequence[Item]) -> list[Item]:
        """Those that have not been taken before; the ids of all are remembered. Items without an id are all fresh."""
        fresh = []
        before = set(self._ids)
        for item in items:
            if item.id is None:
                fresh.append(item)
                continue
            if (key := _short(item.id)) not in before:
                before.add(key)
                fresh.append(item)
            self._ids.pop(key, None)
            self._ids[key] = None  # now it is the newest
        for key in list(self._ids)[: max(0, len(self._ids) - max(self._most, len(items)))]:
            del self._ids[key]
        return fresh

    @property
    def ids(self) -> list[str]:
        """The ids, oldest first."""
        return list(self._ids)


def _short(id: str) -> str:
    return id if len(id) <= _LONGEST else f"#{blake2b(id.encode(), digest_size=12).hexdigest()}"
