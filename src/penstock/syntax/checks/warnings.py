"""Warnings about queries that are valid but probably not meant."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, is_dataclass

from penstock.syntax import tree
from penstock.syntax.checks.event_warnings import bound, event_warnings

__all__ = ["warnings_of"]


def warnings_of(query: tree.Query) -> Iterator[str]:
    """The warnings, one sentence each."""
    given = query.registration
    if given is not None and given.derives and given.emit is None and not given.rule:
        yield from _derives_nothing(given.name, query.form)
    yield from _unread(query)
    yield from event_warnings(query, _nodes(query))
    if isinstance(query.form, tree.Select):
        yield from _near_misses(query.form, bound(query))


def _derives_nothing(name: str, form: tree.Form) -> Iterator[str]:
    """The papers print a REGISTER STREAM with a SELECT, though they say that only triples make a stream."""
    if isinstance(form, tree.Select | tree.Ask):
        word = "SELECT" if isinstance(form, tree.Select) else "ASK"
        yield f"{name} derives no stream: {word} gives no triples, so its answers are only delivered"


def _unread(query: tree.Query) -> Iterator[str]:
    """Warnings about named windows that no block reads."""
    blocks = [node.name for node in _nodes(query) if isinstance(node, tree.WindowBlock)] if query.windows else []
    names = {name.value for name in blocks if isinstance(name, tree.Iri)}
    for clause in query.windows:
        shown = f"?{clause.variable.name}" if clause.variable else f"<{clause.name.value}>"
        word = "GRAPH" if clause.variable else "WINDOW"
        by_variable = clause.variable is None and any(isinstance(name, tree.Variable) for name in blocks)
        if clause.name.value not in names and not by_variable:
            yield f"line {clause.name.span.line}: the window {shown} is never read; {word} {shown} {{ … }} reads it"


def _nodes(node: object) -> Iterator[object]:
    """All nodes of a tree, those of expressions included."""
    yield node
    if isinstance(node, tuple):
        for item in node:
            yield from _nodes(item)
    elif is_dataclass(node):
        for field in fields(node):
            yield from _nodes(getattr(node, field.name))


def _near_misses(select: tree.Select, bound: set[str]) -> Iterator[str]:
    """Warnings about variables that differ only in case: names are case-sensitive, and an unbound variable is no
    error."""
    folded = {name.casefold(): name for name in bound}
    for item in select.items or ():
        name = item.variable.name
        near = folded.get(name.casefold())
        if item.expression is None and near is not None and name not in bound:
            yield f"line {item.variable.span.line}: ?{name} is never bound; did you mean ?{near}?"
