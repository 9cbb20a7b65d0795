"""The partitioning of recursive rules: the term by which elements can be split, so that each part is evaluated alone.

If one variable stands in every pattern and every template triple of a rule, all elements that meet in a solution have
one term there, and so have the triples that come of it. That holds for a group of rules if the place of that term
(subject or object) is the same wherever a predicate occurs. What follows from an element has to have the term where the
element has it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product

from pyoxigraph import NamedNode

from penstock.algebra import ops
from penstock.algebra.expressions import Var
from penstock.algebra.occurrence import everywhere
from penstock.algebra.ops import Op, TriplePattern
from penstock.model.term_encoding import decode, encode
from penstock.recursive_rules.analysis.entailment import NOTHING, OBJECT_PLACE, SUBJECT_PLACE, Entailment, Shape
from penstock.recursive_rules.analysis.rule import Rule

__all__ = ["SUBJECT", "Partition", "partition"]

SUBJECT, OBJECT = "subject", "object"
Places = dict[NamedNode | None, str]
"""The place of the key by predicate; None stands for all predicates that are not named."""


@dataclass(frozen=True)
class Partition:
    """The places of the key of elements: by predicate, and for predicates that no rule names. `other` is None if no
    rule reads these. `keys` are the variables, rule by rule."""

    places: Mapping[NamedNode, str]
    other: str | None = None
    keys: tuple[Var, ...] = field(default=(), compare=False)

    def place(self, predicate: NamedNode) -> str | None:
        """The place of the key in an element with that predicate; None: no rule reads it."""
        return self.places.get(predicate, self.other)

    def agrees(self, other: Partition) -> bool:
        """Whether no element that both know is elsewhere by the other one."""
        predicates = self.places.keys() | other.places.keys()
        pairs = [(self.other, other.other), *((self.place(p), other.place(p)) for p in predicates)]
        return all(one == two or None in (one, two) for one, two in pairs)


def partition(
    rules: Sequence[Rule],
    streamed: Callable[[TriplePattern], bool] = lambda pattern: True,
    entailment: Entailment = NOTHING,
) -> Partition | None:
    """A way to split the elements of these rules; None if there is none. `streamed` tells whether a pattern may match
    an element at all: what matches the background alone is everywhere."""
    split = _of_rules(rules, streamed)
    return None if split is None else _with_entailment(split, entailment)


def _of_rules(rules: Sequence[Rule], streamed: Callable[[TriplePattern], bool]) -> Partition | None:
    choices = [list(_choices(rule, streamed)) for rule in rules]
    for chosen in product(*choices):
        places = _agreed([place for _, occurrences in chosen for place in occurrences])
        if places is not None:
            named = {predicate: place for predicate, place in places.items() if predicate is not None}
            return Partition(named, places.get(None), tuple(var for var, _ in chosen))
    return None


Occurrence = tuple[NamedNode | None, frozenset[str]]


def _choices(rule: Rule, streamed: Callable[[TriplePattern], bool]) -> Iterator[tuple[Var, list[Occurrence]]]:
    """The variables that might be the key of a rule, each with the places where it stands."""
    triples = [*filter(streamed, rule.patterns()), *rule.template]
    for var in dict.fromkeys(term for t in triples[:1] for term in (t.subject, t.object) if isinstance(term, Var)):
        occurrences = [_places(var, triple) for triple in triples]
        if all(places for _, places in occurrences) and not any(_hides(op, var) for op in everywhere(rule.pattern)):
            yield var, occurrences


def _places(var: Var, triple: TriplePattern) -> Occurrence:
    predicate = triple.predicate if isinstance(triple.predicate, NamedNode) else None
    standing = {SUBJECT: triple.subject, OBJECT: triple.object}
    return predicate, frozenset(place for place, term in standing.items() if term == var)


def _hides(op: Op, var: Var) -> bool:
    """A variable that a sub-SELECT does not let through is another one; a path goes from element to element."""
    return isinstance(op, ops.Project | ops.Path) and not (isinstance(op, ops.Project) and var in op.vars)


def _agreed(occurrences: list[Occurrence]) -> Places | None:
    """One place for each predicate; where a predicate is a variable, the same for all."""
    allowed: dict[NamedNode | None, frozenset[str]] = {}
    for predicate, places in occurrences:
        allowed[predicate] = allowed.get(predicate, places) & places
    if None in allowed:
        everywhere = frozenset((SUBJECT, OBJECT)).intersection(*allowed.values())
        allowed = dict.fromkeys(allowed, everywhere)
    if not all(allowed.values()):
        return None
    return {predicate: max(places) for predicate, places in allowed.items()}


def _with_entailment(split: Partition, entailment: Entailment) -> Partition | None:
    """The partition that also has the predicates of elements from which triples follow that rules read; None if their
    keys do not agree."""
    places = dict(split.places)
    for predicate in map(decode, sorted(entailment.predicates)):
        assert isinstance(predicate, NamedNode)
        key_places = {_place_of_key(split, shape) for shape in entailment.shapes(encode(predicate))}
        key_places |= {own} if (own := split.place(predicate)) is not None else set()
        if len(key_places) > 1 or None in key_places:
            return None
        places[predicate] = key_places.pop()  # type: ignore[assignment]
    return Partition(places, split.other, split.keys)


def _place_of_key(split: Partition, shape: Shape) -> str | None:
    """The place at which an element has the key of a triple that it entails; None: at none."""
    subject, predicate, object = shape
    key = subject if split.place(decode(predicate)) == SUBJECT else object  # type: ignore[arg-type]
    return _STANDING.get(key)


_STANDING: dict[str | int, str] = {SUBJECT_PLACE: SUBJECT, OBJECT_PLACE: OBJECT}
