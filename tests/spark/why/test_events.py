"""Why of event queries and of rules, recursive ones too: what is missing, and what made an answer."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from pyoxigraph import NamedNode, Triple
from pyspark.sql import SparkSession

from penstock import Engine, PenstockError, Query

ROADS, E = "http://example.org/roads", "http://example.org/"
MINUTE, EIGHT = 60_000_000, 1_248_076_800_000_000  # 2009-07-20T08:00:00Z
SHORT = 'FILTER(getDURATION() < "PT1H"^^xsd:duration)'
HEAD = f"PREFIX : <{E}> PREFIX xsd: <http://www.w3.org/2001/XMLSchema#>"
RULES = {
    "hop": f"{HEAD} CONSTRUCT {{ ?a :reaches ?b }} {{ ?a :road ?b . ?b :isIn :city {SHORT} }}",
    "far": f"{HEAD} CONSTRUCT {{ ?a :reaches ?c }} {{ {{ ?a :reaches ?b }} SEQ {{ ?b :reaches ?c }} {SHORT} }}",
}
QUERIES = {
    "seq": f"{HEAD} SELECT ?a ?c {{ {{ ?a :road ?b }} SEQ {{ ?b :road ?c }} {SHORT} }}",
    "long": f"{HEAD} SELECT ?a ?c {{ {{ ?a :reaches ?b }} SEQ {{ ?b :road ?c }} {SHORT} }}",
    "backwards": f"{HEAD} SELECT ?a ?c {{ {{ ?b :road ?c }} SEQ {{ ?a :road ?b }} {SHORT} }}",
    "misspelled": f"{HEAD} SELECT ?a ?c {{ {{ ?a :road ?b }} SEQ {{ ?b :roads ?c }} {SHORT} }}",
}
EMPTY = (
    f"{HEAD} CONSTRUCT {{ ?a :joins ?c }} {{ {{ ?a :joins ?b }} UNION {{ ?a :rail ?b }} {{ ?b :rail ?c }} {SHORT} }}"
)


def triple(subject: str, predicate: str, object: str) -> Triple:
    return Triple(NamedNode(E + subject), NamedNode(E + predicate), NamedNode(E + object))


def road(a: str, b: str) -> Triple:
    return triple(a, "road", b)


def city(place: str) -> Triple:
    return triple(place, "isIn", "city")


AB, BC, CD = road("a", "b"), road("b", "c"), road("c", "d")
ELEMENTS = [(AB, EIGHT), (AB, EIGHT + MINUTE), (BC, EIGHT + 2 * MINUTE), (CD, EIGHT + 3 * MINUTE)]


@pytest.fixture(scope="module")
def ran(spark: SparkSession) -> Iterator[dict[str, Query]]:
    with Engine(spark=spark) as engine:
        engine.load(list(map(city, "bcd")))
        engine.stream(ROADS)
        engine.push(ROADS, ELEMENTS)
        texts = RULES | QUERIES | {"empty": EMPTY}
        queries = {name: engine.register(text, name=name) for name, text in texts.items()}
        engine.run()
        yield queries


def row(**names: str) -> dict[str, NamedNode]:
    return {name: NamedNode(E + value) for name, value in names.items()}


def sources(found: object) -> list[tuple[Triple, int]]:
    """The elements that came from outside, with their minutes after eight."""
    came = [element for element in found.elements if element.stream == ROADS]  # type: ignore[attr-defined]
    return [(one.triple, (round(one.time.timestamp() * 1e6) - EIGHT) // MINUTE) for one in came]


def test_what_made_a_sequence(ran: dict[str, Query]) -> None:
    found = ran["seq"].why(row(a="b", c="d"))
    assert sources(found) == [(BC, 2), (CD, 3)]
    assert (len(found), found.background, found.query) == (2, (), "seq")


def test_an_element_before_the_first_event_made_nothing(ran: dict[str, Query]) -> None:
    found = ran["seq"].why(row(a="a", c="c"), at=EIGHT + 2 * MINUTE)
    assert sources(found) == [(AB, 0), (AB, 1), (BC, 2)], "either of the first two makes one"
    assert sources(ran["seq"].why(row(a="b", c="d"), at=EIGHT + 3 * MINUTE)) == [(BC, 2), (CD, 3)]


def test_all_solutions_that_end_at_an_instant(ran: dict[str, Query]) -> None:
    (found,) = ran["seq"].why(at=EIGHT + 3 * MINUTE)
    assert (found.solution, sources(found)) == (row(a="b", c="d"), [(BC, 2), (CD, 3)])


def test_a_sequence_that_is_none(ran: dict[str, Query]) -> None:
    with pytest.raises(PenstockError) as raised:
        ran["seq"].why(row(a="a", c="d"), at=EIGHT + 3 * MINUTE)
    assert str(raised.value) == "The query seq has no such solution at 2009-07-20T08:03:00Z."


def test_what_made_a_triple_of_a_rule(ran: dict[str, Query]) -> None:
    found = ran["hop"].why(triple("b", "reaches", "c"))
    assert (sources(found), found.background) == ([(BC, 2)], (city("c"),))


def test_what_made_a_triple_of_a_recursive_rule(ran: dict[str, Query]) -> None:
    found = ran["far"].why(triple("a", "reaches", "d"))
    assert sources(found) == [(AB, 0), (AB, 1), (BC, 2), (CD, 3)]
    assert found.background == tuple(map(city, "bcd"))
    derived = {str(element.triple) for element in found.elements if element.stream != ROADS}
    assert {str(triple("a", "reaches", "c")), str(triple("c", "reaches", "d"))} <= derived


def test_what_made_a_solution_of_derived_events(ran: dict[str, Query]) -> None:
    found = ran["long"].why(row(a="b", c="d"))
    assert (sources(found), found.background) == ([(BC, 2), (CD, 3)], (city("c"),))


def test_a_sequence_in_the_wrong_order(ran: dict[str, Query]) -> None:
    (reason,) = [one for one in ran["backwards"].why() if one.kind == "pattern"]
    assert str(reason) == (
        "4 events on the left of SEQ and 4 on the right are in no sequence. The left one has to end before the right "
        "one starts, with the same shared variables."
    )


def test_a_misspelled_event(ran: dict[str, Query]) -> None:
    (reason,) = [one for one in ran["misspelled"].why() if one.kind == "pattern"]
    assert "?b :roads ?c matches nothing at any instant" in reason.text
    assert reason.remedy == "There is :road (it is spelled nearly so)."


def test_a_recursive_rule_that_derives_nothing(ran: dict[str, Query]) -> None:
    reasons = [one for one in ran["empty"].why() if one.kind == "pattern"]
    assert any("?a :rail ?b matches nothing at any instant" in one.text for one in reasons), reasons
    assert any("the predicate :rail does not occur there" in one.text for one in reasons), reasons
