"""Terms that are nearly the one that a query asks for."""

from __future__ import annotations

import pytest
from pyoxigraph import BlankNode, Literal, NamedNode

from penstock.algebra.expressions import Term
from penstock.why.near_terms import NearTerm, near_terms

XSD = "http://www.w3.org/2001/XMLSchema#"


def iri(text: str) -> NamedNode:
    return NamedNode(text)


def typed(text: str, datatype: str) -> Literal:
    return Literal(text, datatype=NamedNode(XSD + datatype))


@pytest.mark.parametrize(
    ("asked", "present", "how"),
    [
        (iri("http://e/p"), iri("https://e/p"), "it begins with https"),
        (iri("http://e/inStreet"), iri("http://e/instreet"), "upper and lower case differ"),
        (iri("http://e/v#p"), iri("http://e/v/p"), "they differ in # and /"),
        (iri("http://e/p"), iri("http://e/p/"), "they differ in # and /"),
        (iri("http://e/speed"), iri("http://other.org/ns#speed"), "it has another prefix"),
        (iri("http://e/register"), iri("http://e/registers"), "it is spelled nearly so"),
        (Literal("ABC"), Literal("ABC", language="de"), "it has the language tag @de"),
        (Literal("ABC", language="de"), Literal("ABC"), "it has no language tag"),
        (Literal("5"), Literal(5), "it is a number, not a string"),
        (Literal(5), Literal("5"), "it is a string, not a number"),
        (Literal(5), typed("5", "int"), "it has the datatype xsd:int"),
        (Literal(5), typed("5.0", "decimal"), "it is the same number, written otherwise"),
        (Literal("Main Street"), Literal("main street "), "upper and lower case or spaces differ"),
        (Literal("Main Street"), Literal("Main Stret"), "it is spelled nearly so"),
        (iri("http://e/car1"), Literal("car1"), "it is a literal, not an IRI"),
        (Literal("car1"), iri("http://e/car1"), "it is an IRI, not a literal"),
    ],
)
def test_a_near_term(asked: Term, present: Term, how: str) -> None:
    assert near_terms(asked, [iri("http://elsewhere.org/unlike"), present, Literal("unlike")]) == [
        NearTerm(present, how)
    ]


@pytest.mark.parametrize(
    ("asked", "present"),
    [
        (iri("http://e/p"), iri("http://e/p")),  # the term itself
        (iri("http://e/p"), BlankNode("p")),
        (iri("http://e/registers"), iri("http://e/speed")),
        (iri("http://e/"), iri("http://other.org/")),
        (Literal(5), Literal(6)),
        (Literal(51), Literal(511)),  # numbers are not spelled
        (typed("five", "integer"), Literal(5)),
    ],
)
def test_a_term_that_is_not_near(asked: Term, present: Term) -> None:
    assert near_terms(asked, [present]) == []


def test_the_nearest_terms_come_first_and_are_few() -> None:
    asked = iri("http://e/speed")
    present = ["http://e/speeds", "http://o/speed", "http://e/Speed", "https://e/speed", "http://e/spede"]
    found = near_terms(asked, map(iri, present))
    assert [near.term.value for near in found] == ["https://e/speed", "http://e/Speed", "http://o/speed"]
