"""Query rewriting: the ways in which stored triples entail a match of a triple pattern.

They replace the entailed graph, which is never materialised. Taken together they yield every triple that follows from a
given one once, if the ontology is plain (`Ontology.is_plain`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from pyoxigraph import NamedNode

from penstock.algebra.expressions import Term
from penstock.reasoning.ontology import Ontology
from penstock.reasoning.vocabulary import TYPE

__all__ = ["Pairs", "Way", "ways"]

Pairs = frozenset[tuple[Term, Term]]


@dataclass(frozen=True, slots=True)
class Way:
    """One way from a stored triple (s, p, o) to an entailed one.

    The column `key` is looked up in `pairs`. `made` says what is found there: a predicate "p", so that the triple is
    (s, found, o), or a class "o", so that it is (`subject`, rdf:type, found). No key: the triple itself. `among`: only
    triples with such a predicate. `apart`: only those whose subject is not their object. A literal is no subject.
    """

    key: str | None = None
    pairs: Pairs = frozenset()
    made: str = "p"
    subject: str = "s"
    among: frozenset[NamedNode] | None = None
    apart: bool = False


ITSELF = Way()


def ways(
    ontology: Ontology,
    predicate: NamedNode | None = None,
    object: Term | None = None,
    known: frozenset[NamedNode] | None = None,
) -> tuple[Way, ...]:
    """The ways to triples with that predicate and object (None: any). `known` are the predicates that triples have."""
    if predicate is None:
        ways = [ITSELF, _properties(ontology, None), *_classes(ontology, object)]
    elif predicate != TYPE:
        ways = [_properties(ontology, predicate)]
    elif object is None:
        ways = [_properties(ontology, TYPE), *_classes(ontology, None)]
    else:
        ways = _classes(ontology, object, itself=True)
    useful = (_of_known(way, known) for way in ways)
    return tuple(way for way in useful if way == ITSELF or way.pairs)


def _properties(ontology: Ontology, wanted: NamedNode | None) -> Way:
    """The ways to a property, or to all properties above the triple's own."""
    pairs = {(p, q) for p, q in _pairs(ontology.superproperties, wanted) if isinstance(q, NamedNode) and p != q}
    return Way("p", frozenset(pairs if wanted is None else {*pairs, (wanted, wanted)}))


def _classes(ontology: Ontology, wanted: Term | None, itself: bool = False) -> list[Way]:
    """The ways to a class, or to all classes: from the object's class, from the predicate's domain, from its range.
    `itself`: also from an object that is the class, for it is the only way to say so."""
    above = {(c, d) for c, d in _pairs(ontology.superclasses, wanted) if c != d}
    if itself and wanted is not None:
        above.add((wanted, wanted))
    of_subject, of_object = (frozenset(_pairs(related, wanted)) for related in (ontology.subjects, ontology.objects))
    return [
        Way("o", frozenset(above), "o", among=ontology.typing),
        Way("p", of_subject, "o"),
        Way("p", of_object - of_subject, "o", subject="o"),
        Way("p", of_object & of_subject, "o", subject="o", apart=True),
    ]


def _pairs(
    related: Mapping[Term, frozenset[Term]] | Mapping[NamedNode, frozenset[Term]], wanted: Term | None
) -> Iterator[tuple[Term, Term]]:
    for term, others in related.items():
        if wanted is None:
            yield from ((term, other) for other in others)
        elif wanted in others:
            yield term, wanted


def _of_known(way: Way, known: frozenset[NamedNode] | None) -> Way:
    """The way for triples with known predicates alone."""
    if known is None:
        return way
    if way.among is not None:
        among = way.among & known
        return replace(way, among=among, pairs=way.pairs if among else frozenset())
    return replace(way, pairs=frozenset(pair for pair in way.pairs if pair[0] in known)) if way.key == "p" else way
