"""Which terms variables can have, and which elements cannot find a partner."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pyarrow as pa
import pytest
from pyoxigraph import NamedNode

from penstock.algebra.expressions import Var
from penstock.algebra.ops import TriplePattern
from penstock.compile.physical import semijoin_reduction
from penstock.compile.physical.facts import Facts
from penstock.compile.relation import Terms

X, Y, AT = Var("x"), Var("y"), NamedNode("a:at")
PATTERN = TriplePattern(X, AT, Y)
ELEMENTS = pa.table(
    {
        "s": [f"<x:{i}>" for i in range(100)] * 2,
        "p": ["<a:at>"] * 100 + ["<a:other>"] * 100,
        "o": [f"<y:{i % 4}>" for i in range(200)],
    }
)


def content(elements: pa.Table | None) -> Any:
    return SimpleNamespace(elements=lambda: elements)


def numbered_terms(kind: str, how_many: int) -> Terms:
    return frozenset(f"<{kind}:{i}>" for i in range(how_many))


def test_below_a_projection_a_name_may_be_another_variable() -> None:
    found = semijoin_reduction.projected((X,), lambda var: frozenset((f"<{var.name}>",)))
    assert (found(X), found(Y)) == (frozenset(("<x>",)), None)


def test_the_fewest_terms_count() -> None:
    facts = Facts(frozenset(("x", "y")), looked_up_terms={"x": numbered_terms("x", 2), "y": numbered_terms("y", 3)})
    found = semijoin_reduction.narrowed_by(facts, {X: numbered_terms("x", 5), Y: numbered_terms("y", 1)}.get)
    assert (found(X), found(Y), found(Var("z"))) == (numbered_terms("x", 2), numbered_terms("y", 1), None)


@pytest.mark.parametrize(
    ("terms", "columns"),
    [
        ({}, {}),
        ({X: numbered_terms("x", 3)}, {"s": 0.03}),
        ({X: numbered_terms("x", 0)}, {"s": 0.0}),
        ({X: numbered_terms("x", 90)}, {}),  # nearly all
        ({X: numbered_terms("x", 3), Y: numbered_terms("y", 4)}, {"s": 0.03}),
    ],
)
def test_elements_that_cannot_find_a_partner(terms: dict[Var, Terms], columns: dict[str, float]) -> None:
    found = semijoin_reduction.selective_terms(PATTERN, content(ELEMENTS), terms.get)
    assert {each.column: each.share for each in found} == columns
    assert all(each.terms == terms[each.var] for each in found)


@pytest.mark.parametrize("elements", [None, ELEMENTS.slice(0, 0)], ids=["elsewhere", "none"])
def test_elements_outside_the_driver_have_no_selective_terms(elements: pa.Table | None) -> None:
    assert semijoin_reduction.selective_terms(PATTERN, content(elements), lambda var: numbered_terms("x", 1)) == ()
