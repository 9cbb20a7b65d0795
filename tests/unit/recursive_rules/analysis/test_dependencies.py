"""Which rules feed which, in what order they run, and by what their elements may be split."""

from __future__ import annotations

import pytest
from pyoxigraph import NamedNode, RdfFormat, parse

from penstock.algebra.build import translate
from penstock.algebra.expressions import Var
from penstock.reasoning import closed_ontology
from penstock.reasoning.vocabulary import TYPE
from penstock.recursive_rules.analysis.components import components
from penstock.recursive_rules.analysis.dependencies import feeds, layers, read_by
from penstock.recursive_rules.analysis.entailment import Entailment, entailment_of
from penstock.recursive_rules.analysis.partition import Partition, partition
from penstock.recursive_rules.analysis.rule import Rule

PREFIXES = "PREFIX : <http://e/> "


def rule(name: str, template: str, pattern: str, head: str = "") -> Rule:
    return Rule(
        name, translate(f"{PREFIXES} REGISTER RULE {name} AS CONSTRUCT {{ {template} }} {head} WHERE {{ {pattern} }}")
    )


def test_components_are_in_topological_order() -> None:
    assert components([[1], [2], [0, 3], [4], []]) == [[0, 1, 2], [3], [4]]
    assert components([[], [0], [1]]) == [[2], [1], [0]]
    assert components([[1, 2], [3], [3], [], [4]]) == [[0], [1], [2], [3], [4]]


def test_a_long_chain_needs_no_recursion() -> None:
    assert components([[i + 1] for i in range(5000)] + [[]]) == [[i] for i in range(5001)]


@pytest.mark.parametrize(
    ("template", "pattern", "fed"),
    [
        ("?a :p ?b", "?x :p ?y", True),
        ("?a :p ?b", "?x :q ?y", False),
        ("?a :p ?b", "?x ?any ?y", True),
        ("?a ?b ?b", "?x :q ?y", True),
        (":one :p ?b", ":other :p ?y", False),
        ("?a :p 1", "?x :p 2", False),
        ("?a :p 1", "?x :p 1", True),
        ("_:new :p ?b", ":one :p ?y", False),
        ("_:new :p ?b", "?x :p ?y", True),
        ("?a :p ?b", "?x :r ?y FILTER NOT EXISTS { ?x :p ?z }", True),
        ("?a :p ?b", "?x :r/:p+ ?y", True),
        ("?a :p ?b", "?x :r+ ?y", False),
        ("?a :p ?b", "?x !:p ?y", True),
        ("?a :p ?b", "?x :r* ?y", True),
    ],
)
def test_a_rule_feeds_another_whose_pattern_its_template_may_match(template: str, pattern: str, fed: bool) -> None:
    assert feeds(rule("one", template, "?a :start ?b"), rule("other", "?x :end ?y", pattern)) is fed


ONTOLOGY = """@prefix : <http://e/> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
    :Thermometer rdfs:subClassOf :Sensor . :near rdfs:subPropertyOf :linked . :heats rdfs:domain :Device .
    :read rdfs:range :Sensor . :joins rdfs:domain :Sensor ; rdfs:range :Sensor ."""


def followed(*rules: Rule) -> Entailment:
    stated = [quad.triple for quad in parse(ONTOLOGY, RdfFormat.TURTLE)]
    ontology = closed_ontology(lambda wanted: [t for t in stated if t.predicate in wanted])
    return entailment_of(ontology, [pattern for rule in rules for pattern in read_by(rule)])


@pytest.mark.parametrize(
    ("template", "pattern", "fed"),
    [
        ("?a a :Thermometer", "?x a :Sensor", True),
        ("?a a :Sensor", "?x a :Thermometer", False),
        ("?a a ?b", "?x a :Sensor", True),
        ("?a a :Device", "?x a :Sensor", False),
        ("?a :near ?b", "?x :linked ?y", True),
        ("?a :near ?b", "?x :linked+ ?y", True),
        ("?a :heats ?b", "?x a ?class", True),
        ("?a :heats ?b", "?x a :Sensor", False),
        ("?a :read ?b", "?x a :Sensor", True),
        ("?a :read ?b", ":one a :Sensor", True),
        ("?a :read :two", ":one a :Sensor", False),
        ("?a ?any ?b", ":one a :Sensor", True),
    ],
)
def test_entailed_triples_feed_rules_too(template: str, pattern: str, fed: bool) -> None:
    one, other = rule("one", template, "?a :start ?b"), rule("other", "?x :end ?y", pattern)
    assert feeds(one, other, followed(one, other)) is fed


def test_a_rule_that_names_other_streams_is_fed_by_none() -> None:
    one = rule("one", "?a :p ?b", "?a :start ?b")
    assert not feeds(one, rule("other", "?x :end ?y", "?x :p ?y", "FROM STREAM <http://e/s>"))
    named = "FROM STREAM <http://e/s> FROM STREAM <urn:penstock:rules>"
    assert feeds(one, rule("other", "?x :end ?y", "?x :p ?y", named))


