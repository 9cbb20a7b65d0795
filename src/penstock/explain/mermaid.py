"""Graphs as one Mermaid flowchart: a subgraph each, and inside it one for every source."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from penstock.explain.model import Graph, Node
from penstock.explain.number_format import figure_lines

__all__ = ["mermaid"]

_SHAPES = {"variable": ("([", "])"), "function": ("((", "))"), "stream": ("[/", "/]"), "graph": ("[(", ")]")}
_CLASSES = """
    classDef added fill:#d9dee4,stroke:#334e68,color:#1f2933
    classDef filled fill:#334e68,stroke:#334e68,color:#ffffff
    classDef view fill:#e3f4ea,stroke:#334e68,color:#1f2933
    classDef source fill:none,stroke:#829ab1,stroke-dasharray:6 4
""".strip("\n")
# An entity in place of what Mermaid reads as its own, or as Markdown.
_ESCAPED = str.maketrans({c: f"#{ord(c)};" for c in '"<>&#`*_[]{}|\\'})


def mermaid(graphs: Sequence[Graph]) -> str:
    """All graphs in one chart."""
    lines = ["flowchart BT"]
    for number, graph in enumerate(graphs):
        lines += _graph(graph, "abcdefgh"[number])
    return "\n".join([*lines, _CLASSES]) + "\n"


def _graph(graph: Graph, name: str) -> Iterator[str]:
    """Ids of nodes are those of the graph behind its own letter, so that graphs do not meet."""
    yield f'    subgraph {name}["{_text(graph.title)}"]'
    yield f"        direction {'TB' if graph.boxes else 'BT'}"
    for box in graph.boxes:
        title = f"{graph.number(box)} · {box.kind} {box.title}".rstrip()
        yield f'        subgraph {name}_{box.id}["{_text(title)}"]'
        drawn = (node for node in graph.nodes if node.sources[:1] == (box.id,))
        yield from (f"            {_node(node, graph, name)}" for node in drawn)
        yield "        end"
    for node in graph.nodes:
        if not node.sources:
            yield f"        {_node(node, graph, name)}"
    for edge in graph.edges:
        arrow = "-.->" if edge.dashed else "-->"
        label = f'|"{_text(edge.label)}"|' if edge.label else ""
        yield f"        {name}_{edge.source} {arrow}{label} {name}_{edge.target}"
    yield "    end"
    yield from (f"    class {name}_{box.id} source" for box in graph.boxes)


def _node(node: Node, graph: Graph, name: str) -> str:
    left, right = _SHAPES.get(node.kind, ("[", "]"))
    lines = [node.title, *node.lines, *graph.others_of(node), *figure_lines(node.figures)]
    text = "<br>".join(map(_text, lines))
    marks = {"filled": node.filled, "view": node.kind == "static_view", "added": node.added}
    mark = next((f":::{mark}" for mark, on in marks.items() if on), "")
    return f'{name}_{node.id}{left}"{text}"{right}{mark}'


def _text(text: str) -> str:
    return text.translate(_ESCAPED)
