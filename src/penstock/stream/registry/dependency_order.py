"""The dependency order of queries: a query that derives a stream comes before the queries that read it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from graphlib import CycleError, TopologicalSorter
from typing import Protocol, TypeVar

from penstock.errors import QueryError

__all__ = ["DerivationNode", "check_streams", "in_order", "unknown_stream"]


class DerivationNode(Protocol):
    """A node of the dependency graph: a query with the streams that it reads and derives."""

    @property
    def name(self) -> str: ...
    @property
    def inputs(self) -> tuple[str, ...]: ...
    @property
    def output(self) -> str | None: ...


N = TypeVar("N", bound=DerivationNode)


def in_order(nodes: Iterable[N]) -> list[N]:
    """The queries in dependency order, else in the order given."""
    queries = list(nodes)
    by_output = _producers(queries)
    needs = {node.name: [by_output[s].name for s in node.inputs if s in by_output] for node in queries}
    try:
        names = list(TopologicalSorter(needs).static_order())
    except CycleError as error:
        circle = " → ".join(reversed(error.args[1]))
        raise QueryError(f"these queries depend on each other in a cycle: {circle}") from None
    rank = {name: number for number, name in enumerate(names)}
    return sorted(queries, key=lambda node: rank[node.name])


def _producers(queries: Iterable[N]) -> Mapping[str, N]:
    by_output: dict[str, N] = {}
    for node in queries:
        if node.output is not None and (other := by_output.setdefault(node.output, node)) is not node:
            raise QueryError(f"the queries {other.name} and {node.name} both derive the stream <{node.output}>")
    return by_output


def check_streams(nodes: Iterable[DerivationNode], declared: Iterable[str]) -> None:
    """Refuse a query that reads a stream which is neither declared nor derived."""
    queries = list(nodes)
    existing = {*declared, *(node.output for node in queries if node.output is not None)}
    for node in queries:
        for stream in node.inputs:
            if stream not in existing:
                raise unknown_stream(node.name, stream, existing)


def unknown_stream(query: str | None, stream: str, existing: Iterable[str]) -> QueryError:
    """The error for reading or pushing to a stream that does not exist."""
    place = "" if query is None else f"query {query}: "
    return QueryError(f"{place}there is no stream <{stream}>", hint=_hint(stream, existing))


def _hint(stream: str, names: Iterable[str]) -> str:
    near = get_close_matches(stream, list(names), n=1, cutoff=0.8)
    if near:
        return f"did you mean <{near[0]}>?"
    return f'declare it first: engine.stream("{stream}", SOURCE), or --stream {stream}=SOURCE'
