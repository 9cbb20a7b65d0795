"""The triples that an element entails by the ontology, as far as some pattern of the rules may match them.

All that RDFS derives from an element comes of that element alone (`penstock.reasoning`). So it can be looked up by the
predicate and, where the element says of what class something is, by the class. The tables hold strings, since they go
to Spark's workers, and only the entailments that some rule reads.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from pyoxigraph import NamedNode, Triple

from penstock.algebra.expressions import PatternTerm, Var
from penstock.algebra.ops import TriplePattern
from penstock.model.term_encoding import decode, encode
from penstock.reasoning import Ontology
from penstock.reasoning.ontology import OBJECT, SUBJECT, TEXT
from penstock.recursive_rules.solutions.rows import Row

__all__ = ["NOTHING", "OBJECT_PLACE", "SUBJECT_PLACE", "Entailment", "Shape", "entailment_of"]

SUBJECT_PLACE, OBJECT_PLACE = 2, 4  # where they stand in a row
Shape = tuple[str | int, str, str | int]
"""A triple that follows: its predicate, and as subject and object a term or the place of the element's own."""


@dataclass(frozen=True)
class Entailment:
    """Entailed triples by predicate, by predicate where the object is a literal, and by class."""

    by_predicate: Mapping[str, tuple[Shape, ...]] = field(default_factory=dict)
    by_literal: Mapping[str, tuple[Shape, ...]] = field(default_factory=dict)
    by_class: Mapping[str, tuple[Shape, ...]] = field(default_factory=dict)
    typing: frozenset[str] = frozenset()

    def __bool__(self) -> bool:
        return bool(self.by_predicate or self.by_class)

    def rows(self, elements: Iterable[Row]) -> list[Row]:
        """The rows that elements entail, with the times and streams of these; a row may occur more than once."""
        return [made for row in elements for made in self._rows(row)]

    def _rows(self, row: Row) -> Iterator[Row]:
        start, end, _, predicate, object, stream = row
        shapes = (self.by_literal if object[0] == '"' else self.by_predicate).get(predicate, ())
        if predicate in self.typing:
            shapes += self.by_class.get(object, ())
        for s, p, o in shapes:
            yield start, end, row[s] if isinstance(s, int) else s, p, row[o] if isinstance(o, int) else o, stream

    def shapes(self, predicate: str) -> frozenset[Shape]:
        """The shapes of the triples that elements with that predicate may entail."""
        classes = self.by_class.values() if predicate in self.typing else ()
        return frozenset(self.by_predicate.get(predicate, ())).union(*classes)

    @property
    def predicates(self) -> frozenset[str]:
        """The predicates of elements that entail others."""
        return frozenset(self.by_predicate) | (self.typing if self.by_class else frozenset())

    def patterns(self, triple: TriplePattern) -> Iterator[TriplePattern]:
        """A triple of a template, and the patterns of the triples that it may entail."""
        yield triple
        given = [encode(triple.predicate)] if isinstance(triple.predicate, NamedNode) else sorted(self.predicates)
        for predicate in given:
            for s, p, o in sorted(self._of(predicate, triple.object), key=str):
                yield TriplePattern(_term(s, triple), decode(p), _term(o, triple))

    def _of(self, predicate: str, object: PatternTerm) -> frozenset[Shape]:
        if isinstance(object, Var):
            return self.shapes(predicate)
        classes = self.by_class.get(encode(object), ()) if predicate in self.typing else ()
        return frozenset((*self.by_predicate.get(predicate, ()), *classes))


NOTHING = Entailment()


def entailment_of(ontology: Ontology | None, patterns: Iterable[TriplePattern]) -> Entailment:
    """The entailments of that ontology that may match one of these patterns."""
    if ontology is None or not ontology.active:
        return NOTHING
    index = _PatternIndex(patterns)
    named = {p for p in ontology.active if isinstance(p, NamedNode)} | ontology.typing
    return Entailment(
        _table({p: index.shapes(ontology.template(p), p, OBJECT) for p in named}),
        _table({p: index.shapes(ontology.template(p, literal=True), p, TEXT) for p in named}),
        _table({c: index.shapes(ontology.of_class(c)) for c in ontology.superclasses}),
        frozenset(map(encode, ontology.typing)),
    )


class _PatternIndex:
    """Patterns by their predicates (None: a variable)."""

    def __init__(self, patterns: Iterable[TriplePattern]) -> None:
        self._patterns: dict[PatternTerm | None, set[TriplePattern]] = defaultdict(set)
        for pattern in patterns:
            self._patterns[None if isinstance(pattern.predicate, Var) else pattern.predicate].add(pattern)

    def shapes(self, triples: Iterable[Triple], *itself: object) -> tuple[Shape, ...]:
        """The shapes that a pattern may match, without the element itself."""
        own = (SUBJECT, *itself)
        others = (t for t in triples if (t.subject, t.predicate, t.object) != own)
        return tuple(_shape(t) for t in sorted(others, key=str) if self._may_match(t))

    def _may_match(self, triple: Triple) -> bool:
        return any(_fits(p, triple) for p in self._patterns[triple.predicate] | self._patterns[None])


def _fits(pattern: TriplePattern, entailed: Triple) -> bool:
    pairs = ((pattern.subject, entailed.subject), (pattern.object, entailed.object))
    return all(isinstance(term, Var) or other in _PLACES or term == other for term, other in pairs)


_PLACES = {SUBJECT: SUBJECT_PLACE, OBJECT: OBJECT_PLACE, TEXT: OBJECT_PLACE}


def _shape(triple: Triple) -> Shape:
    s, p, o = triple
    return _PLACES.get(s) or encode(s), encode(p), _PLACES.get(o) or encode(o)


def _table(shapes_of: Mapping[object, tuple[Shape, ...]]) -> dict[str, tuple[Shape, ...]]:
    return {encode(term): shapes for term, shapes in shapes_of.items() if shapes}  # type: ignore[arg-type]


def _term(part: str | int, triple: TriplePattern) -> PatternTerm:
    if isinstance(part, int):
        return triple.subject if part == SUBJECT_PLACE else triple.object
    return decode(part)
