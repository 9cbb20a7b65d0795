"""Which reports need nothing but the rows that come and go."""

from __future__ import annotations

import pytest

from penstock.algebra.build import translate
from penstock.compile.reports import deltas

S = "http://e/s"
W = f"FROM NAMED <{S}> [RANGE 30 s] AS ?w FROM NAMED <{S}> [NOW] AS ?n"
SEEN = "GRAPH ?w { ?x <http://e/at> ?y }"
NOW = "GRAPH ?n { ?z <http://e/at> ?y }"
RSPQL = "REGISTER ISTREAM <http://e/out> AS SELECT * FROM NAMED WINDOW <http://e/w> ON <http://e/s> "


@pytest.mark.parametrize(
    ("text", "applies"),
    [
        (f"SELECT ?x {W} {{ {SEEN} }}", True),
        (f"SELECT ?x {W} {{ {SEEN} {NOW} ?x <http://e/p> ?q FILTER (?q > 5) BIND (?q + 1 AS ?r) }}", True),
        (f"SELECT ?x {W} {{ {{ {SEEN} }} UNION {{ {NOW} }} }}", True),
        (f"SELECT ?x {W} {{ {{ {SEEN} }} UNION {{ ?x <http://e/p> ?y }} }}", False),  # some hold always
        (f"SELECT ?x {W} {{ ?x <http://e/p> ?y }}", False),
        (f"SELECT ?x {W} {{ {SEEN} OPTIONAL {{ {NOW} }} }}", False),
        (f"SELECT ?x {W} {{ {SEEN} FILTER NOT EXISTS {{ ?x <http://e/p> ?y }} }}", False),
        (f"SELECT ?x {W} {{ {SEEN} FILTER (NOW() > ?y) }}", False),
        (f"SELECT DISTINCT ?x {W} {{ {SEEN} }}", False),
        (f"SELECT (COUNT(*) AS ?c) {W} {{ {SEEN} }}", False),
        (f"ASK {W} {{ {SEEN} }}", False),
        (f"SELECT ?x FROM STREAM <{S}> [RANGE 30s STEP 5s] {{ ?x <http://e/at> ?y }}", False),  # also the background
        (f"{RSPQL} [RANGE PT30S STEP PT10S] {{ WINDOW <http://e/w> {{ ?x ?y ?z }} }}", True),
        (f"{RSPQL} [RANGE PT10S STEP PT10S] {{ WINDOW <http://e/w> {{ ?x ?y ?z }} }}", False),  # seen at one instant
    ],
)
def test_which_queries(text: str, applies: bool) -> None:
    assert deltas.applies(translate(text), "istream") is applies
    assert deltas.applies(translate(text), "dstream") is applies


@pytest.mark.parametrize("emit", ["rstream", "intervals", "events"])
def test_which_reports(emit: str) -> None:
    assert not deltas.applies(translate(f"SELECT ?x {W} {{ {SEEN} }}"), emit)
