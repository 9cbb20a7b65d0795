"""Transitive closure of a few edges in the driver, which costs less than the Spark jobs that many edges need."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

Row = tuple[str, ...]  # start, end, and the key columns
Node = tuple[str, tuple[str, ...]]


def closed(edges: list[Row], start: str | None, most: int) -> list[Row] | None:
    """Return the pairs that one or more edges connect, from `start` or from any node; None if they exceed `most`."""
    following: dict[Node, list[str]] = defaultdict(list)
    for s, o, *rest in edges:
        following[s, tuple(rest)].append(o)
    found: list[Row] = []
    for s, keys in [node for node in following if start in (None, node[0])]:
        for o in _reached(s, keys, following):
            found.append((s, o, *keys))
            if len(found) > most:
                return None
    return found


def _reached(start: str, keys: tuple[str, ...], following: dict[Node, list[str]]) -> Iterator[str]:
    """Return every reachable node once; the start itself only by a cycle."""
    seen: set[str] = set()
    pending = [start]
    while pending:
        new = [o for o in following.get((pending.pop(), keys), ()) if o not in seen]
        seen.update(new)
        pending += new
        yield from new
