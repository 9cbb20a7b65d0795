"""Graphs as N-Triples and as Turtle; pyoxigraph writes both."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, cast

from pyoxigraph import RdfFormat, Triple, serialize

from penstock.io.results.require import require_graph
from penstock.syntax.suggest import WELL_KNOWN

if TYPE_CHECKING:
    from penstock.answer import Answer

__all__ = ["to_ntriples", "to_turtle"]


def to_ntriples(answer: Answer, what: str = "N-Triples") -> str:
    """Canonical N-Triples (https://www.w3.org/TR/n-triples/#canonical-ntriples), a line a triple. `what` is the format
    that is being written, for the error."""
    return _serialise(require_graph(answer, what), RdfFormat.N_TRIPLES)


def to_turtle(answer: Answer) -> str:
    """Turtle with the well-known prefixes that occur. The triples of one subject stand together."""
    triples = sorted(require_graph(answer, "Turtle"), key=lambda triple: (str(triple.subject), str(triple.predicate)))
    plain = _serialise(triples, RdfFormat.N_TRIPLES)
    used = {prefix: iri for prefix, iri in WELL_KNOWN.items() if f"<{iri}" in plain}
    return _serialise(triples, RdfFormat.TURTLE, used)


def _serialise(triples: Sequence[Triple], format: RdfFormat, prefixes: dict[str, str] | None = None) -> str:
    return cast(bytes, serialize(triples, format=format, prefixes=prefixes)).decode()
