"""Graphs as one picture in SVG: operators as rectangles, vertices as circles, sources as dashed boxes."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from penstock.explain.layout import Picture, Place, Point, layered, nested
from penstock.explain.model import Edge, Graph, Node
from penstock.explain.number_format import figure_lines

__all__ = ["svg"]

_CHARACTER, _LINE, _MARGIN, _HEADING = 7.9, 18.0, 28.0, 46.0  # pixels: of the font at 13
_BOW = 0.22  # how far edges between boxes go aside, as a part of their length
_ROUND = {"variable", "function"}

_STYLE = """
text { font: 13px "DejaVu Sans Mono", Menlo, Consolas, monospace; fill: #1f2933; text-anchor: middle }
text.heading { font: 600 17px "DejaVu Sans", Helvetica, Arial, sans-serif; text-anchor: start; fill: #102a43 }
text.title { font-weight: 600 }
text.box { text-anchor: start; fill: #52606d; font-size: 12px }
text.small { fill: #52606d; font-size: 11px }
text.edge { fill: #52606d; font-size: 11px; text-anchor: start }
text.figure { fill: #0b6e4f; font-size: 12px }
text.filled { fill: #ffffff; font-weight: 600 }
rect, ellipse { fill: #ffffff; stroke: #334e68; stroke-width: 1.2 }
.added { fill: #d9dee4 }
.filled { fill: #334e68 }
.view { fill: #e3f4ea }
.constant { stroke: #829ab1 }
.source { fill: none; stroke: #829ab1; stroke-dasharray: 6 4 }
.aggregation { fill: #f2f4f7; stroke: #829ab1 }
path { fill: none; stroke: #52606d; stroke-width: 1.2; marker-end: url(#arrow) }
path.dashed { stroke-dasharray: 4 3 }
""".strip()
_ARROW = (
    '<defs><marker id="arrow" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="7" markerHeight="7" '
    'orient="auto-start-reverse"><path d="M0 0L10 5L0 10z" style="fill:#52606d;stroke:none;marker-end:none"/>'
    "</marker></defs>"
)


def svg(graphs: Sequence[Graph]) -> str:
    """All graphs, one under the other."""
    parts: list[str] = []
    width, down = 0.0, _MARGIN
    for graph in graphs:
        picture = _laid_out(graph)
        inside = "\n".join([*_boxes(graph, picture), *_edges(graph, picture), *_nodes(graph, picture)])
        heading = f'<text class="heading" x="{_MARGIN:g}" y="{down + 14:.0f}">{escape(graph.title)}</text>'
        parts.append(f'{heading}\n<g transform="translate({_MARGIN:g} {down + _HEADING:.0f})">\n{inside}\n</g>')
        width = max(width, picture.width, len(graph.title) * 10.0)
        down += _HEADING + picture.height + 1.5 * _MARGIN
    size = f'width="{width + 2 * _MARGIN:.0f}" height="{down:.0f}"'
    head = f'<svg xmlns="http://www.w3.org/2000/svg" {size}>\n<style>{_STYLE}</style>\n{_ARROW}'
    paper = '<rect width="100%" height="100%" style="stroke:none"/>'
    return "\n".join([head, paper, *parts, "</svg>"]) + "\n"


def _laid_out(graph: Graph) -> Picture:
    """The picture of a graph: operators above their inputs, as in the paper; vertices in the order in which a triple is
    read."""
    sizes = {node.id: _size(node, graph) for node in graph.nodes}
    if not graph.boxes:
        return layered(sizes, [(edge.target, edge.source) for edge in graph.edges])
    drawn = {box.id: tuple(n.id for n in graph.nodes if n.sources[:1] == (box.id,)) for box in graph.boxes}
    titles = {box.id: (len(box.title) + len(box.kind) + 5) * _CHARACTER * 0.92 for box in graph.boxes}
    return nested(sizes, [_downward(edge, graph) for edge in graph.edges], drawn, titles)


def _downward(edge: Edge, graph: Graph) -> tuple[str, str]:
    """The edges as the layout takes them: aggregations stand below their inputs."""
    box = graph.box_of(edge.source)
    reads = box is not None and box.kind == "aggregation" and edge.target not in box.nodes
    return (edge.target, edge.source) if reads else (edge.source, edge.target)


def _texts(node: Node, graph: Graph) -> list[tuple[str, str]]:
    """The lines in a node, each with its class."""
    texts = [("title filled" if node.filled else "title", node.title)]
    texts += [("filled" if node.filled else "", line) for line in node.lines]
    texts += [("filled" if node.filled else "small", line) for line in graph.others_of(node)]
    return texts + [("figure", line) for line in figure_lines(node.figures)]


def _size(node: Node, graph: Graph) -> Point:
    texts = _texts(node, graph)
    width = max(len(text) for _, text in texts) * _CHARACTER + 22
    height = len(texts) * _LINE + 14
    return (max(width * 1.12, 46.0), max(height * 1.25, 40.0)) if node.kind in _ROUND else (width, height)


def _nodes(graph: Graph, picture: Picture) -> list[str]:
    return [_node(node, _texts(node, graph), picture.places[node.id]) for node in graph.nodes]


def _node(node: Node, texts: list[tuple[str, str]], at: Place) -> str:
    marks = {"added": node.added, "filled": node.filled, "view": node.kind == "static_view"}
    classes = " ".join([*(name for name, on in marks.items() if on), *(["constant"] if node.kind == "IRI" else [])])
    if node.kind in _ROUND:
        size = f'cx="{at.x:.1f}" cy="{at.y:.1f}" rx="{at.width / 2:.1f}" ry="{at.height / 2:.1f}"'
        shape = f'<ellipse class="{classes}" {size}/>'
    else:
        shape = f'<rect class="{classes}" {_rectangle(at)} rx="4"/>'
    first = at.y - (len(texts) - 1) * _LINE / 2 + 4.5
    lines = (_text(kind, at.x, first + i * _LINE, text) for i, (kind, text) in enumerate(texts))
    return "\n".join([f'<g id="{node.id}">', shape, *lines, "</g>"])


def _text(kind: str, x: float, y: float, text: str) -> str:
    return f'<text class="{kind}" x="{x:.1f}" y="{y:.1f}">{escape(text)}</text>'


def _rectangle(at: Place) -> str:
    return f'x="{at.left:.1f}" y="{at.top:.1f}" width="{at.width:.1f}" height="{at.height:.1f}"'


def _boxes(graph: Graph, picture: Picture) -> list[str]:
    parts = []
    for box in graph.boxes:
        if (at := picture.places.get(box.id)) is not None:
            kind = "aggregation" if box.kind == "aggregation" else "source"
            parts.append(f'<rect class="{kind}" {_rectangle(at)} rx="6"/>')
            parts.append(_text("box", at.left + 10, at.top + 18, f"{graph.number(box)} · {box.kind} {box.title}"))
    return parts


def _edges(graph: Graph, picture: Picture) -> list[str]:
    apart = (graph.box_of(edge.source) != graph.box_of(edge.target) for edge in graph.edges)
    return [part for edge, far in zip(graph.edges, apart, strict=True) for part in _edge(edge, graph, picture, far)]


def _edge(edge: Edge, graph: Graph, picture: Picture, far: bool) -> list[str]:
    """The edge from border to border, through the points that the layout left free for it; from box to box (`far`) in a
    bow, around the nodes in between."""
    here, there = picture.places[edge.source], picture.places[edge.target]
    bends = picture.bends.get((edge.source, edge.target)) or picture.bends.get((edge.target, edge.source), ())[::-1]
    if far:
        bends = (_aside((here.x, here.y), (there.x, there.y)),)
    round = [graph.node(id).kind in _ROUND for id in (edge.source, edge.target)]
    start = here.border(bends[0] if bends else (there.x, there.y), round[0])
    end = there.border(bends[-1] if bends else (here.x, here.y), round[1])
    points = [f"{x:.1f} {y:.1f}" for x, y in (start, *bends, end)]
    line = f"M{points[0]}Q{points[1]} {points[2]}" if far else "M" + "L".join(points)
    drawn = [f'<path class="{"dashed" if edge.dashed else ""}" d="{line}"/>']
    if edge.label:
        before = bends[-1] if bends else start
        drawn.append(_text("edge", (before[0] + end[0]) / 2 + 6, (before[1] + end[1]) / 2 + 4, edge.label))
    return drawn


def _aside(one: Point, other: Point) -> Point:
    """Beside the middle of the two."""
    across, down = other[0] - one[0], other[1] - one[1]
    return (one[0] + other[0]) / 2 + down * _BOW, (one[1] + other[1]) / 2 - across * _BOW
