"""Warnings about event queries that are valid but probably not meant."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from penstock.errors import PenstockWarning
from penstock.syntax import tree

__all__ = ["event_warnings"]


def event_warnings(query: tree.Query, nodes: Iterable[object]) -> Iterator[PenstockWarning]:
    """The warnings; `nodes` are all nodes of the tree."""
    streams = {clause.iri.value for clause in query.streams}
    for node in nodes:
        if isinstance(node, tree.Chain):
            yield from _out_of_time(node, streams, query.text)


def _out_of_time(chain: tree.Chain, streams: set[str], text: str) -> Iterator[PenstockWarning]:
    """Warnings about operands of SEQ or EQUALS that have no time."""
    operands = [(chain.links[0].operator, chain.first), *((link.operator, link.group) for link in chain.links)]
    for operator, group in operands:
        if operator != "UNION" and all(_occurs_never(element, streams) for element in group.elements):
            why = "data that comes from no stream has no time"
            yield group.span.warning(f"{operator} never has a solution here, as {why}", text)


def _occurs_never(element: tree.Element, streams: set[str]) -> bool:
    """Whether the group certainly reads no stream: inline data, or a named graph that is none of the given streams."""
    match element:
        case tree.InlineData() | tree.Filter() | tree.Bind():
            return True
        case tree.NamedGraph(tree.Iri(name), _):
            return bool(streams) and name not in streams
        case tree.Union(groups):
            return all(_occurs_never(inner, streams) for group in groups for inner in group.elements)
    return False
