"""Cache of materialised views: temporary views of Spark, found by their keys and dropped when nothing needs them."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from itertools import count
from typing import Generic, TypeVar

__all__ = ["ViewCache"]

Value = TypeVar("Value")
Predicates = frozenset[str] | None  # their IRIs; None: any

_numbers = count()  # of all caches: several may have views in one session


@dataclass(slots=True)
class _Entry(Generic[Value]):
    """A materialised view: its name in Spark, what its owner knows of it, the predicates it reads, and its users."""

    name: str
    value: Value
    reads: Predicates
    users: set[object]


class ViewCache(Generic[Value]):
    """Materialised views of one kind, by key: views with equal keys have equal rows.

    The users of a view are the queries that read it. A view is dropped with its last user (`release`), by invalidation
    when a predicate that it reads has changed (`invalidate`), when another one replaces it (`put`), and by eviction of
    the least recently used ones beyond `most`. `drop` removes the view with a name from Spark. Whatever is a DataFrame
    already does not need it any more.
    """

    def __init__(self, kind: str, drop: Callable[[str], object], most: int | None = None) -> None:
        self._kind, self._drop, self._most = kind, drop, most
        self._entries: OrderedDict[Hashable, _Entry[Value]] = OrderedDict()  # the most recently used is the last

    def __len__(self) -> int:
        return len(self._entries)

    def get(self, key: Hashable, *users: object) -> Value | None:
        """Return the view of a key, which gets these users; None if there is none."""
        if (entry := self._entries.get(key)) is None:
            return None
        entry.users.update(users)
        self._entries.move_to_end(key)
        return entry.value

    def put(self, key: Hashable, make: Callable[[str], Value], *users: object, reads: Predicates = None) -> Value:
        """Return the new view of a key, computed by `make` under the name that it is given.

        It replaces the former view of the key, and takes over its users. `reads` are the predicates that it reads.
        """
        name = f"penstock_{self._kind}_{next(_numbers)}"
        try:
            value = make(name)
        except BaseException:
            self._drop(name)
            raise
        former = self._entries[key].users if key in self._entries else set()
        self.discard(key)
        self._entries[key] = _Entry(name, value, reads, former.union(users))
        if self._most is not None and len(self._entries) > self._most:
            self.discard(next(iter(self._entries)))
        return value

    def discard(self, key: Hashable) -> None:
        """Drop the view of a key, if there is one."""
        if (entry := self._entries.pop(key, None)) is not None:
            self._drop(entry.name)

    def release(self, user: object, *, kept: Hashable = None) -> None:
        """Remove a user from all views but that of the key `kept`, and drop those that it was the last user of."""
        for key, entry in list(self._entries.items()):
            if key != kept and user in entry.users:
                entry.users.remove(user)
                if not entry.users:
                    self.discard(key)

    def invalidate(self, changed: Predicates) -> None:
        """Drop the views that read one of the changed predicates."""
        for key, entry in list(self._entries.items()):
            if changed is None or entry.reads is None or changed & entry.reads:
                self.discard(key)
