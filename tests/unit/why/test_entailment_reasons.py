"""The predicates and classes from which a pattern would follow."""

from __future__ import annotations

import pytest
from pyoxigraph import NamedNode

from penstock.algebra.expressions import Term, Var
from penstock.algebra.ops import TriplePattern
from penstock.reasoning import Ontology
from penstock.reasoning.vocabulary import DOMAIN, RANGE, SUB_CLASS, SUB_PROPERTY, TYPE
from penstock.why.entailment_reasons import entailing

S, V = Var("s"), Var("v")


def term(name: str) -> NamedNode:
    return NamedNode(f"http://e/{name}")


ONTOLOGY = Ontology(
    {
        SUB_PROPERTY: {(term("registers"), term("sees")), (term("sees"), term("knows"))},
        SUB_CLASS: {(term("TollGate"), term("Gate"))},
        DOMAIN: {(term("registers"), term("Gate"))},
        RANGE: {(term("registers"), term("Car"))},
    }
)


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        (TriplePattern(S, term("knows"), V), [term("registers")]),
        (TriplePattern(S, term("registers"), V), []),
        (TriplePattern(S, TYPE, term("Gate")), [term("registers"), term("TollGate")]),
        (TriplePattern(S, TYPE, term("Car")), [term("registers")]),
        (TriplePattern(S, TYPE, term("House")), []),
        (TriplePattern(S, V, V), []),
    ],
)
def test_triples_from_which_a_pattern_would_follow(pattern: TriplePattern, expected: list[Term]) -> None:
    present = ["http://e/registers", "http://e/speed", TYPE.value]
    assert entailing(pattern, ONTOLOGY, present, lambda: [term("TollGate"), term("Camera")]) == expected


def test_without_an_ontology_nothing_follows() -> None:
    assert entailing(TriplePattern(S, term("knows"), V), Ontology(), ["http://e/registers"], list) == []
