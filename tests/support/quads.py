"""Quads of triples: of pyoxigraph's, and of the tuples of terms that the reference implementations use."""

from __future__ import annotations

from pyoxigraph import BlankNode, DefaultGraph, Literal, NamedNode, Quad, Triple

from penstock.algebra.expressions import Term

Graph = NamedNode | BlankNode | DefaultGraph
_DEFAULT = DefaultGraph()


def quad(triple: Triple, graph: Graph = _DEFAULT) -> Quad:
    return Quad(triple.subject, triple.predicate, triple.object, graph)


def triple_of(terms: tuple[Term, Term, Term]) -> Triple:
    """Fails for terms that are no triple: a literal as subject, or a predicate that is no IRI."""
    subject, predicate, object_ = terms
    assert not isinstance(subject, Literal)
    assert isinstance(predicate, NamedNode)
    return Triple(subject, predicate, object_)


def quad_of(terms: tuple[Term, Term, Term], graph: Graph = _DEFAULT) -> Quad:
    return quad(triple_of(terms), graph)
