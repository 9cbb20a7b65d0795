"""Strongly connected components, each after those that lead to it (Tarjan's algorithm, without recursion)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

__all__ = ["components"]


def components(leads_to: Sequence[Sequence[int]]) -> list[list[int]]:
    """The nodes 0, 1, … in components. A component comes after all that have an edge into it; inside it, and between
    those without an order, smaller numbers come first where that is possible."""
    search = _Search(leads_to)
    for node in reversed(range(len(leads_to))):
        if node not in search.number:
            search.visit(node)
    return [sorted(component) for component in reversed(search.components)]


class _Search:
    def __init__(self, leads_to: Sequence[Sequence[int]]) -> None:
        self._leads_to = leads_to
        self._open: list[int] = []
        self._low: dict[int, int] = {}
        self.number: dict[int, int] = {}
        self.components: list[list[int]] = []

    def visit(self, root: int) -> None:
        trail = [(root, self._enter(root))]
        while trail:
            node, following = trail[-1]
            for other in following:
                if other not in self.number:
                    trail.append((other, self._enter(other)))
                    break
                self._reach(node, self.number[other] if other in self._low else None)
            else:
                trail.pop()
                self._leave(node, trail[-1][0] if trail else None)

    def _enter(self, node: int) -> Iterator[int]:
        self.number[node] = self._low[node] = len(self.number)
        self._open.append(node)
        return iter(sorted(self._leads_to[node], reverse=True))

    def _reach(self, node: int, low: int | None) -> None:
        if low is not None:
            self._low[node] = min(self._low[node], low)

    def _leave(self, node: int, parent: int | None) -> None:
        low = self._low[node]
        if low == self.number[node]:
            start = self._open.index(node)
            self.components.append(self._open[start:])
            for member in self._open[start:]:
                del self._low[member]
            del self._open[start:]
        elif parent is not None:
            self._reach(parent, low)
