"""The ontology: the axioms on classes and properties in the background's default graph, closed under RDFS.

Six rules of RDFS (https://www.w3.org/TR/rdf11-mt/#rdfs-entailment) and no others: rdfs5 and rdfs11 close the axioms,
and rdfs2, 3, 7 and 9 go from one triple and an axiom to another triple. So whatever follows from data follows from one
triple of it, and the triples that are in a graph can be looked at one by one. Axioms are those of the background: a
triple of a stream that looks like one is a triple like any other.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from functools import cached_property

from pyoxigraph import Literal, NamedNode, Triple

from penstock.algebra.expressions import Term, terms_of, triple_of
from penstock.reasoning.vocabulary import DOMAIN, RANGE, SCHEMA, SUB_CLASS, SUB_PROPERTY, TYPE

__all__ = ["OBJECT", "SUBJECT", "TEXT", "Ontology", "closed_ontology"]

Pairs = set[tuple[Term, Term]]
Related = Mapping[Term, frozenset[Term]]
Fetch = Callable[[frozenset[NamedNode]], Iterable[Triple]]
_NONE: frozenset[Term] = frozenset()

SUBJECT, OBJECT = NamedNode("urn:penstock:subject"), NamedNode("urn:penstock:object")  # any subject, any object
TEXT = Literal("", datatype=OBJECT)  # any literal as object


class Ontology:
    """Closed axioms. `superclasses` and the others lead from a term to all that is above it; nothing is above itself
    unless the axioms have a cycle."""

    def __init__(self, axioms: Mapping[NamedNode, Pairs] | None = None) -> None:
        given = axioms or {}
        self.superclasses = _transitive(given.get(SUB_CLASS, ()))
        self.superproperties = _transitive(given.get(SUB_PROPERTY, ()))
        self.domains, self.ranges = _related(given.get(DOMAIN, ())), _related(given.get(RANGE, ()))
        self._made: dict[tuple[Term, Term], frozenset[Triple]] = {}

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Ontology) and self._parts == other._parts

    __hash__ = None  # type: ignore[assignment]

    @property
    def _parts(self) -> tuple[Related, ...]:
        return self.superclasses, self.superproperties, self.domains, self.ranges

    def axioms(self) -> Iterator[Triple]:
        """All axioms, the entailed ones included."""
        for predicate, related in zip((SUB_CLASS, SUB_PROPERTY, DOMAIN, RANGE), self._parts, strict=True):
            for term, others in related.items():
                yield from (triple_of(term, predicate, other) for other in others)

    # What follows from a triple

    def entailed(self, triple: Triple) -> Collection[Triple]:
        """The triple and all triples that it entails, each once."""
        if triple.predicate not in self.active:
            return (triple,)
        entailed = {triple}
        pending = [triple]
        while pending:
            new = set(self._step(pending.pop())) - entailed
            entailed |= new
            pending += new
        return entailed

    def _step(self, triple: Triple) -> Iterator[Triple]:
        s, p, o = triple.subject, triple.predicate, triple.object
        for q in self.superproperties.get(p, _NONE):  # rdfs7
            if isinstance(q, NamedNode):
                yield Triple(s, q, o)
        for c in self.domains.get(p, _NONE):  # rdfs2
            yield Triple(s, TYPE, c)
        if not isinstance(o, Literal):
            for c in self.ranges.get(p, _NONE):  # rdfs3
                yield Triple(o, TYPE, c)
        if p == TYPE:
            for c in self.superclasses.get(o, _NONE):  # type: ignore[arg-type]  # rdfs9
                yield Triple(s, TYPE, c)

    @cached_property
    def active(self) -> frozenset[Term]:
        """The predicates of triples that entail others, or may."""
        typing = {TYPE} if self.superclasses else set()
        return frozenset({*self.superproperties, *self.domains, *self.ranges, *typing})

    def template(self, predicate: NamedNode, *, literal: bool = False) -> frozenset[Triple]:
        """The triples that any triple with the predicate entails, whatever its SUBJECT and OBJECT, or TEXT if that is a
        literal; those entailed by the class of the object are in `of_class`."""
        return self._template(predicate, TEXT if literal else OBJECT)

    def of_class(self, term: Term) -> frozenset[Triple]:
        """The triples that membership of SUBJECT in the class entails by its superclasses, besides those of `template`
        for rdf:type."""
        return frozenset(t for c in self.superclasses.get(term, _NONE) for t in self._template(TYPE, c))

    def _template(self, predicate: NamedNode, object: Term) -> frozenset[Triple]:
        if (predicate, object) not in self._made:
            self._made[predicate, object] = frozenset(self.entailed(Triple(SUBJECT, predicate, object)))
        return self._made[predicate, object]

    # Closed forms, for patterns

    @cached_property
    def typing(self) -> frozenset[NamedNode]:
        """The predicates that say of what class something is: rdf:type and those below it."""
        return frozenset(p for p in self._predicates if TYPE in self.superproperties.get(p, _NONE)) | {TYPE}

    @cached_property
    def subjects(self) -> dict[NamedNode, frozenset[Term]]:
        """The classes of the subjects (domains) of each predicate."""
        return {p: classes for p in self._predicates if (classes := self._classes(p, self.domains))}

    @cached_property
    def objects(self) -> dict[NamedNode, frozenset[Term]]:
        """The classes of the objects (ranges) of each predicate."""
        return {p: classes for p in self._predicates if (classes := self._classes(p, self.ranges))}

    def _classes(self, predicate: Term, related: Related) -> frozenset[Term]:
        above = {q for q in self.superproperties.get(predicate, _NONE) if isinstance(q, NamedNode)} | {predicate}
        direct = {c for q in above for c in related.get(q, _NONE)}
        return frozenset(direct.union(*(self.superclasses.get(c, _NONE) for c in direct)))

    @cached_property
    def _predicates(self) -> frozenset[NamedNode]:
        return frozenset(p for p in self.active if isinstance(p, NamedNode))

    @cached_property
    def is_plain(self) -> bool:
        """Whether predicates that say of what class something is mean no more: no domain, no range, nothing above
        rdf:type. Then from one triple no other follows twice, unless its subject is its object."""
        meant = self.subjects.keys() | self.objects.keys()
        return not self.typing & meant and not any(isinstance(q, NamedNode) for q in self._above_type)

    @property
    def _above_type(self) -> frozenset[Term]:
        return self.superproperties.get(TYPE, _NONE) - {TYPE}

    def predicates_from(self, predicates: Iterable[NamedNode]) -> frozenset[NamedNode]:
        """The predicates of the triples that triples with these predicates entail, themselves included."""
        return frozenset(t.predicate for p in predicates for t in self.template(p))

    def sources(self, wanted: Iterable[NamedNode]) -> frozenset[NamedNode]:
        """The predicates of triples that entail one with a wanted predicate, the wanted ones included."""
        aims = frozenset(wanted)
        return aims | {p for p in self._predicates if any(t.predicate in aims for t in self.template(p))}


def closed_ontology(fetch: Fetch) -> Ontology:
    """The ontology of a graph; `fetch` gives the graph's own triples with any of some predicates.

    Axioms may follow from other triples (a property below rdfs:subClassOf), hence the rounds.
    """
    ontology, fetched, own = Ontology(), frozenset[NamedNode](), []
    while True:
        wanted = ontology.sources(SCHEMA) - fetched
        if wanted:
            own += list(fetch(wanted))
            fetched |= wanted
        following = _axioms_in(own, ontology)
        if following == ontology and not wanted:
            return ontology
        ontology = following


def _axioms_in(own: Iterable[Triple], ontology: Ontology) -> Ontology:
    """The axioms among the graph's own triples. Those that rdfs5 and rdfs11 add say nothing more: what follows by such
    a one follows step by step as well."""
    pairs: dict[NamedNode, Pairs] = defaultdict(set)
    for triple in own:
        for each in ontology.entailed(triple):
            if each.predicate in SCHEMA:
                subject, predicate, object = terms_of(each)
                pairs[predicate].add((subject, object))
    return Ontology(pairs)


def _related(pairs: Iterable[tuple[Term, Term]]) -> dict[Term, frozenset[Term]]:
    values: dict[Term, set[Term]] = defaultdict(set)
    for one, other in pairs:
        values[one].add(other)
    return {one: frozenset(others) for one, others in values.items()}


def _transitive(pairs: Iterable[tuple[Term, Term]]) -> dict[Term, frozenset[Term]]:
    direct = _related(pairs)
    return {one: frozenset(_reached(one, direct)) for one in direct}


def _reached(start: Term, direct: Related) -> set[Term]:
    seen: set[Term] = set()
    pending = [start]
    while pending:
        new = direct.get(pending.pop(), _NONE) - seen
        seen |= new
        pending += new
    return seen
