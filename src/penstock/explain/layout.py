"""Positions of nodes in a picture: layers from top to bottom (Sugiyama's method, by grandalf).

Boxes are laid out first, each by itself, and then stand in the picture like nodes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import hypot
from typing import Any

from grandalf.graphs import Edge as Line
from grandalf.graphs import Vertex, graph_core
from grandalf.layouts import SugiyamaLayout

__all__ = ["Picture", "Place", "Point", "layered", "nested"]

Point = tuple[float, float]
GAP_ACROSS, GAP_DOWN, PADDING, TITLE = 36.0, 46.0, 18.0, 26.0


@dataclass(frozen=True, slots=True)
class Place:
    """A rectangle by its middle."""

    x: float
    y: float
    width: float
    height: float

    @property
    def left(self) -> float:
        return self.x - self.width / 2

    @property
    def top(self) -> float:
        return self.y - self.height / 2

    def moved(self, by: Point) -> Place:
        return Place(self.x + by[0], self.y + by[1], self.width, self.height)

    def border(self, towards: Point, round: bool = False) -> Point:
        """The point where a straight line from the middle leaves the rectangle, or the ellipse in it."""
        across, down = towards[0] - self.x, towards[1] - self.y
        far = abs(across) / (self.width / 2), abs(down) / (self.height / 2)
        reach = hypot(*far) if round else max(far)
        return self.x + across / max(reach, 1.0), self.y + down / max(reach, 1.0)


@dataclass(frozen=True, slots=True)
class Picture:
    """Places of nodes and boxes by their ids; `bends` are points that long edges go through."""

    places: Mapping[str, Place]
    bends: Mapping[tuple[str, str], tuple[Point, ...]]
    width: float
    height: float


class _Size:
    """The view objects that grandalf needs of a vertex and of an edge."""

    def __init__(self, width: float = 1.0, height: float = 1.0) -> None:
        self.w, self.h = width, height
        self.xy: Point = (0.0, 0.0)
        self.points: list[Point] = []

    def setpath(self, points: list[Point]) -> None:
        self.points = points


def layered(sizes: Mapping[str, Point], edges: Iterable[tuple[str, str]]) -> Picture:
    """Nodes of these sizes; an edge goes down from the first of its ends to the second. Parts that nothing connects
    stand side by side."""
    edges = [ends for ends in dict.fromkeys(edges) if ends[0] != ends[1]]
    places: dict[str, Place] = {}
    bends: dict[tuple[str, str], tuple[Point, ...]] = {}
    right = 0.0
    for part in _connected(sizes, edges):
        own = [ends for ends in edges if ends[0] in part]
        right = _part(_net({id: sizes[id] for id in part}, own), right, places, bends)
    height = max((p.top + p.height for p in places.values()), default=0.0)
    return Picture(places, bends, max(0.0, right - GAP_ACROSS), height)


def _connected(ids: Iterable[str], edges: Iterable[tuple[str, str]]) -> list[list[str]]:
    """The connected parts in a fixed order, unlike grandalf's own: equal graphs have equal pictures."""
    parts = [[id] for id in ids]
    for ends in edges:
        near = [part for part in parts if ends[0] in part or ends[1] in part]
        parts = [part for part in parts if part not in near]
        parts.append([id for part in near for id in part])
    return parts


def _net(sizes: Mapping[str, Point], edges: Iterable[tuple[str, str]]) -> Any:
    vertices = {id: Vertex(id) for id in sizes}
    for id, vertex in vertices.items():
        vertex.view = _Size(*sizes[id])
    lines = [Line(vertices[above], vertices[below]) for above, below in edges]
    for line in lines:
        line.view = _Size()
    return graph_core(list(vertices.values()), lines)


def _part(part: Any, left: float, places: dict[str, Place], bends: dict[tuple[str, str], tuple[Point, ...]]) -> float:
    """Place one connected part to the right of `left`, and return where the next one may begin."""
    layout = SugiyamaLayout(part)
    layout.xspace, layout.yspace = GAP_ACROSS, GAP_DOWN
    vertices, lines = list(part.sV), list(part.sE)
    layout.init_all(roots=[v for v in vertices if not v.e_in()] or vertices[:1])
    layout.draw(8)
    spots = [Place(v.view.xy[0], v.view.xy[1], v.view.w, v.view.h) for v in vertices]
    spots += [Place(x, y, 0.0, 0.0) for line in lines for x, y in line.view.points[1:-1]]
    shift = left - min(spot.left for spot in spots), -min(spot.top for spot in spots)
    for v, spot in zip(vertices, spots, strict=False):
        places[v.data] = spot.moved(shift)
    for line in lines:
        bends[line.v[0].data, line.v[1].data] = tuple((x + shift[0], y + shift[1]) for x, y in line.view.points[1:-1])
    return max(spot.left + spot.width for spot in spots) + shift[0] + GAP_ACROSS


def nested(
    sizes: Mapping[str, Point],
    edges: Iterable[tuple[str, str]],
    members: Mapping[str, tuple[str, ...]],
    titles: Mapping[str, float],
) -> Picture:
    """The layout with boxes: `members` are the nodes of each, and a node is in one box at most; `titles` is how wide
    the title of each is."""
    edges = list(edges)
    box_of = {node: box for box, nodes in members.items() for node in nodes}
    inner = {box: _inside(nodes, sizes, edges) for box, nodes in members.items()}
    outer = {id: size for id, size in sizes.items() if id not in box_of}
    wide = {box: max(picture.width, titles[box]) + 2 * PADDING for box, picture in inner.items()}
    outer |= {box: (wide[box], p.height + 2 * PADDING + TITLE) for box, p in inner.items()}
    between = ((box_of.get(a, a), box_of.get(b, b)) for a, b in edges)
    around = layered(outer, between)
    places = dict(around.places)
    for box, picture in inner.items():
        corner = places[box].x - picture.width / 2, places[box].top + PADDING + TITLE
        places |= {id: place.moved(corner) for id, place in picture.places.items()}
    free = {ends: points for ends, points in around.bends.items() if not {*ends} & members.keys()}
    return Picture(places, free, around.width, around.height)


def _inside(nodes: tuple[str, ...], sizes: Mapping[str, Point], edges: list[tuple[str, str]]) -> Picture:
    own = [(a, b) for a, b in edges if a in nodes and b in nodes]
    return layered({id: sizes[id] for id in nodes}, own)
