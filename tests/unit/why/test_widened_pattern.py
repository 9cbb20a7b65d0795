"""Widened patterns: each solution shows the triples that made it."""

from __future__ import annotations

import pytest

from penstock.algebra.expressions import Var
from penstock.algebra.sse import read, write
from penstock.why.widened_pattern import renamed, widened

ONE = "(bgp (?s <p:1> ?v))"


@pytest.mark.parametrize(
    ("pattern", "wide", "triples"),
    [
        (f"(distinct (project (?s) {ONE}))", ONE, 1),
        (f"(slice 0 3 (order (?v) (project (?s) {ONE})))", ONE, 1),
        (f"(minus {ONE} (bgp (?s <p:2> ?w)))", f"(minus {ONE} (bgp (?s <p:2> ?w)))", 1),
        (
            f"(join {ONE} (project (?s) (bgp (?s <p:2> ?v))))",
            f"(join {ONE} (bgp (?s <p:2> ?penstock_why_0)))",
            2,
        ),
        (
            f"(project (?s ?n) (group (?s) ((?n (count))) {ONE}))",
            f"(join (group (?s) ((?n (count))) {ONE}) (bgp (?s <p:1> ?penstock_why_0)))",
            1,
        ),
        (f"(filter (> ?v 5) (graph <g:1> {ONE}))", f"(filter (> ?v 5) (graph <g:1> {ONE}))", 1),
        ("(bgp (?.b <p:1> ?v))", "(bgp (?penstock_why_0 <p:1> ?v))", 1),
    ],
)
def test_a_widened_pattern(pattern: str, wide: str, triples: int) -> None:
    found = widened(read(pattern))
    assert write(found.op) == write(read(wide))
    assert len(found.patterns) == triples


def test_patterns_know_their_place() -> None:
    [found] = widened(read(f"(graph <g:1> {ONE})")).patterns
    assert str(found.scope.graph) == "<g:1>"


def test_variables_of_aggregates_are_renamed() -> None:
    group = read(f"(extend ((?m ?.a)) (group (?s) ((?.a (count))) {ONE}))")
    expected = read(f"(extend ((?m ?b)) (group (?s) ((?b (count))) {ONE}))")
    assert renamed(group, {Var(".a"): Var("b"), Var("v"): Var("hidden")}) == expected
