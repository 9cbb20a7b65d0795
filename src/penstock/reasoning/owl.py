"""OWL 2 RL (https://www.w3.org/TR/owl2-profiles/#OWL_2_RL) by the package owlrl, which works on rdflib's terms.

Both packages are imported when a closure is computed: they are an extra.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from importlib.util import find_spec
from typing import Any

from pyoxigraph import BlankNode, Literal, NamedNode, Triple

from penstock.errors import SetupError

__all__ = ["need_owlrl", "owl_closure"]


def need_owlrl() -> None:
    """Raise a `SetupError` if the package is not installed."""
    if find_spec("owlrl") is None:
        raise SetupError('entailment="owl-rl" needs the extra reasoning: pip install "penstock[reasoning]".')


def owl_closure(triples: Iterable[Triple]) -> Iterator[Triple]:
    """The triples and their OWL 2 RL closure, without triples that have a literal as subject."""
    import owlrl
    import rdflib

    graph = rdflib.Graph()
    for triple in triples:
        graph.add(tuple(_to_rdflib(term, rdflib) for term in triple))
    owlrl.DeductiveClosure(owlrl.OWLRL_Semantics).expand(graph)
    for s, p, o in graph:
        if isinstance(p, rdflib.URIRef) and not isinstance(s, rdflib.Literal):
            yield Triple(_from_rdflib(s, rdflib), _from_rdflib(p, rdflib), _from_rdflib(o, rdflib))


def _to_rdflib(term: Any, rdflib: Any) -> Any:
    if isinstance(term, NamedNode):
        return rdflib.URIRef(term.value)
    if isinstance(term, BlankNode):
        return rdflib.BNode(term.value)
    if term.language:
        return rdflib.Literal(term.value, lang=term.language)
    return rdflib.Literal(term.value, datatype=rdflib.URIRef(term.datatype.value), normalize=False)


def _from_rdflib(term: Any, rdflib: Any) -> Any:
    if isinstance(term, rdflib.URIRef):
        return NamedNode(str(term))
    if isinstance(term, rdflib.BNode):
        return BlankNode(str(term))
    if term.language:
        return Literal(str(term), language=term.language)
    return Literal(str(term), datatype=NamedNode(str(term.datatype))) if term.datatype else Literal(str(term))
