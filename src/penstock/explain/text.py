"""An explanation for a terminal: a tree for the O-Graph, a table for the D-Graph, the rules one by one."""

from __future__ import annotations

import io
from collections.abc import Iterator
from typing import TYPE_CHECKING

from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text
from rich.tree import Tree

from penstock.algebra import sse
from penstock.explain.model import Graph, Node
from penstock.explain.number_format import figure_lines

if TYPE_CHECKING:
    from penstock.explain.explanation import Explanation, Part

__all__ = ["plain", "rendered"]

_WIDTH = 10_000  # a file has no width: nothing is wrapped


def plain(explanation: Explanation, part: Part) -> str:
    """The text without colours."""
    out = io.StringIO()
    Console(file=out, width=_WIDTH, force_terminal=False, color_system=None).print(rendered(explanation, part))
    return "\n".join(line.rstrip() for line in out.getvalue().splitlines()) + "\n"


def rendered(explanation: Explanation, part: Part) -> RenderableType:
    """The explanation for rich's console, which knows the width and the colours of the terminal."""
    return Group(*_sections(explanation, part))


def _sections(explanation: Explanation, part: Part) -> Iterator[RenderableType]:
    if part != "d":
        for graph in explanation.ographs:
            yield from _section(graph.title, _tree(graph))
    if part != "o":
        yield from _section(explanation.dgraph.title, *_vertices(explanation.dgraph))
    if part == "both":
        yield from _trace(explanation)
        for title, lines in explanation.more():
            yield from _section(title, *map(Text, lines))


def _section(title: str, *inside: RenderableType) -> Iterator[RenderableType]:
    yield Text(title, style="bold underline")
    yield from inside
    yield Text("")


def _tree(graph: Graph) -> Tree:
    """The O-Graph as a tree, from the result down to the sources. A source that several patterns read is written out
    once."""
    expanded: set[str] = set()
    root = graph.nodes[0]
    tree = Tree(_line(root, ""), guide_style="dim", highlight=False)
    _grow(tree, root, graph, expanded)
    return tree


def _grow(tree: Tree, node: Node, graph: Graph, expanded: set[str]) -> None:
    for edge in graph.into(node.id):
        below = graph.node(edge.source)
        is_repeated = below.id in expanded
        branch = tree.add(_line(below, edge.label, is_repeated))
        expanded.add(below.id)
        if not is_repeated:
            _grow(branch, below, graph, expanded)


def _line(node: Node, role: str, is_repeated: bool = False) -> Text:
    line = Text(overflow="fold")
    if role:
        line.append(f"{role}: ", style="dim")
    line.append(node.title, style="bold cyan" if node.added else "bold")
    if node.lines:
        line.append("  " + " · ".join(node.lines))
    for figure in () if is_repeated else figure_lines(node.figures):
        line.append(f"  ({figure})", style="green")
    return line


def _vertices(graph: Graph) -> Iterator[RenderableType]:
    """The sources by their numbers, a vertex a line, and the edges."""
    for box in graph.boxes:
        yield Text(f"{graph.number(box)}  {box.kind} {box.title}".rstrip())
    yield Text("")
    yield _table(graph)
    yield Text("")
    yield from map(Text, _links(graph))


def _table(graph: Graph) -> Table:
    table = Table(box=None, pad_edge=False, header_style="dim")
    for heading in ("vertex", "kind", "comes from", "conditions"):
        table.add_column(heading, overflow="fold")
    for node in graph.nodes:
        shown = Text(f"{'●' if node.filled else '○'} {node.title}", style="bold" if node.filled else "")
        homes = ", ".join(str(graph.number(box)) for box in graph.boxes if box.id in node.sources)
        table.add_row(shown, node.kind, Text(homes or "–"), Text(" · ".join(node.lines)))
    return table


def _links(graph: Graph) -> Iterator[str]:
    for edge in graph.edges:
        arrow = "⇢" if edge.dashed else "→"
        note = f"  ({edge.label})" if edge.label else ""
        yield f"{graph.node(edge.source).title} {arrow} {graph.node(edge.target).title}{note}"


def _trace(explanation: Explanation) -> Iterator[RenderableType]:
    steps = explanation.trace
    if not steps:
        yield from _section("Rules", Text("none changed the plan"))
    for number, step in enumerate(steps, 1):
        yield from _section(f"Rule {number}: {step.rule}", Text(step.why), Text(sse.write(step.after)))
