"""The explanation of a query, and the formats that it can be written in.

The writer of a format is imported when it is used: pictures need a layout, and text needs rich.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from penstock.algebra.build import translate
from penstock.algebra.ops import Query
from penstock.explain.assumed_statistics import AssumedStatistics
from penstock.explain.dgraph import dgraph
from penstock.explain.model import Graph
from penstock.explain.notation import Notation
from penstock.explain.ograph import ograph
from penstock.explain.sources import KnownPredicates, Sources
from penstock.optimise import Optimised, Statistics, Step, Uniform, optimise
from penstock.optimise.distribute import Distribution, classify
from penstock.syntax.parser import too_long

if TYPE_CHECKING:
    from rich.console import RenderableType

__all__ = ["Explanation", "Part", "explain", "explain_query", "explanation_of"]

Part = Literal["o", "d", "both"]


@dataclass(frozen=True, slots=True)
class Explanation:
    """A query's O-Graphs (as written, and after the rules), its D-Graph, the rules that changed its plan, and how far
    its aggregates can be computed apart; of a query that was planned for its data also Spark's plan, how the compiler
    chose, and figures in the nodes."""

    name: str
    written: Graph
    optimised: Graph
    dgraph: Graph
    trace: tuple[Step, ...]
    aggregates: tuple[str, ...] = ()
    orders: tuple[str, ...] = ()
    physical: str | None = None

    @property
    def ographs(self) -> tuple[Graph, Graph]:
        return self.written, self.optimised

    def graphs(self, part: Part = "both") -> list[Graph]:
        """The graphs to draw: "o", "d" or "both"."""
        return [*(self.ographs if part != "d" else ()), *((self.dgraph,) if part != "o" else ())]

    def more(self) -> Iterator[tuple[str, list[str]]]:
        """The sections besides graphs and rules: a title and lines each."""
        if self.aggregates:
            yield "Aggregates", list(self.aggregates)
        if self.orders:
            yield "Join orders chosen so far", list(self.orders)
        if self.physical is not None:
            yield "Spark's plan", self.physical.splitlines()

    def text(self, part: Part = "both") -> str:
        from penstock.explain.text import plain

        return plain(self, part)

    def mermaid(self, part: Part = "both") -> str:
        """The graphs as one Mermaid flowchart."""
        from penstock.explain.mermaid import mermaid

        return mermaid(self.graphs(part))

    def svg(self, part: Part = "both") -> str:
        """The graphs as one SVG picture."""
        from penstock.explain.svg import svg

        return svg(self.graphs(part))

    def json(self, part: Part = "both") -> str:
        from penstock.explain.json import json

        return json(self, part)

    def __str__(self) -> str:
        return self.text()

    def __rich__(self) -> RenderableType:
        from penstock.explain.text import rendered

        return rendered(self, "both")

    def _repr_svg_(self) -> str:
        """The picture that notebooks show."""
        return self.svg()


def explain(
    text: str,
    base: str | None = None,
    *,
    rules: Collection[str] | None = None,
    statistics: Statistics | None = None,
    known: KnownPredicates | None = None,
) -> Explanation:
    """The explanation of a query in any of the languages. The query is not run, and Spark is not started.

    `rules` names the optimiser's rules to use, all by default. `known` says which predicates occur where, and
    `statistics` how often; without them every pattern may match wherever its place in the query lets it.
    """
    return explain_query(translate(text, base), text, rules, statistics, known)


def explain_query(
    query: Query,
    text: str,
    rules: Collection[str] | None = None,
    statistics: Statistics | None = None,
    known: KnownPredicates | None = None,
) -> Explanation:
    """The explanation of a query's algebra; its text says how IRIs are abbreviated."""
    names = Notation(text)
    guessed = AssumedStatistics(statistics or Uniform(), Sources(query, known, names))
    try:
        return explanation_of(query, optimise(query, guessed, rules), names, known)
    except RecursionError:
        raise too_long(text) from None


def explanation_of(
    query: Query, optimised: Optimised, names: Notation, known: KnownPredicates | None = None
) -> Explanation:
    """The explanation of a query as written, and of the optimiser's plan for it."""
    registration = query.registration
    return Explanation(
        (registration.name if registration is not None else None) or "query",
        ograph(query, "O-Graph as written", names, known, merged=False),
        ograph(optimised.query, "O-Graph after the rules", names, known),
        dgraph(query, "D-Graph", names, known),
        optimised.trace,
        tuple(_distributed(each, names) for each in classify(query.pattern, query.streams)),
    )


def _distributed(each: Distribution, names: Notation) -> str:
    made = f"{names.term(each.var)} = {names.expression(each.aggregate)}"
    return f"{made} is {each.kind.value} distributable: {each.why}"
