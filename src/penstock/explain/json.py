"""An explanation as JSON; docs/how-to/explain.md describes each field."""

from __future__ import annotations

import json as standard
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from penstock.algebra import sse
from penstock.explain.model import Graph, Node

if TYPE_CHECKING:
    from penstock.explain.explanation import Explanation, Part

__all__ = ["json"]

VERSION = 1


def json(explanation: Explanation, part: Part) -> str:
    """The explanation as JSON text; equal explanations have equal text."""
    written: dict[str, Any] = {"version": VERSION, "query": explanation.name}
    if part != "d":
        written["ographs"] = [_graph(graph) for graph in explanation.ographs]
    if part != "o":
        written["dgraph"] = _graph(explanation.dgraph)
    if part == "both":
        written["trace"] = [
            {"rule": step.rule, "why": step.why, "plan": sse.write(step.after)} for step in explanation.trace
        ]
        written["aggregates"] = list(explanation.aggregates)
        written["orders"] = list(explanation.orders)
        written["physical"] = explanation.physical
    return standard.dumps(written, indent=2, ensure_ascii=False) + "\n"


def _graph(graph: Graph) -> dict[str, Any]:
    return {
        "title": graph.title,
        "nodes": [_node(node) for node in graph.nodes],
        "edges": [asdict(edge) for edge in graph.edges],
        "boxes": [asdict(box) for box in graph.boxes],
    }


def _node(node: Node) -> dict[str, Any]:
    written = {"id": node.id, "kind": node.kind, "title": node.title, "lines": node.lines, "added": node.added}
    written |= {"filled": node.filled, "sources": node.sources}
    return written | ({} if node.figures is None else {"figures": asdict(node.figures)})
