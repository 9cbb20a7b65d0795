"""Ontologies: closed, and patterns against them. Everything is compared with the rules themselves, see `rdfs.py`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyoxigraph import BlankNode, Literal, NamedNode, RdfFormat, Triple, parse

from penstock.algebra.expressions import Term
from penstock.reasoning import Ontology, Way, closed_ontology, ways
from penstock.reasoning.ontology import OBJECT, SUBJECT, TEXT
from tests.support.rdfs import DOMAIN, RANGE, RDFS, SCHEMA, SUB_CLASS, SUB_PROPERTY, TYPE, closure

NS = "http://example.org/"
CLASSES = tuple(NamedNode(f"{NS}{name}") for name in "ABCDE")
PROPERTIES = tuple(NamedNode(f"{NS}{name}") for name in "pqrs")
NODES: tuple[NamedNode | BlankNode, ...] = (NamedNode(f"{NS}x"), NamedNode(f"{NS}y"), BlankNode("b"))
TEXTS = (Literal("text"), Literal(1))

PLAIN = [
    ":p rdfs:domain :A ; rdfs:range :A .",
    ":p rdfs:domain :A, :B ; rdfs:range :B . :A rdfs:subClassOf :C . :B rdfs:subClassOf :C .",
    ":A rdfs:subClassOf :B . :B rdfs:subClassOf :A .",
    ":p rdfs:subPropertyOf :q . :q rdfs:subPropertyOf :p ; rdfs:domain :A .",
    ":p rdfs:subPropertyOf rdf:type . :A rdfs:subClassOf :B .",
    ":p rdfs:subPropertyOf :q . :q rdfs:range :A . :r rdfs:subPropertyOf :p . :A rdfs:subClassOf :B .",
]
STRANGE = [
    ":p rdfs:domain :A ; rdfs:range :B . :A rdfs:subClassOf :B . :x :p :y . :y :p 1 .",
    ":p rdfs:subPropertyOf [ rdfs:subPropertyOf :q ] . :x :p :y .",
    "rdfs:subClassOf rdfs:subPropertyOf rdfs:domain . :p rdfs:subClassOf :B . :B rdfs:subClassOf :C . :x :p :y .",
    "rdfs:domain rdfs:domain :D . :p rdfs:domain :A . :A rdfs:subClassOf :B . rdf:type rdfs:subPropertyOf :q .",
    "rdf:type rdfs:range :D ; rdfs:domain :E . :D rdfs:subClassOf :E . :x a :A . :y :p :x . :p rdfs:range 1 .",
    "rdf:type rdfs:subPropertyOf rdfs:subClassOf . :x a :A . :A a :B . :y a :x .",
    ":A rdfs:subClassOf :B . :B rdfs:subClassOf :A . :x a :A .",
    ":p rdfs:subPropertyOf :q . :q rdfs:subPropertyOf :p . :x :p :y .",
]

classes, properties = st.sampled_from(CLASSES), st.sampled_from(PROPERTIES)
plain_axioms = st.one_of(
    st.builds(Triple, classes, st.just(SUB_CLASS), classes),
    st.builds(Triple, properties, st.just(SUB_PROPERTY), properties),
    st.builds(Triple, properties, st.sampled_from((DOMAIN, RANGE)), classes),
)
words = st.sampled_from((*PROPERTIES, TYPE, *SCHEMA))
things = st.sampled_from((*CLASSES, *PROPERTIES, *NODES, TYPE, *SCHEMA))
strange_axioms = st.one_of(
    plain_axioms,
    st.builds(Triple, words, st.just(SUB_PROPERTY), st.sampled_from((*PROPERTIES, TYPE, *SCHEMA, BlankNode("b")))),
    st.builds(Triple, words, st.sampled_from((DOMAIN, RANGE)), st.sampled_from((*CLASSES, *TEXTS))),
)
data = st.builds(Triple, things, words, st.one_of(things, st.sampled_from(TEXTS)))


def read(text: str) -> list[Triple]:
    prefixes = f"@prefix : <{NS}> . @prefix rdfs: <{RDFS}> . @prefix rdf: <{TYPE.value.removesuffix('type')}> .\n"
    return [quad.triple for quad in parse((prefixes + text).encode(), RdfFormat.TURTLE)]


def ontology_of(graph: Iterable[Triple]) -> Ontology:
    graph = list(graph)
    return closed_ontology(lambda wanted: [t for t in graph if t.predicate in wanted])


def entailed(graph: Iterable[Triple]) -> set[Triple]:
    """The closed graph, triple by triple."""
    graph = list(graph)
    ontology = ontology_of(graph)
    return {made for triple in (*graph, *ontology.axioms()) for made in ontology.entailed(triple)}


@given(graph=st.lists(st.one_of(plain_axioms, data), max_size=12))
def test_the_closed_graph(graph: list[Triple]) -> None:
    assert entailed(graph) == closure(graph)


@given(graph=st.lists(st.one_of(strange_axioms, strange_axioms, data), max_size=12))
def test_the_closed_graph_of_strange_axioms(graph: list[Triple]) -> None:
    """Also if they are about rdf:type, or about the words of axioms."""
    assert entailed(graph) == closure(graph)


@pytest.mark.parametrize("text", [*PLAIN, *STRANGE])
def test_closed_graphs(text: str) -> None:
    graph = read(text)
    assert entailed(graph) == closure(graph)


def test_axioms_that_follow_from_data() -> None:
    graph = read(":broader rdfs:subPropertyOf rdfs:subClassOf . :A :broader :B . :B rdfs:subClassOf :C . :x a :A .")
    assert Triple(NODES[0], TYPE, CLASSES[2]) in entailed(graph)
    assert ontology_of(graph).superclasses[CLASSES[0]] == {CLASSES[1], CLASSES[2]}


# Patterns


def follow(triple: Triple, way: Way) -> Iterator[Triple]:
    """What the way makes of a triple, as its description says."""
    s, p, o = triple.subject, triple.predicate, triple.object
    if way.key is None:
        yield triple
        return
    subject = s if way.subject == "s" else o
    if (way.among is not None and p not in way.among) or (way.apart and s == o) or isinstance(subject, Literal):
        return
    for key, found in way.pairs:
        if key == (p if way.key == "p" else o):
            if way.made == "p":
                assert isinstance(found, NamedNode)
                yield Triple(s, found, o)
            else:
                yield Triple(subject, TYPE, found)


def below_type(names: list[NamedNode]) -> list[Triple]:
    return [Triple(name, SUB_PROPERTY, TYPE) for name in names]


def assert_once(triple: Triple, ontology: Ontology, predicate, object, known: bool) -> None:  # type: ignore[no-untyped-def]
    """Every triple that follows and fits comes once, whatever is known of the predicates that there are."""
    found = ways(ontology, predicate, object, frozenset((triple.predicate,)) if known else None)
    made = Counter(m for way in found for m in follow(triple, way) if fits(m, predicate, object))
    assert made == Counter(t for t in ontology.entailed(triple) if fits(t, predicate, object))


@pytest.mark.parametrize("axioms", PLAIN)
def test_ways_give_each_entailed_triple_once_for_every_pattern(axioms: str) -> None:
    ontology = ontology_of(read(axioms))
    assert ontology.is_plain
    subjects, predicates = (*NODES[:2], *CLASSES[:3]), (*PROPERTIES[:3], TYPE)
    objects: tuple[Term, ...] = (*subjects, TEXTS[0])
    triples = [Triple(s, p, o) for s in subjects for p in predicates for o in objects]
    for triple, predicate, object in product(triples, (None, *predicates), (None, *CLASSES[:3])):
        assert_once(triple, ontology, predicate, object, known=True)
        assert_once(triple, ontology, predicate, object, known=False)


wanted_predicates = st.sampled_from((None, TYPE, TYPE, *PROPERTIES))
wanted_objects = st.one_of(st.none(), classes, st.sampled_from((*NODES, *TEXTS)))


@given(
    axioms=st.lists(plain_axioms, max_size=8),
    typing=st.lists(properties, max_size=1),
    triple=data,
    predicate=wanted_predicates,
    object=wanted_objects,
    known=st.booleans(),
)
def test_the_ways_to_a_pattern(axioms, typing, triple, predicate, object, known) -> None:  # type: ignore[no-untyped-def]
    ontology = ontology_of([*axioms, *below_type(typing)])
    if ontology.is_plain:
        assert_once(triple, ontology, predicate, object, known)


def fits(triple: Triple, predicate: NamedNode | None, object: NamedNode | Literal | None) -> bool:
    return predicate in (None, triple.predicate) and object in (None, triple.object)


@given(axioms=st.lists(strange_axioms, max_size=8), triple=data)
def test_templates_stand_for_all_triples(axioms: list[Triple], triple: Triple) -> None:
    ontology = ontology_of(axioms)
    templates = set(ontology.template(triple.predicate, literal=isinstance(triple.object, Literal)))
    if triple.predicate in ontology.typing:
        templates |= ontology.of_class(triple.object)  # type: ignore[arg-type]
    terms = {SUBJECT: triple.subject, OBJECT: triple.object, TEXT: triple.object}

    def filled(template: Triple) -> Triple:
        subject, object_ = (terms.get(term, term) for term in (template.subject, template.object))
        assert not isinstance(subject, Literal)
        return Triple(subject, template.predicate, object_)

    assert set(map(filled, templates)) == set(ontology.entailed(triple))


@given(axioms=st.lists(strange_axioms, max_size=8), triple=data)
def test_predicates_of_entailed_triples(axioms: list[Triple], triple: Triple) -> None:
    ontology = ontology_of(axioms)
    made = {t.predicate for t in ontology.entailed(triple)}
    assert made <= ontology.predicates_from((triple.predicate,))
    assert all(triple.predicate in ontology.sources((p,)) for p in made)


@pytest.mark.parametrize(
    ("axioms", "plain"),
    [
        (":A rdfs:subClassOf :B . :p rdfs:domain :A ; rdfs:range :A .", True),
        (":isA rdfs:subPropertyOf <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> .", True),
        (":isA rdfs:subPropertyOf <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> ; rdfs:domain :A .", False),
        ("<http://www.w3.org/1999/02/22-rdf-syntax-ns#type> rdfs:range :Class .", False),
        ("<http://www.w3.org/1999/02/22-rdf-syntax-ns#type> rdfs:subPropertyOf :kind .", False),
    ],
)
def test_plain_ontologies_are_recognised(axioms: str, plain: bool) -> None:
    assert ontology_of(read(axioms)).is_plain is plain


def test_one_scan_for_a_class() -> None:
    """A class and those below it are looked up together; domains and ranges only where they lead to it."""
    ontology = ontology_of(read(":A rdfs:subClassOf :B . :B rdfs:subClassOf :C . :p rdfs:domain :D ."))
    a, b, c, *_ = CLASSES
    assert ways(ontology, TYPE, c) == (Way("o", frozenset({(a, c), (b, c), (c, c)}), "o", among=frozenset({TYPE})),)


def test_a_deep_and_wide_ontology() -> None:
    """Forty thousand classes, eight levels: closed in a moment, and one way to the class above all."""
    names = [NamedNode(f"{NS}c{i}") for i in range(40_081)]
    axioms = [Triple(names[i], SUB_CLASS, names[(i - 1) // 4]) for i in range(1, len(names))]
    ontology = ontology_of(axioms)
    (way,) = ways(ontology, TYPE, names[0])
    assert len(way.pairs) == len(names)
    assert max(map(len, ontology.superclasses.values())) == 8