def test_layers_and_groups_in_dependency_order() -> None:
    rules = [
        rule("last", "?a :z ?b", "?a :even ?b . ?a :q ?b"),
        rule("even", "?a :even ?b", "{ ?a :odd ?b } SEQ { ?a :tick ?c }"),
        rule("second", "?a :q ?b", "?a :p ?b"),
        rule("odd", "?a :odd ?b", "{ ?a :even ?b } SEQ { ?a :tick ?c } UNION { ?a :q ?b }"),
        rule("first", "?a :p ?b", "?a :start ?b"),
        rule("alone", "?a :x ?b", "?a :start ?b"),
        rule("itself", "?a :n ?b", "{ ?a :n ?b } SEQ { ?a :tick ?c }"),
    ]
    found = [(sorted(r.name for r in layer.rules), layer.recursive) for layer in layers(rules)]
    assert found == [
        (["alone", "first"], False), (["itself"], True), (["second"], False), (["even", "odd"], True),
        (["last"], False),
    ]  # fmt: skip


# Keys

P, Q, NEAR, LINKED, HEATS = (NamedNode(f"http://e/{name}") for name in ("p", "q", "near", "linked", "heats"))


@pytest.mark.parametrize(
    ("template", "pattern", "expected"),
    [
        ("?a :p ?n", "{ ?a :p ?m } SEQ { ?a :q ?n }", Partition({P: "subject", Q: "subject"})),
        ("?n :p ?a", "{ ?m :p ?a } SEQ { ?a :q ?n }", Partition({P: "object", Q: "subject"})),
        ("?a :p ?a", "{ ?a :p ?m } SEQ { ?a :q ?n }", Partition({P: "subject", Q: "subject"})),
        ("_:b :p ?n", "{ ?a :p ?m } SEQ { ?a :q ?n }", None),
        ("?a :p ?n", "{ ?a :p ?m } SEQ { ?b :q ?n }", None),
        ("?b :p ?a", "{ ?a :p ?b } SEQ { ?a :q ?n }", None),
        ("?a :p ?n", "{ ?a :p ?m } SEQ { ?a ?any ?n }", Partition({P: "subject"}, "subject")),
        ("?a :p ?n", "{ ?m :p ?a } SEQ { ?a ?any ?n }", None),
        ("?a :p ?n", "{ ?a :p ?n } SEQ { ?a :q ?m } MINUS { ?a :q 1 }", Partition({P: "subject", Q: "subject"})),
        ("?a :p ?n", "{ ?a :p ?n } SEQ { SELECT ?m { ?a :q ?m } }", None),
        ("?a :p ?n", "{ ?a :p ?n FILTER NOT EXISTS { ?a :q 1 } }", Partition({P: "subject", Q: "subject"})),
        ("?a :p ?n", "{ ?a :p ?n FILTER NOT EXISTS { ?b :q 1 } }", None),
    ],
)
def test_keys(template: str, pattern: str, expected: Partition | None) -> None:
    assert partition([rule("one", template, pattern)]) == expected


@pytest.mark.parametrize(
    ("pattern", "places"),
    [
        ("{ ?a :p ?m } SEQ { ?a :linked ?n }", {P: "subject", LINKED: "subject", NEAR: "subject"}),
        ("{ ?a :p ?m } SEQ { ?n :linked ?a }", {P: "subject", LINKED: "object", NEAR: "object"}),
        ("{ ?a :p ?m } SEQ { ?a a :Device }", {P: "subject", TYPE: "subject", HEATS: "subject"}),
        ("{ ?a :p ?m } SEQ { ?a a :Sensor }", None),  # :joins says it of two
        ("{ ?a :p ?m } SEQ { ?a a :Sensor . ?a :q ?n }", None),
        ("{ ?a :p ?m } SEQ { ?a :near ?n . ?n :linked ?a }", None),
    ],
)
def test_entailed_elements_keep_the_partition_key(pattern: str, places: dict[NamedNode, str] | None) -> None:
    one = rule("one", "?a :p ?n", pattern)
    found = partition([one], entailment=followed(one))
    assert found == (None if places is None else Partition(places))


def test_splits_that_agree() -> None:
    split = Partition({P: "subject", Q: "object"})
    assert split.agrees(Partition({P: "subject", NEAR: "object"}))
    assert not split.agrees(Partition({P: "object"}))
    assert not split.agrees(Partition({P: "subject"}, "subject"))


def test_rules_of_a_group_agree_on_the_place() -> None:
    one = rule("one", "?a :p ?n", "{ ?a :p ?m } SEQ { ?a :q ?n }")
    assert partition([one, rule("two", "?k :q ?v", "?k :p ?v")]) == Partition({P: "subject", Q: "subject"})
    assert partition([one, rule("two", "?k :q ?k", "?v :p ?k")]) is None
    found = partition([one, rule("two", "?k :q ?v", "?k :p ?v")])
    assert found is not None
    assert found.keys == (Var("a"), Var("k"))


def test_patterns_of_the_background_alone_need_no_key() -> None:
    located = rule("one", "?a :p ?n", "{ ?a :p ?m . ?m :q ?n } SEQ { ?a :p ?k }")
    assert partition([located]) is None
    assert partition([located], lambda pattern: pattern.predicate != Q) == Partition({P: "subject"})
