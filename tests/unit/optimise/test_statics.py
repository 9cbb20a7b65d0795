"""What is the same part of the background, however its joins are ordered."""

from __future__ import annotations

import pytest

from penstock.algebra.sse import read
from penstock.optimise.statics import unordered

BGP, OTHER = "(bgp (?x :p ?y) (?y :q ?z) (?z :r ?w))", "(project (?x) (bgp (?x :s ?v)))"


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        (BGP, "(bgp (?z :r ?w) (?x :p ?y) (?y :q ?z))", True),
        (BGP, "(join (bgp (?z :r ?w)) (join (bgp (?x :p ?y)) (bgp (?y :q ?z))))", True),
        (f"(join {OTHER} {BGP})", f"(join {BGP} {OTHER})", True),
        (f"(project (?x) {BGP})", "(project (?x) (bgp (?z :r ?w) (?y :q ?z) (?x :p ?y)))", True),
        (BGP, "(bgp (?z :r ?w) (?x :p ?y))", False),
        (f"(join {OTHER} {OTHER})", OTHER, False),  # solutions that are there twice
        (f"(project (?x) {BGP})", f"(project (?y) {BGP})", False),
        (f"(leftjoin {BGP} {OTHER})", f"(leftjoin {OTHER} {BGP})", False),
        ("(bgp)", "(bgp)", True),
    ],
)
def test_joins_in_another_order(one: str, other: str, same: bool) -> None:
    assert (unordered(read(one)) == unordered(read(other))) is same
