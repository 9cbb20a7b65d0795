"""Which variables surely hold what COUNT has written."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from pyoxigraph import Literal, NamedNode

from penstock.algebra.known_types import counts
from penstock.algebra.ops import Op
from penstock.algebra.sse import read
from tests.support.plans import Triples, dataset, from_tape, whole_plan
from tests.support.reference import answers

COUNT = "(group (?x) ((?n (count ?y))) (bgp (?x :p ?y)))"
RENAMED = f"(project (?x ?m) (extend ((?m ?n)) {COUNT}))"


@pytest.mark.parametrize(
    ("plan", "names"),
    [
        ("(bgp (?x :p ?n))", ""),
        (COUNT, "n"),
        (RENAMED, "m"),
        (f"(project (?x) {COUNT})", ""),
        (f"(extend ((?m (+ ?n 1))) {COUNT})", "n"),
        (f"(group (?n) ((?m (max ?n)) (?s (sum ?n)) (?a (avg ?n)) (?o (max ?x))) {COUNT})", "m n s"),
        (f"(annotate (?m (max ?n)) (?x) {COUNT})", "m n"),
        (f"(annotate (?m (max ?x)) (?x) {COUNT})", "n"),
        (f"(join {RENAMED} (bgp (?x :q ?z)))", "m"),
        (f"(join {RENAMED} (bgp (?x :q ?m)))", ""),  # which may not be written as COUNT does
        (f"(union {RENAMED} (bgp (?x :q ?m)))", ""),
        (f"(union {RENAMED} (bgp (?x :q ?z)))", "m"),
        (f"(leftjoin (bgp (?x :q ?m)) {RENAMED})", ""),
        (f"(leftjoin (bgp (?x :q ?z)) {RENAMED})", "m"),
        (f"(filter (> ?m 1) (distinct {RENAMED}))", "m"),
        (f"(graph ?m {RENAMED})", ""),
        (f"(graph ?g {RENAMED})", "m"),
    ],
)
def test_counts(plan: str, names: str) -> None:
    assert " ".join(sorted(var.name for var in counts(read(plan)))) == names


@settings(max_examples=300, deadline=None)
@given(plan=from_tape(whole_plan), data=from_tape(dataset, 40))
def test_known_counts_are_integers(plan: Op, data: tuple[Triples, dict[NamedNode, Triples]]) -> None:
    found = counts(plan)
    for solution in answers(plan, *data):
        for term in (term for var, term in solution if var in found):
            assert isinstance(term, Literal)
            assert term == Literal(int(term.value))
            assert int(term.value) >= 0
