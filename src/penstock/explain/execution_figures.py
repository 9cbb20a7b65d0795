"""Adds the figures of an evaluation to the nodes of their operators (as EXPLAIN ANALYZE does)."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from pyoxigraph import NamedNode

from penstock.algebra.ops import Op, Query, StaticView, StreamWindow
from penstock.explain.explanation import Explanation, explain_query, explanation_of
from penstock.explain.model import Figures, Node
from penstock.explain.notation import Notation
from penstock.explain.number_format import amount, counted
from penstock.explain.ograph import ograph
from penstock.explain.sources import KnownPredicates

if TYPE_CHECKING:
    from penstock.spark.query.profile import Profile, RowCount

__all__ = ["of_registered"]


def of_registered(name: str, query: Query, text: str, examined: Profile | None) -> Explanation:
    """The explanation of a registered query; by its text alone if it has not been evaluated yet."""
    explanation = explain_query(query, text) if examined is None else measured(query, text, examined)
    return replace(explanation, name=name)


def measured(query: Query, text: str, examined: Profile) -> Explanation:
    """The explanation of a query that was planned for its data, and perhaps run."""
    names = Notation(text)
    streams = {name: held.predicates for name, held in examined.streams.items() if held.predicates is not None}
    known = KnownPredicates(examined.background, streams)
    explanation = explanation_of(query, examined.optimised, names, known)
    graph = ograph(examined.physical, "O-Graph of the physical plan", names, known)
    figures = {node.id: made for node in graph.nodes if (made := _figures(node, examined)) is not None}
    return replace(
        explanation,
        optimised=graph.with_figures(figures),
        orders=tuple(examined.orders),
        physical=examined.spark_plan,
    )


def _figures(node: Node, examined: Profile) -> Figures | None:
    match node.of:
        case Op():
            return _of_operator(node.of, examined)
        case StreamWindow() as window:
            return _counted(examined.held.get(window), examined.windows.get(window))
        case NamedNode(value=iri) if iri in examined.streams:
            stream = examined.streams[iri]
            return Figures(state=f"{counted(stream.elements, 'element')} in {amount(stream.bytes)}")
    return _of_result(examined) if node.kind == "result" else None


def _of_result(examined: Profile) -> Figures | None:
    """The figures of the result node. The open solutions of a family are those of all its queries."""
    parts = [part for part in (examined.report, examined.engine) if part is not None]
    parts += [f"one of {examined.together:,} queries of one plan"] if examined.together > 1 else []
    parts += [f"{counted(examined.open, 'solution')} open"] if examined.open else []
    return Figures(state=", ".join(parts)) if parts else None


def _of_operator(op: Op, examined: Profile) -> Figures:
    made = _counted(examined.estimated.get(id(op)), examined.counted.get(id(op)))
    materialised = (
        f"{counted(made.rows, 'row')} materialised" if isinstance(op, StaticView) and made.rows is not None else None
    )
    return replace(made, state=materialised)


def _counted(estimated: float | None, counted: RowCount | None) -> Figures:
    if counted is None:
        return Figures(estimated)
    return Figures(estimated, counted.at_once, counted.rows, counted.seconds)
