"""Which queries are of one family, and what is left of a family's constants."""

from __future__ import annotations

from typing import Any

import pytest
from pyoxigraph import Literal, NamedNode

from penstock.algebra import ops
from penstock.algebra.build import translate
from penstock.algebra.expressions import Call, Const, Var
from penstock.algebra.template import Template, parameter, parameters_of, template

PREFIXES = "PREFIX : <http://e/> PREFIX xsd: <http://www.w3.org/2001/XMLSchema#>\n"
STREAM = "FROM STREAM <http://e/s> [RANGE 4s STEP 2s]"


def e(name: str) -> NamedNode:
    return NamedNode(f"http://e/{name}")


def of(text: str) -> Template:
    made = template(translate(PREFIXES + text))
    assert made is not None
    return made


def select(where: str, stream: str = STREAM) -> str:
    return f"SELECT ?x {stream} WHERE {{ {where} }}"


ONE_FAMILY = {
    "subject": (":a :p ?x", ":b :p ?x"),
    "object": ("?x :p :a", '?x :p "a"'),
    "filter": ("?x :p ?v FILTER (?v > 30)", "?x :p ?v FILTER (?v > 31.5)"),
    "one of several conditions": ("?x :p ?v FILTER (?v > 3 && ?x != :a)", "?x :p ?v FILTER (?v > 4 && ?x != :b)"),
    "bind": ("?x :p ?v BIND (?v + 1 AS ?w)", "?x :p ?v BIND (?v + 2 AS ?w)"),
    "in": ("?x :p ?v FILTER (?v IN (1, 2))", "?x :p ?v FILTER (?v IN (:a, :b))"),
    "optional": ("?x :p ?v OPTIONAL { :a :q ?v FILTER (?v > 1) }", "?x :p ?v OPTIONAL { :b :q ?v FILTER (?v > 2) }"),
    "exists": ("?x :p ?v FILTER NOT EXISTS { ?v :q :a }", "?x :p ?v FILTER NOT EXISTS { ?v :q :b }"),
    "sub-select": ("?x :p ?v { SELECT ?v { ?v :q :a } }", "?x :p ?v { SELECT ?v { ?v :q :b } }"),
    "graph": ("GRAPH :g { ?x :p :a }", "GRAPH :g { ?x :p :b }"),
    "what is a constant once": ("?x :p :a . ?x :p :a", "?x :p :a . ?x :p :b"),
}


@pytest.mark.parametrize("name", ONE_FAMILY)
def test_equal_but_for_constants(name: str) -> None:
    one, other = (of(select(where)) for where in ONE_FAMILY[name])
    assert one.query == other.query
    assert hash(one.query) == hash(other.query)
    assert one.parameters == other.parameters
    assert one.constants != other.constants


APART = {
    "predicate": ("?x :p :a", "?x :q :a"),
    "variable": ("?x :p ?a", "?x :p ?b"),
    "graph": ("GRAPH :g { ?x :p :a }", "GRAPH :h { ?x :p :a }"),
    "values": ("VALUES ?x { :a } ?x :p ?y", "VALUES ?x { :b } ?x :p ?y"),
    "number of constants": ("?x :p ?v FILTER (?v IN (1, 2))", "?x :p ?v FILTER (?v IN (1, 2, 3))"),
    "a constant for a variable": ("?x :p :a", "?x :p ?y"),
    "end of a path": ("?x :p+ :a . ?x :q ?y", "?x :p+ :b . ?x :q ?y"),
    "another operator": ("?x :p ?v FILTER (?v > 3)", "?x :p ?v FILTER (?v < 3)"),
    "whose timestamp": (
        "?x :p ?v BIND (timestamp(?v, <http://e/s>) AS ?t)",
        "?x :p ?v BIND (timestamp(?v, <http://e/t>) AS ?t)",
    ),
}


@pytest.mark.parametrize("name", APART)
def test_of_different_families(name: str) -> None:
    one, other = (of(select(where)) for where in APART[name])
    assert one.query != other.query


@pytest.mark.parametrize(
    "pair",
    [
        (select("?x :p :a"), select("?x :p :a", STREAM.replace("4s", "6s"))),
        (select("?x :p :a") + " LIMIT 1", select("?x :p :a") + " LIMIT 2"),
        (select("?x :p :a"), select("?x :p :a").replace("SELECT", "SELECT DISTINCT")),
        (f"REGISTER QUERY a COMPUTED EVERY 2s AS {select('?x :p :a')}", select("?x :p :a")),
    ],
)
def test_windows_modifiers_and_times_tell_families_apart(pair: tuple[str, str]) -> None:
    one, other = map(of, pair)
    assert one.query != other.query


