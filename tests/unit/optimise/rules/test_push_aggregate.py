"""Aggregates over a UNION of which one half is static: pushed or not, the answers are the same; and their classes."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given, settings
from pyoxigraph import Literal, NamedNode

from penstock.algebra import ops
from penstock.algebra.build import translate
from penstock.algebra.expressions import Aggregate, Call, Const, Expr, PatternTerm, Term, Var
from penstock.algebra.ops import Group, Op, Query, Select, TriplePattern
from penstock.algebra.sse import read, write
from penstock.optimise import Uniform, optimise
from penstock.optimise.branches import Values, values
from penstock.optimise.distribute import classify
from tests.support.plans import GRAPHS, IRIS, PREDICATES, TERMS, VARS, from_tape
from tests.support.reference import XSD, Graph, answers
from tests.support.tape import Tape

STILL, MOVING = PREDICATES
NUMBERS: tuple[Term, ...] = (*TERMS, Literal("2.5", datatype=NamedNode(f"{XSD}decimal")), Literal("a"))


class Beside(Uniform):
    """A large background that has :p, and a stream that has :q."""

    @property
    def live(self) -> bool:
        return True

    def streams(self, predicate: PatternTerm) -> bool:
        return predicate != STILL

    def count(self, pattern: TriplePattern) -> float:
        return 1e12


BESIDE = Beside()


def pushed(plan: Op) -> Op:
    return optimise(Query(Select(), plan), BESIDE, ["push_aggregate"]).query.pattern


# Generated plans: some branches, perhaps with something around them, perhaps with HAVING above


def plan(tape: Tape) -> Op:
    keys = tuple(tape.some(VARS, 0, 2))
    aggregates = tuple((Var(f"r{i}"), _aggregate(tape)) for i in range(tape.count(1, 3)))
    grouped = Group(keys, aggregates, _around(tape, _branches(tape)))
    if tape.chance(8):
        return ops.Annotate(*aggregates[0], keys, grouped.pattern)
    return ops.Filter(Call("<", (Const(Literal(1)), Var("r0"))), grouped) if tape.chance(4) else grouped


def _aggregate(tape: Tape) -> Aggregate:
    name = tape.pick(("COUNT", "SUM", "AVG", "MIN", "MAX", "SAMPLE", "COUNT"))
    everything = name == "COUNT" and tape.chance(2)
    return Aggregate(name, None if everything else _argument(tape), tape.chance(5))


def _argument(tape: Tape) -> Expr:
    var = tape.pick((*VARS[:2], *VARS))
    return tape.pick((var, var, var, Call("+", (var, Const(Literal(1)))), Call("COALESCE", (var, Const(IRIS[0])))))


def _branches(tape: Tape) -> Op:
    still, moving = _branch(tape, STILL), _branch(tape, MOVING)
    both = ops.Union(still, moving)
    return ops.Union(_branch(tape, tape.pick(PREDICATES)), both) if tape.chance(3) else both


def _branch(tape: Tape, predicate: NamedNode) -> Op:
    x, y, z = tape.some(VARS, 3, 3) if tape.chance(4) else VARS
    bgp = ops.Bgp((TriplePattern(x, predicate, tape.pick((y, y, y, y, *TERMS))),))
    missing = [var for var in VARS if var not in (x, y)]
    made: tuple[Op, ...] = (
        bgp,
        ops.Extend(missing[0], Const(tape.pick(NUMBERS)), bgp),
        ops.LeftJoin(None, bgp, ops.Bgp((TriplePattern(x, predicate, z),))),
        ops.Join(ops.Table((z,), ((tape.pick(NUMBERS),), (tape.pick((None, *NUMBERS)),))), bgp),
        ops.Filter(Call("=", (x, Const(tape.pick(IRIS)))), bgp),
        ops.Table((x, y), ((tape.pick(NUMBERS), None),)),
    )
    return tape.pick((*made, *made[:4]))


def _around(tape: Tape, op: Op) -> Op:
    match tape.pick(("", "", "graph", "named", "filter", "project", "window")):
        case "graph":
            return ops.Graph(VARS[2], op)
        case "window":
            return ops.InWindow(VARS[1], op)
        case "named":
            return ops.Graph(GRAPHS[0], op)
        case "filter":
            return ops.Filter(Call("BOUND", (VARS[0],)), op)
        case "project":
            return ops.Project(VARS[:2], op)
    return op


def data(tape: Tape) -> tuple[Graph, dict[NamedNode, Graph]]:
    return _triples(tape), {name: _triples(tape) for name in GRAPHS}


def _triples(tape: Tape) -> Graph:
    subjects = (IRIS[0], *IRIS)
    return frozenset((tape.pick(subjects), tape.pick(PREDICATES), tape.pick(NUMBERS)) for _ in range(tape.count(0, 10)))


@settings(max_examples=1000, deadline=None)
@given(plan=from_tape(plan, 60), data=from_tape(data, 100))
def test_same_answers(plan: Op, data: tuple[Graph, dict[NamedNode, Graph]]) -> None:
    after = pushed(plan)
    assert answers(after, *data) == answers(plan, *data), f"{write(plan)}\n→\n{write(after)}"


def test_many_generated_plans_are_pushed() -> None:
    tapes = (Tape(Random(seed).randbytes(60)) for seed in range(300))
    assert sum(pushed(made) != made for made in map(plan, tapes)) > 60


def test_a_pushed_plan_is_left_as_it_is() -> None:
    for seed in range(200):
        once = pushed(plan(Tape(Random(seed).randbytes(60))))
        assert pushed(once) == once


def test_the_groups_of_the_background_are_kept() -> None:
    made = read("(group (?s) ((?n (count))) (union (bgp (?s :p ?x)) (bgp (?s :q ?x))))")
    kept = optimise(Query(Select(), made), BESIDE, ["push_aggregate", "materialise_static"]).query.pattern
    assert write(kept) == write(
        read(
            "(group (?s) ((?n (sum ?.share0))) (union "
            "(staticview () (group (?s) ((?.share0 (count))) (bgp (?s :p ?x)))) "
            "(group (?s) ((?.share0 (count))) (bgp (?s :q ?x)))))"
        )
    )


# What is known of values


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ("(bgp (?s :p ?k))", Values(None, False)),
        ("(bgp (?s :p ?x))", Values(frozenset(), True)),
        ("(leftjoin (bgp (?s :p ?x)) (bgp (?s :q ?k)))", Values(None, True)),
        ("(extend ((?k :a)) (bgp (?s :p ?x)))", Values(frozenset((IRIS[0],)), False)),
        ("(extend ((?k ?x)) (bgp (?s :p ?x)))", Values(None, False)),
        ("(table (vars ?k) (row (?k :a)) (row))", Values(frozenset((IRIS[0],)), True)),
        ("(filter (in ?k :a :b) (bgp (?k :p ?x)))", Values(frozenset(IRIS), False)),
        ("(filter (sameterm ?k 1) (bgp (?s :p ?k)))", Values(frozenset((Literal(1),)), False)),
        ("(filter (= ?k 1) (bgp (?s :p ?k)))", Values(None, False)),
        ("(filter (|| (= ?k :a) (= ?x 1)) (bgp (?k :p ?x)))", Values(None, False)),
        ("(join (table (vars ?k) (row (?k :a)) (row)) (bgp (?k :p ?x)))", Values(None, False)),
        ("(minus (extend ((?k :a)) (bgp (?s :p ?x))) (bgp (?k :p ?x)))", Values(frozenset((IRIS[0],)), False)),
        ("(graph ?k (table (vars ?k) (row (?k :a)) (row)))", Values(None, False)),
        ("(group (?k) ((?n (count))) (extend ((?k :a)) (bgp (?s :p ?x))))", Values(frozenset((IRIS[0],)), False)),
        ("(group (?s) ((?k (count))) (extend ((?k :a)) (bgp (?s :p ?x))))", Values(None, False)),
        ("(project (?k) (bgp (?s :p ?x)))", Values(frozenset(), True)),
        ("(union (extend ((?k :a)) (bgp (?s :p ?x))) (bgp (?s :q ?x)))", Values(frozenset((IRIS[0],)), True)),
    ],
)
def test_values(pattern: str, expected: Values) -> None:
    assert values(read(pattern), Var("k")) == expected


# Classes

PREFIX = "PREFIX : <http://example.org/> "
ONE = "FROM STREAM :one [RANGE 10m STEP 1m] "
TWO = f"{ONE}FROM STREAM :two [RANGE 10m STEP 1m] "
UNION = "{ { ?s :p ?x } UNION { ?s :q ?x } }"
NAMED = "FROM NAMED WINDOW :w ON :one [RANGE PT10M STEP PT1M] "


@pytest.mark.parametrize(
    ("text", "kind", "why"),
    [
        (f"(SUM(?x) AS ?r) {TWO} {{ GRAPH ?g {{ ?s :p ?x }} }} GROUP BY ?s ?g", "totally", "?g names the stream"),
        (f"(SUM(?x) AS ?r) {TWO} {{ GRAPH ?g {{ ?s :p ?x }} FILTER (?x > 1) }} GROUP BY ?g", "totally", "?g names"),
        (f"(SUM(?x) AS ?r) {ONE} {{ ?s :p ?x }} GROUP BY ?s", "totally", "the stream <http://example.org/one>"),
        (
            f"(COUNT(DISTINCT ?x) AS ?r) {TWO} {{ {{ ?s :p ?x BIND(:a AS ?k) }} UNION {{ ?s :q ?x BIND(:b AS ?k) }} }} "
            "GROUP BY ?k",
            "totally",
            "?k differs between the branches",
        ),
        (f"(SUM(?x) AS ?r) {TWO} {{ GRAPH ?g {{ ?s :p ?x }} }} GROUP BY ?s", "partially", "several streams; the sums"),
        (f"(AVG(?x) AS ?r) {TWO} {{ ?s :p ?x }} GROUP BY ?s", "partially", "divided at the end"),
        (f"(MIN(DISTINCT ?x) AS ?r) {TWO} {UNION} GROUP BY ?s", "partially", "several branches of UNION; the least"),
        (
            f"(COUNT(*) AS ?r) {NAMED} {{ WINDOW :w {{ ?s :p ?x }} ?s :in ?k }} GROUP BY ?k",
            "partially",
            "several panes",
        ),
        (f"(COUNT(DISTINCT ?x) AS ?r) {TWO} {{ ?s :p ?x }} GROUP BY ?s", "not", "the same value in two parts"),
        (f"(GROUP_CONCAT(?x) AS ?r) {TWO} {UNION} GROUP BY ?s", "not", "its order"),
        (f"(COUNT(?y) AS ?r) {TWO} {{ {{ ?s :p ?x }} UNION {{ ?s :q ?y }} }} GROUP BY ?s", "not", "its argument"),
        (f"(COUNT(DISTINCT ?x) AS ?r) {UNION} GROUP BY ?s", "not", "several branches"),
        ("(COUNT(DISTINCT ?x) AS ?r) { ?s :p ?x } GROUP BY ?s", "not", "reads no stream"),
    ],
)
def test_classes(text: str, kind: str, why: str) -> None:
    query = translate(f"{PREFIX}SELECT {text}")
    [found] = classify(query.pattern, query.streams)
    assert found.kind.value == kind
    assert why in found.why


def test_each_aggregate_has_its_class_also_inside_exists() -> None:
    inner = "EXISTS { SELECT ?s (COUNT(?y) AS ?m) { ?s :q ?y } GROUP BY ?s }"
    text = f"SELECT ?s (AVG(?x) AS ?a) (COUNT(DISTINCT ?x) AS ?n) {TWO} {{ ?s :p ?x FILTER {inner} }} GROUP BY ?s"
    query = translate(PREFIX + text)
    found = {(each.aggregate.name, each.kind.value) for each in classify(query.pattern, query.streams)}
    assert found == {("AVG", "partially"), ("COUNT", "not"), ("COUNT", "partially")}


def test_classes_of_csparql() -> None:
    """The paper's SellerMarketMovementsPerDay."""
    query = translate(
        f"{PREFIX}SELECT DISTINCT ?seller ?market ?tot {TWO} "
        "WHERE { GRAPH ?market { ?t :seller ?seller . ?t :with ?amount } } "
        "AGGREGATE { (?tot, SUM(?amount), {?seller, ?market}) }"
    )
    [found] = classify(query.pattern, query.streams)
    assert (found.var, found.kind.value) == (Var("tot"), "totally")
    plan = optimise(query, BESIDE, ["group_annotated", "push_aggregate"]).query.pattern
    assert write(plan) == write(
        read(
            "(project (?seller ?market ?tot) (graph ?market "
            "(group (?seller) ((?tot (sum ?amount))) (bgp (?t :seller ?seller) (?t :with ?amount)))))"
        )
    )
