"""Memories of nodes: earlier rows by key, ordered by their ends, kept as long as they can contribute to an answer.

Rows without interval come from the background; they are never pruned, and are no part of the saved state.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from penstock.recursive_rules.solutions.rows import Row, ends
from penstock.tuning import DEFAULT

__all__ = ["Memory", "Moment", "State"]

State = dict[Any, list[Row]]


class Memory:
    """Rows by key. A row is pruned when it started more than `bound` microseconds ago; without a bound it is kept for
    the `retention` after its end, or for ever."""

    def __init__(self, key: Callable[[Row], Any]) -> None:
        self.bound: int | None = 0
        self.retention: int | None = None
        self._key = key
        self._fixed: State = {}
        self._rows: State = {}
        self._count = 0
        self._enough = 0

    def add(self, rows: Iterable[Row]) -> None:
        key = self._key
        for row in rows:
            where = self._fixed if row[1] is None else self._rows
            where.setdefault(key(row), []).append(row)
            self._count += 1

    def find(self, key: Any) -> Sequence[Row]:
        """All rows of this key."""
        rows = self._rows.get(key, ())
        return [*self._fixed[key], *rows] if key in self._fixed else rows

    def fixed(self, key: Any) -> Sequence[Row]:
        """The rows of this key without an interval."""
        return self._fixed.get(key, ())

    def before(self, key: Any, time: int) -> Sequence[Row]:
        """The rows of this key that ended before this time."""
        rows = self._rows.get(key, ())
        if not rows or rows[-1][1] < time:
            return rows
        return rows[: bisect_left(rows, time, key=ends)]

    def last_before(self, key: Any, time: int) -> Row | None:
        """The last row of this key that ended before this time."""
        rows = self._rows.get(key, ())
        place = len(rows) if rows and rows[-1][1] < time else bisect_left(rows, time, key=ends)
        return rows[place - 1] if place else None

    def between(self, key: Any, first: int | None, time: int) -> Sequence[Row]:
        """The rows of this key that ended before `time`, but not before `first`."""
        rows = self._rows.get(key, ())
        low = 0 if first is None else bisect_left(rows, first, key=ends)
        return rows[low : bisect_left(rows, time, low, key=ends)]

    def prune(self, now: int, least: int = DEFAULT.rule_prune_rows) -> None:
        """Drop rows that are too old, once there are twice as many as were left the last time, and `least`."""
        place, kept_for = (0, self.bound) if self.bound is not None else (1, self.retention)
        if kept_for is None or self._count < max(least, self._enough):
            return
        oldest = now - kept_for
        kept = ((key, [row for row in rows if row[place] >= oldest]) for key, rows in self._rows.items())
        self.state = {key: rows for key, rows in kept if rows}

    @property
    def state(self) -> State:
        return self._rows

    @state.setter
    def state(self, rows: State) -> None:
        self._replace(rows)

    def _replace(self, rows: State) -> None:
        self._rows = rows
        self._count = sum(map(len, rows.values()))
        self._enough = 2 * self._count


class Moment:
    """The rows of the current step, by key and start: the candidates for an equal interval."""

    def __init__(self, key: Callable[[Row], Any]) -> None:
        self._key = key
        self._rows: State = {}

    def add(self, rows: Iterable[Row]) -> None:
        for row in rows:
            if row[0] is not None:
                self._rows.setdefault((self._key(row), row[0]), []).append(row)

    def find(self, key: Any, start: int | None) -> Sequence[Row]:
        return self._rows.get((key, start), ())

    def clear(self) -> None:
        self._rows.clear()
