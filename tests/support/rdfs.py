"""The six rules of RDFS as they are written, applied until nothing is new: slow, and easy to believe."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from pyoxigraph import Literal, NamedNode, Triple

RDFS = "http://www.w3.org/2000/01/rdf-schema#"
TYPE = NamedNode("http://www.w3.org/1999/02/22-rdf-syntax-ns#type")
SUB_CLASS, SUB_PROPERTY = NamedNode(f"{RDFS}subClassOf"), NamedNode(f"{RDFS}subPropertyOf")
DOMAIN, RANGE = NamedNode(f"{RDFS}domain"), NamedNode(f"{RDFS}range")
SCHEMA = (SUB_CLASS, SUB_PROPERTY, DOMAIN, RANGE)


def closure(graph: Iterable[Triple], axioms: Iterable[Triple] | None = None) -> set[Triple]:
    """The graph and what follows from it; by these axioms, which it need not have, or by its own."""
    found = set(graph)
    while True:
        stated = found if axioms is None else set(axioms)
        rules = [t for t in stated if t.predicate in SCHEMA]
        new = {made for data in found for rule in rules for made in _step(data, rule)} - found
        if not new:
            return found
        found |= new


def _step(data: Triple, rule: Triple) -> Iterator[Triple]:
    s, p, o = data.subject, data.predicate, data.object
    a, b = rule.subject, rule.object
    if rule.predicate == DOMAIN and p == a:  # rdfs2
        yield Triple(s, TYPE, b)
    if rule.predicate == RANGE and p == a and not isinstance(o, Literal):  # rdfs3
        yield Triple(o, TYPE, b)
    if rule.predicate == SUB_PROPERTY and p == SUB_PROPERTY and o == a:  # rdfs5
        yield Triple(s, SUB_PROPERTY, b)
    if rule.predicate == SUB_PROPERTY and p == a and isinstance(b, NamedNode):  # rdfs7
        yield Triple(s, b, o)
    if rule.predicate == SUB_CLASS and p == TYPE and o == a:  # rdfs9
        yield Triple(s, TYPE, b)
    if rule.predicate == SUB_CLASS and p == SUB_CLASS and o == a:  # rdfs11
        yield Triple(s, SUB_CLASS, b)
