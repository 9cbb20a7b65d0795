"""The first operator of a plan without rows."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from penstock.algebra.ops import Op
from penstock.algebra.sse import read, write
from penstock.why.blame import blamed

ONE, TWO = "(bgp (?s <p:1> ?o))", "(bgp (?s <p:2> ?o))"


class Counted:
    """Three rows of the operators of these texts, none of all others. Those of `unknown` were not compiled."""

    def __init__(self, full: Sequence[str], unknown: Sequence[str] = ()) -> None:
        self._full, self._unknown = list(map(read, full)), list(map(read, unknown))

    def count(self, op: Op) -> int | None:
        return None if op in self._unknown else 3 if op in self._full else 0


def texts(plan: str, counted: Counted) -> list[str]:
    return [write(found.op) for found in blamed(read(plan), counted)]


@pytest.mark.parametrize(
    ("plan", "full", "expected"),
    [
        (f"(join {ONE} {TWO})", [TWO], [ONE]),
        (f"(join {ONE} {TWO})", [ONE], [TWO]),
        (f"(join {ONE} {TWO})", [ONE, TWO], [f"(join {ONE} {TWO})"]),
        (f"(filter (> ?o 5) {ONE})", [], [ONE]),
        (f"(filter (> ?o 5) {ONE})", [ONE], [f"(filter (> ?o 5) {ONE})"]),
        (f"(leftjoin {ONE} {TWO})", [], [ONE]),
        (f"(minus {ONE} {TWO})", [ONE], [f"(minus {ONE} {TWO})"]),
        (f"(union {ONE} {TWO})", [], [ONE, TWO]),
        (f"(graph ?g {ONE})", [], [ONE]),
    ],
)
def test_the_first_operator_without_rows(plan: str, full: list[str], expected: list[str]) -> None:
    assert texts(plan, Counted(full)) == [write(read(text)) for text in expected]


def test_an_operator_that_was_not_compiled_is_looked_through() -> None:
    inner = f"(filter (> ?o 5) {ONE})"
    assert texts(f"(distinct {inner})", Counted([], [inner])) == [write(read(ONE))]


def test_an_aggregate_without_keys_is_no_reason() -> None:
    group = f"(group () ((?n (count))) {ONE})"
    assert texts(f"(filter (> ?n 5) {group})", Counted([group])) == [write(read(ONE))]


def test_the_blocks_around_the_operator() -> None:
    [found] = blamed(read(f"(graph <g:1> (filter (> ?o 5) {ONE}))"), Counted([]))
    assert [write(outer).split()[0] for outer in found.around] == ["(graph"]
