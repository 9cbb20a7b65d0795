"""Warnings about event queries that are valid but probably not meant."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from penstock.syntax import tree
from penstock.syntax.scope import annotated, unaggregated, visible
from penstock.syntax.suggest import nearest

__all__ = ["bound", "event_warnings"]


def event_warnings(query: tree.Query, nodes: Iterable[object]) -> Iterator[str]:
    """The warnings, one sentence each; `nodes` are all nodes of the tree."""
    streams = {clause.iri.value for clause in query.streams}
    for node in nodes:
        if isinstance(node, tree.Chain):
            yield from _out_of_time(node, streams)
        if isinstance(node, tree.SubSelect):
            yield from _unbound(node.select, bound(node))
    if isinstance(query.form, tree.Select):
        yield from _unbound(query.form, bound(query))


def _out_of_time(chain: tree.Chain, streams: set[str]) -> Iterator[str]:
    """Warnings about operands of SEQ or EQUALS that have no time."""
    operands = [(chain.links[0].operator, chain.first), *((link.operator, link.group) for link in chain.links)]
    for operator, group in operands:
        if operator != "UNION" and all(_occurs_never(element, streams) for element in group.elements):
            why = "data that comes from no stream has no time"
            yield f"line {group.span.line}: {operator} never has a solution here, as {why}"


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


def bound(level: tree.Query | tree.SubSelect) -> set[str]:
    """The variables that SELECT may read."""
    aliases = [key.alias.name for key in level.modifiers.group_by if key.alias is not None]
    values = [variable.name for variable in level.values.variables] if level.values else []
    return {*visible(level.where), *annotated(level.modifiers), *aliases, *values}


def _unbound(select: tree.Select, known: set[str]) -> Iterator[str]:
    """Warnings about unbound variables in SELECT with a name similar to a bound one."""
    for item in select.items or ():
        for variable in unaggregated(item.expression) if item.expression is not None else ():
            near = None if variable.name in known else nearest(variable.name, known)
            if near is not None:
                yield f"line {variable.span.line}: ?{variable.name} is never bound; did you mean ?{near}?"
        known = known | {item.variable.name}
