"""What made a solution: the elements of the windows and the triples of the background."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from pyoxigraph import Literal, NamedNode, Triple
from pyspark.sql import SparkSession

from penstock import Engine, OptionError, PenstockError, Provenance, Query

GATES, EXAMPLE = "http://example.org/gates", "http://example.org/"
MINUTE, EIGHT = 60_000_000, 1_248_076_800_000_000  # 2009-07-20T08:00:00Z
WINDOW = f"FROM STREAM <{GATES}> [RANGE 3m STEP 1m]"
BACKGROUND = b"@prefix : <http://example.org/> . :g1 :inStreet :s1 . :g2 :inStreet :s1 . :g3 :inStreet :s2 ."
PATTERN = "?g :registers ?c . ?g :inStreet ?s"

QUERIES = {
    "plain": f"SELECT ?g ?s {WINDOW} {{ {PATTERN} }}",
    "optional": f"SELECT ?g ?v {WINDOW} {{ ?g :registers ?c OPTIONAL {{ ?g :speed ?v }} }}",
    "union": f"SELECT ?g {WINDOW} {{ {{ ?g :registers :c1 }} UNION {{ ?g :speed ?v }} }}",
    "count": f"SELECT ?s (COUNT(*) AS ?n) {WINDOW} {{ {PATTERN} }} GROUP BY ?s",
    "annotated": f"SELECT DISTINCT ?s ?n {WINDOW} {{ {PATTERN} }} AGGREGATE {{ (?n, COUNT, {{?s}}) }}",
    "subselect": f"SELECT ?s {WINDOW} {{ ?g :inStreet ?s "
    "{ SELECT ?g (COUNT(*) AS ?n) { ?g :registers ?c } GROUP BY ?g } FILTER(?n > 1) }",
    "construct": f"CONSTRUCT {{ ?s :saw ?c }} {WINDOW} {{ {PATTERN} }}",
    "last_two": f"SELECT ?g FROM STREAM <{GATES}> [RANGE TRIPLES 2] {{ ?g :registers ?c }}",
    "nothing": f"SELECT (COUNT(*) AS ?n) {WINDOW} {{ ?g :halts ?c }}",
}


def term(name: str) -> NamedNode:
    return NamedNode(EXAMPLE + name)


def triple(subject: str, predicate: str, object: str | int) -> Triple:
    value = Literal(object) if isinstance(object, int) else term(object)
    return Triple(term(subject), term(predicate), value)


OLD, ONE = triple("g1", "registers", "c9"), triple("g1", "registers", "c1")
TWO, THREE = triple("g1", "registers", "c2"), triple("g2", "registers", "c1")
SPEED = triple("g1", "speed", 50)
STREET_1, STREET_2 = triple("g1", "inStreet", "s1"), triple("g2", "inStreet", "s1")
ELEMENTS = [
    (OLD, EIGHT),  # it has left the window at 8:04
    (ONE, EIGHT + 2 * MINUTE), (TWO, EIGHT + 2 * MINUTE), (THREE, EIGHT + 3 * MINUTE), (SPEED, EIGHT + 4 * MINUTE),
]  # fmt: skip


@pytest.fixture(scope="module")
def ran(spark: SparkSession) -> Iterator[dict[str, Query]]:
    with Engine(spark=spark) as engine:
        engine.load(BACKGROUND, format="ttl")
        engine.stream(GATES)
        engine.push(GATES, ELEMENTS)
        queries = {name: engine.register(f"PREFIX : <{EXAMPLE}> {text}", name=name) for name, text in QUERIES.items()}
        engine.run()
        yield queries


def row(**terms: str | int) -> dict[str, NamedNode | Literal]:
    return {name: Literal(value) if isinstance(value, int) else term(value) for name, value in terms.items()}


@pytest.mark.parametrize(
    ("name", "solution", "elements", "background"),
    [
        ("plain", row(g="g1", s="s1"), [ONE, TWO], [STREET_1]),
        ("optional", row(g="g1", v=50), [ONE, TWO, SPEED], []),
        ("optional", row(g="g2"), [THREE], []),
        ("union", row(g="g1"), [ONE, SPEED], []),
        ("count", row(s="s1", n=3), [ONE, TWO, THREE], [STREET_1, STREET_2]),
        ("annotated", row(s="s1", n=3), [ONE, TWO, THREE], [STREET_1, STREET_2]),
        ("subselect", row(s="s1"), [ONE, TWO], [STREET_1]),
        ("construct", triple("s1", "saw", "c1"), [ONE, THREE], [STREET_1, STREET_2]),
        ("last_two", row(g="g2"), [THREE], []),
        ("nothing", row(n=0), [], []),
    ],
)
def test_provenance_of_a_solution(
    ran: dict[str, Query],
    name: str,
    solution: dict[str, NamedNode | Literal] | Triple,
    elements: list[Triple],
    background: list[Triple],
) -> None:
    found = ran[name].why(solution)
    assert [element.triple for element in found.elements] == elements
    assert list(found.background) == background
    assert (found.query, len(found)) == (name, len(elements) + len(background))


def test_the_text_of_a_provenance(ran: dict[str, Query]) -> None:
    latest = ran["plain"].latest()
    assert latest is not None
    found = ran["plain"].why(row(g="g2", s="s1"), at=latest.time)
    assert str(found) == (
        "# ?g = <http://example.org/g2>, ?s = <http://example.org/s1> at 2009-07-20T08:04:00Z\n"
        "<http://example.org/g2> <http://example.org/registers> <http://example.org/c1> .  "
        f"# <{GATES}> at 2009-07-20T08:03:00Z\n"
        "<http://example.org/g2> <http://example.org/inStreet> <http://example.org/s1> .  # background"
    )


def test_all_solutions_of_an_instant(ran: dict[str, Query]) -> None:
    found = ran["optional"].why(at=EIGHT + 4 * MINUTE)
    assert [list(each) for each in found] == [[ONE, TWO, SPEED], [THREE]]
    assert [each.solution for each in found] == [row(g="g1", v=50), row(g="g2")]


def test_a_solution_that_was_not_true_then(ran: dict[str, Query]) -> None:
    with pytest.raises(PenstockError) as raised:
        ran["plain"].why(row(g="g3", s="s2"), at=EIGHT + 4 * MINUTE)
    assert str(raised.value) == "The query plain has no such solution at 2009-07-20T08:04:00Z."


def test_a_solution_without_an_instant(ran: dict[str, Query]) -> None:
    with pytest.raises(OptionError) as raised:
        ran["plain"].why(row(g="g3", s="s2"))
    assert str(raised.value) == "at: say at which instant the solution was true, as in query.why(row, at=answer.time)"


def test_a_variable_that_answers_do_not_have(ran: dict[str, Query]) -> None:
    with pytest.raises(OptionError) as raised:
        ran["plain"].why(row(c="c1"), at=EIGHT + 4 * MINUTE)
    assert str(raised.value) == "the query has no variable ?c in its answers"


def test_an_element_that_entails_the_matched_triple(spark: SparkSession) -> None:
    with Engine(spark=spark, entailment="rdfs") as engine:
        above = NamedNode("http://www.w3.org/2000/01/rdf-schema#subPropertyOf")
        engine.load([Triple(term("registers"), above, term("sees"))])
        engine.stream(GATES)
        engine.push(GATES, ELEMENTS)
        query = engine.register(f"SELECT ?g {WINDOW} {{ ?g <{EXAMPLE}sees> <{EXAMPLE}c2> }}")
        engine.run()
        found: Provenance = query.why(row(g="g1"))
    assert list(found) == [TWO]
