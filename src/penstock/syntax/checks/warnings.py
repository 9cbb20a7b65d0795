"""Warnings about queries that are valid but probably not meant."""

from __future__ import annotations

from collections.abc import Iterator

from penstock.errors import PenstockWarning
from penstock.syntax import tree
from penstock.syntax.checks.comparison_warnings import comparison_warnings
from penstock.syntax.checks.event_warnings import event_warnings
from penstock.syntax.checks.graph_warnings import near_streams, unread_windows
from penstock.syntax.checks.unbound_warnings import unbound_warnings
from penstock.syntax.checks.walk import nodes

__all__ = ["warnings_of"]


def warnings_of(query: tree.Query) -> Iterator[PenstockWarning]:
    """The warnings, each with its place in the query."""
    every_node = list(nodes(query))
    yield from _derives_nothing(query)
    yield from unread_windows(query, every_node)
    yield from near_streams(query, every_node)
    yield from event_warnings(query, every_node)
    yield from comparison_warnings(every_node, query.text)
    yield from unbound_warnings(query)


def _derives_nothing(query: tree.Query) -> Iterator[PenstockWarning]:
    """The papers print a REGISTER STREAM with a SELECT, though they say that only triples make a stream."""
    given = query.registration
    if given is None or not given.derives or given.emit is not None or given.rule:
        return
    if isinstance(query.form, tree.Select | tree.Ask):
        word = "SELECT" if isinstance(query.form, tree.Select) else "ASK"
        sentence = f"{given.name} derives no stream: {word} gives no triples, so its answers are only delivered"
        yield given.iri.span.marked(sentence, query.text)
