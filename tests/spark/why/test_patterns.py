"""Why a pattern has no rows, by the full text: queries that miss the data by a little."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from pyoxigraph import Literal, NamedNode, Triple
from pyspark.sql import SparkSession

from penstock import Engine, Query

GATES, EXAMPLE = "http://example.org/gates", "http://example.org/"
MINUTE, EIGHT = 60_000_000, 1_248_076_800_000_000  # 2009-07-20T08:00:00Z
WINDOW = f"FROM STREAM <{GATES}> [RANGE 10m STEP 1m]"
NAMED = f"FROM NAMED WINDOW :w ON <{GATES}> [RANGE PT10M STEP PT1M]"
BACKGROUND = b"""
@prefix : <http://example.org/> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
:g1 :inStreet :s1 . :s2 :inDistrict :d1 . :x1 :hasPlate "ABC"@de .
:registers rdfs:subPropertyOf :sees ; rdfs:domain :Gate .
"""
NOWHERE = f"matches nothing at any instant, neither in the 3 elements of <{GATES}> nor in the background"
FREQUENT = "The most frequent predicates there are :hasPlate, :inDistrict, :inStreet."

CASES = {
    "spelling": (
        f"SELECT ?g {WINDOW} {{ ?g :register ?c }}",
        [
            f"?g :register ?c {NOWHERE}: the predicate :register does not occur there. "
            "There is :registers (it is spelled nearly so)."
        ],
    ),
    "number_against_string": (
        f'SELECT ?g {WINDOW} {{ ?g :speed "50" }}',
        [f'?g :speed "50" {NOWHERE}. There is 50 (it is a number, not a string).'],
    ),
    "another_constant": (
        f"SELECT ?g {WINDOW} {{ :g9 :registers ?c }}",
        [f":g9 :registers ?c {NOWHERE}. Where it has :g9, there is :g1."],
    ),
    "join": (
        f"SELECT ?g {WINDOW} {{ ?g :registers ?c . ?c :plate ?p . ?x :hasPlate ?p }}",
        [
            "1 row on the one side and 1 on the other have no value of ?p in common. "
            'The one has "ABC", the other "ABC"@de: it has the language tag @de.'
        ],
    ),
    "background": (
        f"SELECT ?g {WINDOW} {{ ?g :registers ?c . ?g :inStreet ?s . ?s :inDistrict ?d }}",
        [
            "?s :inDistrict ?d matches, but not together with ?g :inStreet ?s. "
            "Look whether the data has the terms by which the query joins them."
        ],
    ),
    "filter": (
        f"SELECT ?g {WINDOW} {{ ?g :speed ?v FILTER(?v > 100) }}",
        ["FILTER (?v > 100) keeps none of 1 row. In these rows, ?v is 50."],
    ),
    "having": (
        f"SELECT ?g {WINDOW} {{ ?g :registers ?c }} GROUP BY ?g HAVING (COUNT(*) > 5)",
        ["HAVING (COUNT(*) > 5) keeps none of 2 rows. In these rows, COUNT(*) is 1."],
    ),
    "minus": (
        f"SELECT ?g {WINDOW} {{ ?g :registers ?c MINUS {{ ?g :inStreet ?s }} }}",
        ["MINUS removes all of 1 row. Its pattern matches with the same ?g each time."],
    ),
    "path": (
        f"SELECT ?g {WINDOW} {{ ?g :near+ ?c }}",
        [
            "The path ?g :near+ ?c connects nothing at any instant. "
            "Look whether its predicates occur in the window or graph that it reads."
        ],
    ),
    "union": (
        f"SELECT ?g {WINDOW} {{ {{ ?g :one ?c }} UNION {{ ?g :two ?c }} }}",
        [
            f"?g :one ?c {NOWHERE}: the predicate :one does not occur there. {FREQUENT}",
            f"?g :two ?c {NOWHERE}: the predicate :two does not occur there. {FREQUENT}",
        ],
    ),
    "window_block": (
        f"SELECT ?g {NAMED} {{ WINDOW :w {{ ?g :inStreet ?c }} }}",
        [
            f"?g :inStreet ?c matches nothing at any instant, not in the 3 elements of <{GATES}>: "
            "the predicate :inStreet does not occur there. "
            "It occurs in the background, which the pattern does not read here."
        ],
    ),
    "subproperty": (
        f"SELECT ?g {WINDOW} {{ ?g :sees ?c }}",
        [
            f"?g :sees ?c {NOWHERE}: the predicate :sees does not occur there. {FREQUENT}",
            "?g :sees ?c would match with entailment: by the background it follows from :registers. "
            'Make the engine with Engine(entailment="rdfs").',
        ],
    ),
    "domain": (
        f"SELECT ?g {WINDOW} {{ ?g a :Gate }}",
        [
            f"?g a :Gate {NOWHERE}: the predicate rdf:type does not occur there. {FREQUENT}",
            "?g a :Gate would match with entailment: by the background it follows from :registers. "
            'Make the engine with Engine(entailment="rdfs").',
        ],
    ),
    "sequence": (
        f"SELECT ?g FROM STREAM <{GATES}> {{ {{ ?c :plate ?p }} SEQ {{ ?g :registers ?c }} }}",
        [
            "1 event on the left of SEQ and 1 on the right are in no sequence. "
            "The left one has to end before the right one starts, with the same shared variables."
        ],
    ),
    "never_at_once": (
        f"SELECT ?g FROM STREAM <{GATES}> [RANGE 1m STEP 1m] {{ ?g :registers ?c . ?g :speed ?v }}",
        [
            "1 row on the one side and 1 on the other never have the same ?g at the same instant. "
            "Widen RANGE, or compare the sources' clocks."
        ],
    ),
    "empty_window": (
        f"REGISTER QUERY seldom COMPUTED EVERY 1h AS SELECT ?g FROM STREAM <{GATES}> [RANGE 1m STEP 1m] {{ ?g ?p ?c }}",
        [
            f"The window [RANGE 1m TUMBLING] on <{GATES}> is empty at each instant from 2009-07-20T08:00:30Z to "
            "2009-07-20T09:00:00Z: its newest element is of 2009-07-20T08:01:30Z. "
            "Widen RANGE, or evaluate the query more often.",
            f"The window [RANGE 1m TUMBLING] on <{GATES}> is empty since 2009-07-20T08:03:00Z: its newest element is "
            "of 2009-07-20T08:01:30Z, and the answers have come to 2009-07-20T09:00:00Z. "
            "Wait for newer elements, or widen RANGE.",
        ],
    ),
    "answered": (
        f"SELECT ?g {WINDOW} {{ ?g :registers ?c }}",
        [
            "It has answers: there is 1 solution from 2009-07-20T08:00:30Z to 2009-07-20T08:02:00Z. "
            "They have gone to its sink."
        ],
    ),
    "unchanged": (
        f"REGISTER ISTREAM entering AS SELECT ?g {NAMED} {{ WINDOW :w {{ ?g :registers ?c }} }}",
        [
            "Nothing has changed since 2009-07-20T08:01:00Z: there is 1 solution from 2009-07-20T08:00:30Z to "
            "2009-07-20T08:02:00Z, and ISTREAM reports solutions only when they become true. "
            'Register the query with emit="rstream" to get all of them at each instant.',
        ],
    ),
}  # fmt: skip


def term(name: str) -> NamedNode:
    return NamedNode(EXAMPLE + name)


ELEMENTS = [
    (Triple(term("g1"), term("registers"), term("c1")), EIGHT + MINUTE // 2),
    (Triple(term("c1"), term("plate"), Literal("ABC")), EIGHT + MINUTE // 2),
    (Triple(term("g1"), term("speed"), Literal(50)), EIGHT + 3 * MINUTE // 2),
]


@pytest.fixture(scope="module")
def ran(spark: SparkSession) -> Iterator[dict[str, Query]]:
    with Engine(spark=spark) as engine:
        engine.load(BACKGROUND, format="ttl")
        engine.stream(GATES)
        engine.push(GATES, ELEMENTS)
        queries = {
            name: engine.register(f"PREFIX : <{EXAMPLE}> {text}", name=None if "REGISTER" in text else name)
            for name, (text, _) in CASES.items()
        }
        engine.run()
        yield queries


@pytest.mark.parametrize("name", CASES)
@pytest.mark.filterwarnings("ignore::penstock.PenstockWarning")
def test_the_reason(ran: dict[str, Query], name: str) -> None:
    assert list(map(str, ran[name].why())) == CASES[name][1]


def test_asking_changes_no_answer(ran: dict[str, Query]) -> None:
    query = ran["answered"]
    before = [(answer.time, answer.rows) for answer in query.answers()]
    query.why()
    assert [(answer.time, answer.rows) for answer in query.answers()] == before
    assert len(before) == 2
