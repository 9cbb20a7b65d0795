"""Queries of events and rules in an engine: with an ontology, and while streams, rules and axioms come and go."""

from __future__ import annotations

from collections.abc import Iterable

import pyoxigraph as rdf
import pytest
from pyspark.sql import SparkSession

from penstock import Answer, Engine
from penstock.reasoning.vocabulary import SUB_CLASS
from penstock.testing import snapshots

pytestmark = pytest.mark.filterwarnings("ignore::penstock.PenstockWarning")

PREFIX = "PREFIX : <http://e/> "
ONE, TWO = "http://e/one", "http://e/two"
SECOND = 1_000_000
SOON = 'FILTER (getDURATION() < "P1D"^^<http://www.w3.org/2001/XMLSchema#duration>)'
BELOW = rdf.Triple(rdf.NamedNode("http://e/Thermometer"), SUB_CLASS, rdf.NamedNode("http://e/Sensor"))


def triple(text: str) -> rdf.Triple:
    quad: rdf.Quad
    (quad,) = rdf.parse(f"@prefix : <http://e/> . {text} .", rdf.RdfFormat.TURTLE)
    return quad.triple


def at(second: int, *texts: str) -> list[tuple[rdf.Triple, int]]:
    return [(triple(text), second * SECOND) for text in texts]


def short_snapshots(answers: Iterable[Answer]) -> dict[str, list[str]]:
    return {
        when: [row.replace("<http://e/", "").replace(">", "") for row in rows]
        for when, rows in snapshots(answers).items()
    }


def test_recursive_rules_read_entailed_triples(spark: SparkSession) -> None:
    """Each count and each later sensor make another count. The second sensor is one by a rule's triple alone: the rule
    feeds the other by what follows from its triples, and both are one group."""
    with Engine(spark=spark, entailment="rdfs") as engine:
        engine.load([BELOW])
        engine.stream(ONE, [*at(0, ":x :count 0"), *at(1, ":x a :Thermometer"), *at(2, ":x :count 9", ":x :heats :y")])
        engine.register(
            PREFIX + "CONSTRUCT { ?x :count ?m } { { ?x :count ?n } SEQ { ?x a :Sensor } BIND (?n + 1 AS ?m) }"
        )
        engine.register(PREFIX + "CONSTRUCT { ?x a :Thermometer } { { ?x :heats ?y } EQUALS { ?x :count ?n } }")
        query = engine.register(PREFIX + f"SELECT (STR(?n) AS ?text) {{ ?x :count ?n {SOON} }}")
        engine.run()
        counts = {when: [row.strip('"') for row in rows] for when, rows in snapshots(query.answers()).items()}
        assert counts == {
            "0:00 .. 0:00": ["0"],
            "0:00 .. 0:01": ["1"],
            "0:00 .. 0:02": ["1", "2"],
            "0:02 .. 0:02": ["9"],
        }


def test_axioms_streams_and_rules_are_added_and_dropped(spark: SparkSession) -> None:
    with Engine(spark=spark, entailment="rdfs") as engine:
        engine.stream(ONE)
        query = engine.register(PREFIX + "SELECT ?a ?b { { ?a a :Sensor } SEQ { ?b a :Sensor } }")
        engine.start()

        def push(*streams: str, second: int, text: str) -> None:
            """To the last of the streams; all of them go on."""
            engine.push(streams[-1], at(second, text))
            for stream in streams:
                engine.push(stream, at(second + 1, ":nothing :more 1"))
            engine.flush()

        push(ONE, second=1, text=":s1 a :Thermometer")
        engine.load([BELOW])
        push(ONE, second=3, text=":s2 a :Thermometer")
        engine.stream(TWO)
        push(ONE, TWO, second=5, text=":s3 a :Thermometer")
        rule = engine.register(PREFIX + "REGISTER RULE heating AS CONSTRUCT { ?x a :Thermometer } { ?x :heats ?y }")
        push(ONE, TWO, second=7, text=":s4 :heats :y")
        rule.drop()
        push(ONE, TWO, second=9, text=":s5 :heats :y")
        push(ONE, TWO, second=11, text=":s6 a :Sensor")
        engine.stop()
        assert query.status.error is None
        assert short_snapshots(query.answers()) == {
            "0:01 .. 0:03": ["s1 s2"],
            "0:01 .. 0:05": ["s1 s3"], "0:03 .. 0:05": ["s2 s3"],
            "0:01 .. 0:07": ["s1 s4"], "0:03 .. 0:07": ["s2 s4"], "0:05 .. 0:07": ["s3 s4"],
            "0:01 .. 0:11": ["s1 s6"], "0:03 .. 0:11": ["s2 s6"], "0:05 .. 0:11": ["s3 s6"],
        }  # fmt: skip


