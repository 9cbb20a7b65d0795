"""The reason that a pattern would match with entailment."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator

from pyoxigraph import NamedNode

from penstock.algebra.expressions import Term
from penstock.algebra.ops import TriplePattern
from penstock.explain.notation import Notation
from penstock.reasoning import Ontology, closed_ontology
from penstock.reasoning.vocabulary import TYPE
from penstock.stream.runtime.reevaluation import Reevaluation
from penstock.why.reasons import Reason

__all__ = ["entailing", "entailment_reasons"]

_SHOWN = 3


def entailment_reasons(
    pattern: TriplePattern,
    predicates: Collection[str],
    types: Callable[[], list[Term]],
    again: Reevaluation,
    names: Notation,
) -> Iterator[Reason]:
    """The reason that the pattern would match with entailment, if the ontology in the background makes it."""
    if sources := entailing(pattern, closed_ontology(again.axioms), predicates, types):
        listed = ", ".join(map(names.term, sources[:_SHOWN]))
        text = f"{names.triple(pattern)} would match with entailment: by the background it follows from {listed}."
        yield Reason("entailment", text, 'Make the engine with Engine(entailment="rdfs").')


def entailing(
    pattern: TriplePattern, ontology: Ontology, predicates: Collection[str], types: Callable[[], list[Term]]
) -> list[Term]:
    """The predicates and classes that occur in the data and from which the pattern's triples follow."""
    wanted, asked = pattern.predicate, pattern.object
    if not isinstance(wanted, NamedNode) or not ontology.active:
        return []
    present = [NamedNode(iri) for iri in sorted(predicates)]
    if wanted != TYPE:
        return [p for p in present if p != wanted and wanted in ontology.superproperties.get(p, ())]
    meant = ontology.subjects, ontology.objects
    entailers: list[Term] = [p for p in present if any(asked in classes.get(p, ()) for classes in meant)]
    if TYPE.value in predicates:
        entailers += [term for term in types() if term != asked and asked in ontology.superclasses.get(term, ())]
    return entailers
