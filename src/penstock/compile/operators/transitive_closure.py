"""The closure of a few edges, computed here: cheaper than the Spark jobs that many edges are worth."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

Row = tuple[str, ...]  # a start, an end, and the keys that both hold for
Node = tuple[str, tuple[str, ...]]


def closed(edges: list[Row], start: str | None, most: int) -> list[Row] | None:
    """The pairs that one or more edges connect, from `start` or from anywhere; None where they are more than `most`."""
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
    """Every node that can be reached, once; the start only by a cycle."""
    seen: set[str] = set()
    pending = [start]
    while pending:
        new = [o for o in following.get((pending.pop(), keys), ()) if o not in seen]
        seen.update(new)
        pending += new
        yield from new