def test_how_long_events_may_last_stays() -> None:
    """It says how long they are kept."""

    def asked(room: str, long: int) -> Template:
        within = f'FILTER (?v > {long} && getDURATION() < "PT{long}S"^^xsd:duration)'
        return of(f"SELECT ?x FROM STREAM <http://e/s> WHERE {{ {{ ?x :at :{room} }} SEQ {{ ?x :at ?v }} {within} }}")

    assert asked("a", 3).query != asked("a", 4).query
    assert asked("a", 3).constants == (Literal(3), e("a"))


@pytest.mark.parametrize(
    "text",
    [
        "SELECT ?x { ?x :p :a }",  # reads no stream
        f"DESCRIBE ?x {STREAM} WHERE {{ ?x :p :a }}",
        f"REGISTER STREAM <http://e/o> AS CONSTRUCT {{ ?x :q :b }} {STREAM} WHERE {{ ?x :p :a }}",
        "CONSTRUCT { ?x :q :b } FROM STREAM <http://e/s> WHERE { { ?x :p :a } SEQ { ?x :p :b } }",  # a rule
    ],
)
def test_of_no_family(text: str) -> None:
    assert template(translate(PREFIXES + text)) is None


def test_names_do_not_matter() -> None:
    one, other = (of(f"REGISTER QUERY {name} AS {select('?x :p :a')}") for name in ("one", "other"))
    assert one == other == of(select("?x :p :a"))
    timed = of(f"REGISTER QUERY one COMPUTED EVERY 2s AS {select('?x :p :a')}")
    assert timed == of(f"REGISTER QUERY other COMPUTED EVERY 2s AS {select('?x :p :a')}")
    assert timed.query.registration == ops.Registration(None, 2_000_000)


def test_each_place_is_a_parameter_of_its_own() -> None:
    made = of(select("?x :p :a MINUS { :b :q :a }"))
    assert made.parameters == tuple(map(parameter, range(3)))
    assert made.constants == (e("a"), e("b"), e("a"))
    assert all(p.parameter and p.internal for p in made.parameters)
    assert parameters_of(made.query) == made.parameters


def test_constants_of_the_template_of_triples() -> None:
    one, other = (of(f"CONSTRUCT {{ ?x :q :{n} }} {STREAM} WHERE {{ ?x :p ?y }}") for n in "ab")
    assert one.query == other.query
    assert (one.constants, other.constants) == ((e("a"),), (e("b"),))
    assert parameters_of(one.query.form) == (parameter(0),)


def test_a_constant_shared_by_all_members_is_no_parameter() -> None:
    texts = (select(f"?x a :Car . ?x :at :{room} FILTER (?x != :c{n})") for n, room in enumerate("aab"))
    made = [of(text) for text in texts]
    query, left = made[0].specialised([m.constants for m in made])
    assert parameters_of(query) == (parameter(0), parameter(1))
    assert left == [(e("c0"), e("a")), (e("c1"), e("a")), (e("c2"), e("b"))]
    condition, patterns = _parts(query)
    assert condition == Call("!=", (Var("x"), parameter(0)))
    assert [p.object for p in patterns] == [e("Car"), parameter(1)]


def _parts(query: ops.Query) -> tuple[Any, tuple[ops.TriplePattern, ...]]:
    match query.pattern:
        case ops.Project(_, ops.Filter(condition, ops.Bgp(patterns))):
            return condition, patterns
    raise AssertionError(query.pattern)


@pytest.mark.parametrize("count", [1, 3])
def test_equal_members_are_the_query_itself(count: int) -> None:
    query = translate(PREFIXES + select("?x :p :a OPTIONAL { ?x :q ?v FILTER (?v > 3) } FILTER EXISTS { ?x :r :b }"))
    made = template(query)
    assert made is not None
    assert made.specialised([made.constants] * count) == (query, [()] * count)


def test_no_member_agrees_with_none() -> None:
    made = of(select("?x :p :a"))
    assert made.specialised([]) == (made.query, [])


def test_terms_are_compared_as_they_are_written() -> None:
    """1 and 01 are equal numbers, and different constants."""
    made = of(select("?x :p ?v FILTER (?v = 1)"))
    integer = NamedNode("http://www.w3.org/2001/XMLSchema#integer")
    query, left = made.specialised([(Literal("1", datatype=integer),), (Literal("01", datatype=integer),)])
    assert [term.value for (term,) in left] == ["1", "01"]
    assert Const(Literal(1)) not in _parts(query)[0].args
