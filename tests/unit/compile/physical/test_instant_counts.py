"""When a slice counts by instant, and when by running sums. In these windows an instant comes every microsecond."""

from __future__ import annotations

from dataclasses import replace

import pytest
from pyoxigraph import NamedNode

from penstock.algebra.expressions import Var
from penstock.algebra.ops import Query, Select
from penstock.algebra.sse import read
from penstock.compile import sql
from penstock.compile.context import can_match
from penstock.compile.physical import counts_by_instant
from penstock.compile.windows.stream_to_relation import WindowRelation
from penstock.model.span import Span
from tests.support.physical import STREAM, on_windows

A, B = (f"<http://example.org/{name}>" for name in "ab")
WINDOW = WindowRelation(STREAM, sql.view("s"), frozenset((A, B)), length=3)
BY_KEY = "(group (?x) ((?n (count ?y))) (bgp (?x :a ?y)))"


def by_instant(pattern: str, window: WindowRelation = WINDOW, background: frozenset[str] = frozenset()) -> bool:
    return counts_by_instant(
        Query(Select(), read(pattern)), on_windows(window, span=Span(0, 100), background=background)
    )


@pytest.mark.parametrize(
    "pattern",
    [
        BY_KEY,
        f"(project (?x ?n) (filter (> ?n 5) {BY_KEY}))",
        "(group (?x) ((?n (count ?y))) (project (?x ?y) (filter (> ?y 5) (bgp (?x ?p ?y)))))",
    ],
)
def test_counts_of_elements_that_are_seen_at_few_instants(pattern: str) -> None:
    assert by_instant(pattern)
    assert by_instant(pattern, replace(WINDOW, length=4))
    assert not by_instant(pattern, replace(WINDOW, length=5))
    assert not by_instant(pattern, replace(WINDOW, length=None))


@pytest.mark.parametrize(
    "pattern",
    [
        "(bgp (?x :a ?y))",
        "(group (?x) ((?n (count ?y))) (bgp (?x :a ?y) (?y :b ?z)))",
        f"(join {BY_KEY} (bgp (?x :b ?z)))",
    ],
)
def test_other_patterns_keep_their_intervals(pattern: str) -> None:
    assert not by_instant(pattern)


def test_rows_of_the_background_are_not_copied_to_instants() -> None:
    assert by_instant(BY_KEY, background=frozenset([B]))
    assert not by_instant(BY_KEY, background=frozenset([A]))
    assert not by_instant("(group () ((?n (count ?y))) (bgp (?x ?p ?y)))", background=frozenset([B]))


def test_a_variable_is_no_predicate_of_nothing() -> None:
    for predicate in (Var("p"), NamedNode("http://example.org/a")):
        assert not can_match(predicate, frozenset())
        assert can_match(predicate, frozenset([A]))
        assert can_match(predicate, None)
