"""Which terms variables can have, and which elements cannot find a partner."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pyarrow as pa
import pytest
from pyoxigraph import NamedNode

from penstock.algebra.expressions import Var
from penstock.algebra.ops import TriplePattern
from penstock.compile import sql
from penstock.compile.operators.physical import semijoin_reduction
from penstock.compile.relation import Relation, Terms

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


def some(kind: str, how_many: int) -> Terms:
    return frozenset(f"<{kind}:{i}>" for i in range(how_many))


def test_below_a_projection_a_name_may_be_another_variable() -> None:
    found = semijoin_reduction.projected((X,), lambda var: frozenset((f"<{var.name}>",)))
    assert (found(X), found(Y)) == (frozenset(("<x>",)), None)


def test_the_fewest_terms_count() -> None:
    relation = Relation(
        sql.Select(()), ("x", "y"), frozenset(("x", "y")), looked_up_terms={"x": some("x", 2), "y": some("y", 3)}
    )
    found = semijoin_reduction.narrowed_by(relation, {X: some("x", 5), Y: some("y", 1)}.get)
    assert (found(X), found(Y), found(Var("z"))) == (some("x", 2), some("y", 1), None)


@pytest.mark.parametrize(
    ("terms", "columns"),
    [
        ({}, {}),
        ({X: some("x", 3)}, {"s": 0.03}),
        ({X: some("x", 0)}, {"s": 0.0}),
        ({X: some("x", 90)}, {}),  # nearly all
        ({X: some("x", 3), Y: some("y", 4)}, {"s": 0.03}),
    ],
)
def test_elements_that_cannot_find_a_partner(terms: dict[Var, Terms], columns: dict[str, float]) -> None:
    found = semijoin_reduction.selective_terms(PATTERN, content(ELEMENTS), terms.get)
    assert {each.column: each.share for each in found} == columns
    assert all(each.terms == terms[each.var] for each in found)


def test_of_elements_that_are_not_here_nothing_is_known() -> None:
    assert semijoin_reduction.selective_terms(PATTERN, content(None), lambda var: some("x", 1)) == []
    assert semijoin_reduction.selective_terms(PATTERN, content(ELEMENTS.slice(0, 0)), lambda var: some("x", 1)) == []
