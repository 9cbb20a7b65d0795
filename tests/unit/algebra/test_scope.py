"""Which variables are visible, certain, referenced and free, operator by operator."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from pyoxigraph import NamedNode

from penstock.algebra.expressions import Var
from penstock.algebra.ops import Op
from penstock.algebra.scope import certain, conjuncts, exists_in, free, references, visible
from penstock.algebra.sse import read, read_expression
from tests.support.event_plans import plan as event_plan
from tests.support.event_plans import world
from tests.support.event_reference import World, rows
from tests.support.plans import Triples, dataset, from_tape, whole_plan
from tests.support.reference import answers


def names(vars: frozenset[Var]) -> str:
    return " ".join(sorted(var.name for var in vars))


SCOPES = [
    # plan, visible, certain
    ("(bgp (?s :p ?o) (?o ?q 1))", "o q s", "o q s"),
    ("(path ?s (path+ :p) ?o)", "o s", "o s"),
    ("(join (bgp (?x :p 1)) (table (vars ?y) (row)))", "x y", "x"),
    ("(leftjoin (bgp (?x :p 1)) (bgp (?x :q ?y)))", "x y", "x"),
    ("(seq (bgp (?x :p ?y)) (bgp (?x :q ?z)))", "x y z", "x y z"),
    ("(equals (bgp (?x :p ?y)) (bgp (?x :q ?z)))", "x y z", "x y z"),
    ("(optionalseq (bgp (?x :p ?y)) (bgp (?x :q ?z)))", "x y z", "x z"),
    ("(equalsoptional (bgp (?x :p ?y)) (bgp (?x :q ?z)))", "x y z", "x y"),
    ("(union (bgp (?x :p ?y)) (bgp (?x :q ?z)))", "x y z", "x"),
    ("(minus (bgp (?x :p 1)) (bgp (?x :q ?y)))", "x", "x"),
    ("(filter (bound ?y) (leftjoin (bgp (?x :p 1)) (bgp (?x :q ?y))))", "x y", "x y"),
    ("(filter (|| (bound ?y) true) (leftjoin (bgp (?x :p 1)) (bgp (?x :q ?y))))", "x y", "x"),
    ("(filter (bound ?z) (bgp (?x :p 1)))", "x", "x"),
    ("(extend ((?y 1)) (bgp (?x :p 1)))", "x y", "x y"),
    ("(extend ((?y ?x)) (bgp (?x :p 1)))", "x y", "x y"),
    ("(extend ((?y ?z)) (bgp (?x :p 1)))", "x y", "x"),
    ("(extend ((?y (+ ?x 1))) (bgp (?x :p 1)))", "x y", "x"),
    ("(table (vars ?x ?y) (row (?x 1)) (row (?x 2) (?y 3)))", "x y", "x"),
    ("(table (vars ?x))", "x", "x"),
    ("(graph ?g (bgp (?x :p 1)))", "g x", "g x"),
    ("(graph :g (bgp (?x :p 1)))", "x", "x"),
    ("(group (?x ?n) ((?c (count ?y)) (?s (sum ?y))) (bgp (?x :p ?y)))", "c n s x", "c x"),
    ("(project (?x ?n) (bgp (?x :p ?y)))", "n x", "x"),
    ("(slice 0 1 (order (?x) (distinct (reduced (bgp (?x :p ?y))))))", "x y", "x y"),
]


@pytest.mark.parametrize(("plan", "may", "must"), SCOPES)
def test_visible_and_certain(plan: str, may: str, must: str) -> None:
    assert (names(visible(read(plan))), names(certain(read(plan)))) == (may, must)


@settings(max_examples=200, deadline=None)
@given(plan=from_tape(whole_plan), data=from_tape(dataset, 40))
def test_solutions_bind_certain_variables_and_only_visible_ones(
    plan: Op, data: tuple[Triples, dict[NamedNode, Triples]]
) -> None:
    for solution in answers(plan, *data):
        assert certain(plan) <= {var for var, _ in solution} <= visible(plan)


@settings(max_examples=200, deadline=None)
@given(plan=from_tape(event_plan), given_=from_tape(world, 60))
def test_so_do_solutions_with_intervals(plan: Op, given_: World) -> None:
    for row in rows(plan, given_):
        assert certain(plan) <= row.solution.keys() <= visible(plan)


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("(+ ?x (coalesce ?y 1))", "x y"),
        ("(sum ?x)", "x"),
        ("(count)", ""),
        ("(exists (project (?x) (filter (< ?z 1) (bgp (?x :p ?y)))))", "x y z"),
        ("(exists (filter (exists (bgp (?v :p 1))) (bgp (?x :p 1))))", "v x"),
    ],
)
def test_references_are_all_variables_of_an_expression(expression: str, expected: str) -> None:
    assert names(references(read_expression(expression))) == expected


FREE = [
    ("(filter (< ?x ?z) (bgp (?x :p ?y)))", "z"),
    ("(leftjoin (bgp (?x :p 1)) (bgp (?y :p 1)) (&& (< ?x ?y) ?z))", "z"),
    ("(join (filter ?y (bgp (?x :p 1))) (bgp (?y :p 1)))", "y"),
    ("(extend ((?y ?z)) (bgp (?x :p 1)))", "z"),
    ("(order ((desc ?z) ?x) (bgp (?x :p 1)))", "z"),
    ("(group (?k) ((?c (count ?z))) (bgp (?x :p 1)))", "z"),
    ("(filter (exists (bgp (?x :p ?y))) (bgp (?x :p 1)))", "y"),
    ("(filter (exists (project (?x) (bgp (?x :p ?y)))) (bgp (?x :p 1)))", ""),
    ("(filter (exists (filter (< ?z ?x) (bgp (?x :p 1)))) (bgp (?x :p ?z)))", ""),
]


@pytest.mark.parametrize(("plan", "expected"), FREE)
def test_free_variables_are_read_where_they_are_not_visible(plan: str, expected: str) -> None:
    assert names(free(read(plan))) == expected


def test_exists_in_does_not_look_inside_another() -> None:
    expression = read_expression("(&& (exists (filter (exists (bgp (?y :p 1))) (bgp (?x :p 1)))) (! (exists (bgp))))")
    assert [names(visible(found.pattern)) for found in exists_in(expression)] == ["x", ""]


def test_conjuncts_are_those_at_the_top() -> None:
    expression = read_expression("(&& (&& ?a (|| ?b ?c)) (! (&& ?d ?e)))")
    assert conjuncts(expression) == tuple(map(read_expression, ("?a", "(|| ?b ?c)", "(! (&& ?d ?e))")))
