"""A term and its column value are the same thing, whatever the term holds."""

from __future__ import annotations

import pytest
from hypothesis import given
from pyoxigraph import BlankNode, Literal, NamedNode

from penstock.answer import Term
from penstock.model.term_encoding import decode, encode
from tests.support.terms import XSD, terms, unhurried

WRITTEN: list[tuple[Term, str]] = [
    (NamedNode("http://e/a"), "<http://e/a>"),
    (BlankNode("b0"), "_:b0"),
    (Literal(""), '""'),
    (Literal("a"), '"a"'),
    (Literal('say "hi"\n\\'), '"say "hi"\n\\"'),
    (Literal('"@en'), '""@en"'),
    (Literal("a", language="en-gb"), '"a"@en-gb'),
    (Literal('"^^<x>', language="en"), '""^^<x>"@en'),
    (Literal("05", datatype=NamedNode(XSD + "integer")), f'"05"^^<{XSD}integer>'),
    (Literal("a", datatype=NamedNode(XSD + "string")), '"a"'),
]


@pytest.mark.parametrize(("term", "value"), WRITTEN, ids=[value for _, value in WRITTEN])
def test_a_term_is_ntriples_without_escapes(term: Term, value: str) -> None:
    assert encode(term) == value
    assert decode(value) == term


@unhurried
@given(terms)
def test_decoding_inverts_encoding(term: Term) -> None:
    assert decode(encode(term)) == term


@unhurried
@given(terms, terms)
def test_equal_values_are_equal_terms(one: Term, other: Term) -> None:
    assert (encode(one) == encode(other)) == (one == other)
