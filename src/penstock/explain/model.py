"""The graph model of O-Graphs and D-Graphs: nodes, edges, boxes, figures."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

__all__ = ["Box", "Edge", "Figures", "Graph", "Node"]


@dataclass(frozen=True, slots=True)
class Figures:
    """The estimate of a node, and its measurements after a run: rows per instant (`estimated`, and on average
    `actual`), `rows` of the whole span, the `seconds` of the node with all nodes below it, and its `state`."""

    estimated: float | None = None
    actual: float | None = None
    rows: int | None = None
    seconds: float | None = None
    state: str | None = None


@dataclass(frozen=True, slots=True)
class Node:
    """A node: `kind` is the sort of operator or vertex, `title` and `lines` are its text.

    `added`: streams have brought this sort of operator to SPARQL (shaded, as the paper does). `filled`: a variable
    that is projected. `sources` are the boxes that a vertex comes from, `of` is the operator, window or stream that the
    node stands for.
    """

    id: str
    kind: str
    title: str
    lines: tuple[str, ...] = ()
    added: bool = False
    filled: bool = False
    sources: tuple[str, ...] = ()
    figures: Figures | None = None
    of: object = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Edge:
    """Data flows from `source` to `target`; `dashed` where it need not be there, or must not."""

    source: str
    target: str
    label: str = ""
    dashed: bool = False


@dataclass(frozen=True, slots=True)
class Box:
    """A dashed rectangle around nodes. A node that belongs to several boxes is drawn in the first."""

    id: str
    kind: str
    title: str
    nodes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Graph:
    """Nodes in the order in which they were met, the outermost first."""

    title: str
    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...]
    boxes: tuple[Box, ...] = ()

    def node(self, id: str) -> Node:
        return next(node for node in self.nodes if node.id == id)

    def into(self, id: str) -> list[Edge]:
        """The edges that bring data to the node, in the order of its operands."""
        return [edge for edge in self.edges if edge.target == id]

    def box_of(self, id: str) -> Box | None:
        """The box in which the node is drawn."""
        return next((box for box in self.boxes if id in box.nodes), None)

    def others_of(self, node: Node) -> list[str]:
        """A line that names the boxes that it comes from as well, besides the one in which it is drawn."""
        others = [str(self.number(box)) for box in self.boxes if box.id in node.sources[1:]]
        return [f"also in {', '.join(others)}"] if others else []

    def number(self, box: Box) -> int:
        """The number of a box, for places without room for its title."""
        return self.boxes.index(box) + 1

    def with_figures(self, figures: Mapping[str, Figures]) -> Graph:
        """The same graph; `figures` by the ids of nodes."""
        return replace(self, nodes=tuple(replace(n, figures=figures.get(n.id, n.figures)) for n in self.nodes))

    def of_kind(self, kinds: Iterable[str]) -> list[Node]:
        wanted = set(kinds)
        return [node for node in self.nodes if node.kind in wanted]