def test_rules_join_and_leave_a_running_cycle(spark: SparkSession) -> None:
    """:a goes on from :a and :b with each :p; after 0:03 there is :b, which goes on from :a with each :q; after 0:09 no
    more. :b knows nothing of what was before it: at 0:06 it is 2 and 3, from the :a of 0:04. What it has made stays."""
    where = "{{ {{ ?x :{1} ?n }} SEQ {{ ?x :{2} ?y }} BIND (?n + 1 AS ?m) }}"
    step = f"REGISTER RULE {{0}} AS CONSTRUCT {{{{ ?x :{{0}} ?m }}}} {where}"
    with Engine(spark=spark) as engine:
        engine.stream(ONE)
        engine.register(
            PREFIX + step.format("a", "a", "p").replace("{ ?x :a ?n }", "{ { ?x :a ?n } UNION { ?x :b ?n } }")
        )
        query = engine.register(PREFIX + f"SELECT (STR(?n) AS ?text) {{ ?x :a ?n {SOON} }}")
        engine.start()

        def push(second: int, *texts: str) -> None:
            engine.push(ONE, [*at(second, *texts), *at(second + 1, ":nothing :more 1")])
            engine.flush()

        push(0, ":x :a 0")
        push(2, ":x :p 1")
        other = engine.register(PREFIX + step.format("b", "a", "q"))
        push(4, ":x :p 1")
        push(6, ":x :q 1")
        push(8, ":x :p 1")
        assert other.status.error is None
        other.drop()
        push(10, ":x :q 1")
        push(12, ":x :p 1")
        engine.stop()
        assert [engine[name].status.error for name in ("a", query.name)] == [None, None]
        found = {when: [row.strip('"') for row in rows] for when, rows in snapshots(query.answers()).items()}
        assert found == {
            "0:00 .. 0:00": ["0"],
            "0:00 .. 0:02": ["1"],
            "0:00 .. 0:04": ["1", "2"],
            "0:00 .. 0:08": ["1", "2", "3", "4"],
            "0:00 .. 0:12": ["1", "2", "3", "4", "5"],
        }


def test_elements_older_than_the_retention_are_dropped(spark: SparkSession) -> None:
    """Of two equal queries, the one without a bound has dropped the element of 0:01 at 0:12; the other has a bound."""
    pattern = "{ ?x :a ?a } SEQ { ?x :b ?b }"
    with Engine(spark=spark, retention="2s") as engine:
        engine.stream(ONE)
        forgetful, bounded = (
            engine.register(f"{PREFIX} SELECT ?a ?b {{ {pattern} {said} }}", name=name)
            for name, said in (("forgetful", ""), ("bounded", SOON))
        )
        engine.start()
        for texts in (
            (at(1, ":x :a 1"), at(2, ":x :c 1")),
            (at(10, ":x :a 10"), at(11, ":x :c 1")),
            (at(12, ":x :b 12"), at(13, ":x :c 1")),
        ):
            engine.push(ONE, [element for some in texts for element in some])
            engine.flush()
        engine.stop()
        assert list(snapshots(forgetful.answers())) == ["0:10 .. 0:12"]
        assert sorted(snapshots(bounded.answers())) == ["0:01 .. 0:12", "0:10 .. 0:12"]
