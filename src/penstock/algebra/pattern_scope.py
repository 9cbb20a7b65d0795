"""The position of a pattern in a query, and the windows and graphs that its triples may come from."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from pyoxigraph import NamedNode

from penstock.algebra.expressions import Var
from penstock.algebra.ops import Graph, InWindow, Op, StreamWindow, WindowOverride

__all__ = ["DEFAULT_SCOPE", "PatternScope"]


@dataclass(frozen=True, slots=True)
class PatternScope:
    """The GRAPH, the window block and the overriding window around a pattern, the innermost of each kind.

    A variable stands for every graph or window; the compiler names the key column that runs over the graphs.
    """

    graph: Var | NamedNode | None = None
    window: Var | NamedNode | None = None
    tag: int = 0

    def inside(self, op: Op) -> PatternScope:
        """The place of the operands of `op`."""
        match op:
            case Graph(name, _):
                return replace(self, graph=name)
            case InWindow(name, _):
                return replace(self, window=name, graph=None)
            case WindowOverride(tag, _):
                return replace(self, tag=tag)
        return self

    def windows(self, streams: Iterable[StreamWindow]) -> tuple[StreamWindow, ...]:
        """The windows of a query in which a triple pattern here may match."""
        return tuple(filter(self.reads, streams))

    @property
    def background(self) -> bool:
        """Whether a triple may also come from the background: in a window block there is nothing else."""
        return self.window is None

    def reads(self, stream: StreamWindow) -> bool:
        """Whether a triple pattern here may match in the window."""
        if self.window is not None:
            return stream.name is not None and self.window in (stream.name, *_variable(self.window))
        if stream.name is not None or stream.tag != self.tag:
            return False
        if self.graph is None:
            return not stream.named
        return self.graph in (stream.iri, *_variable(self.graph))


def _variable(name: Var | NamedNode) -> tuple[Var, ...]:
    """A variable stands for every name."""
    return (name,) if isinstance(name, Var) else ()


DEFAULT_SCOPE = PatternScope()
"""The place of a query's pattern as a whole: its default graph."""
