"""Warnings about windows that nothing reads, and about graphs whose name is that of a stream, or nearly so."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence

from penstock.errors import PenstockWarning
from penstock.syntax import tree
from penstock.syntax.checks.walk import nodes
from penstock.syntax.suggest import one_edit_away

__all__ = ["foreign_graphs", "foreign_streams", "near_streams", "unread_windows"]

_SHORT = 4  # shorter names are near to each other by chance
_LAST_PART = re.compile(r"[^/#:]*$")


def unread_windows(query: tree.Query, every_node: Sequence[object]) -> Iterator[PenstockWarning]:
    """Warnings about named windows that no block reads."""
    blocks = [node.name for node in every_node if isinstance(node, tree.WindowBlock)]
    names = {name.value for name in blocks if isinstance(name, tree.Iri)}
    for clause in query.windows:
        shown = f"?{clause.variable.name}" if clause.variable else f"<{clause.name.value}>"
        word = "GRAPH" if clause.variable else "WINDOW"
        by_variable = clause.variable is None and any(isinstance(name, tree.Variable) for name in blocks)
        if clause.name.value not in names and not by_variable:
            reason = f"the window {shown} is never read; {word} {shown} {{ … }} reads it"
            yield clause.name.span.warning(reason, query.text)


def near_streams(query: tree.Query, every_node: Sequence[object]) -> Iterator[PenstockWarning]:
    """Warnings about `GRAPH <iri>` one letter off a stream or a window, unless FROM or FROM NAMED has that graph."""
    streams = _streams(query, every_node)
    windows = [clause.name.value for clause in query.windows if clause.variable is None]
    known = {*streams, *windows, *(clause.iri.value for clause in query.datasets)}
    for node in every_node:
        match node:
            case tree.NamedGraph(tree.Iri(name, span)) if name not in known:
                if near := _near(name, streams):
                    yield span.warning(f"<{name}> is no stream of this query; did you mean <{near}>?", query.text)
                elif near := _near(name, windows):
                    reason = f"<{name}> is no window of this query; did you mean WINDOW <{near}>?"
                    yield span.warning(reason, query.text)


def foreign_streams(query: tree.Query, streams: Collection[str]) -> Iterator[PenstockWarning]:
    """Warnings about `GRAPH <iri>` of one of the streams, if the query does not read that stream."""
    for iri in foreign_graphs(query):
        if (name := iri.value) in streams:
            reason = f"<{name}> is a stream, but this query has no window on it: GRAPH reads the background alone"
            yield iri.span.warning(reason, query.text, f"add FROM NAMED STREAM <{name}> [RANGE 10m STEP 1m]")


def foreign_graphs(query: tree.Query) -> Iterator[tree.Iri]:
    """The graphs of `GRAPH <iri>` that the query has no window on, and does not read by FROM or FROM NAMED."""
    every_node = list(nodes(query))
    known = {*_streams(query, every_node), *(clause.iri.value for clause in query.datasets)}
    for node in every_node:
        match node:
            case tree.NamedGraph(tree.Iri(name) as iri) if name not in known:
                yield iri


def _streams(query: tree.Query, every_node: Iterable[object]) -> list[str]:
    """The streams that a query reads under their own names."""
    blocks = [node.iri for node in every_node if isinstance(node, tree.StreamBlock)]
    return [iri.value for iri in (*(clause.iri for clause in query.streams), *blocks)]


def _near(name: str, candidates: Sequence[str]) -> str | None:
    """The first candidate that is one edit away."""
    long_enough = (other for other in candidates if min(_last_part(name), _last_part(other)) >= _SHORT)
    return next((other for other in long_enough if one_edit_away(name, other)), None)


def _last_part(iri: str) -> int:
    """The length of an IRI's last part."""
    match = _LAST_PART.search(iri)
    return len(match[0]) if match else 0
