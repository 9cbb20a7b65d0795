"""Recursion over plans and expressions: nothing inside an operator or an expression is left out."""

from __future__ import annotations

import pytest

from penstock.algebra import ops, sse
from penstock.algebra.expressions import Aggregate, Call, Exists, Expr, Var, walk
from penstock.algebra.ops import Op
from penstock.algebra.scope import exists_in, expressions_of, map_expressions, references
from penstock.compile.expressions.expressions import asks_now, needs_row
from penstock.optimise.walk import map_exists

EXISTS = "(exists (bgp (?x :q ?y)))"
PLANS = [
    f"(filter {EXISTS} (bgp (?x :p ?z)))",
    f"(leftjoin (bgp (?x :p ?z)) (bgp (?x :r ?v)) {EXISTS})",
    f"(optionalseq (bgp (?x :p ?z)) (bgp (?x :r ?v)) {EXISTS})",
    f"(equalsoptional (bgp (?x :p ?z)) (bgp (?x :r ?v)) {EXISTS})",
    f"(extend ((?e {EXISTS})) (bgp (?x :p ?z)))",
    f"(order ((desc {EXISTS})) (bgp (?x :p ?z)))",
    f"(group (?x) ((?n (sum {EXISTS}))) (bgp (?x :p ?z)))",
    f"(annotate (?n (sum (if {EXISTS} 1 0))) (?x) (bgp (?x :p ?z)))",
]


@pytest.mark.parametrize("plan", PLANS)
def test_the_pattern_of_an_exists_is_rewritten_wherever_it_stands(plan: str) -> None:
    changed = map_exists(sse.read(plan), lambda pattern: ops.Distinct(pattern))
    assert changed == sse.read(plan.replace("(bgp (?x :q ?y))", "(distinct (bgp (?x :q ?y)))"))


@pytest.mark.parametrize("plan", PLANS)
def test_every_expression_of_an_operator_can_be_changed(plan: str) -> None:
    changed = map_expressions(sse.read(plan), _marked)
    assert expressions_of(changed) == tuple(map(_marked, expressions_of(sse.read(plan))))


def _marked(expr: Expr) -> Expr:
    match expr:
        case Aggregate(name, argument):
            return Aggregate(name, argument, True)
    return Call("!", (expr,))


@pytest.mark.parametrize("plan", PLANS)
def test_an_operator_stays_itself_if_no_pattern_changes(plan: str) -> None:
    op: Op = sse.read(plan)
    assert map_exists(op, lambda pattern: pattern) is op


def test_a_walk_goes_root_first_from_left_to_right_and_not_into_patterns() -> None:
    exists = Exists(ops.Bgp((ops.TriplePattern(Var("s"), Var("p"), Var("o")),)))
    inner = Call("+", (Var("x"), Var("y")))
    total = Aggregate("SUM", inner)
    expr = Call("&&", (exists, Call("<", (total, Var("z")))))
    assert list(walk(expr)) == [expr, exists, expr.args[1], total, inner, Var("x"), Var("y"), Var("z")]
    assert exists_in(expr) == (exists,)
    assert references(expr) == {Var(name) for name in "spoxyz"}


def test_children_that_do_not_change_leave_the_expression_itself() -> None:
    expr = Call("+", (Var("x"), Var("y")))
    assert expr.map_children(lambda child: child) is expr
    assert expr.map_children(lambda child: Var("v")) == Call("+", (Var("v"), Var("v")))
    assert Aggregate("COUNT", None).map_children(lambda child: Var("v")) == Aggregate("COUNT", None)
    assert Aggregate("MAX", Var("x"), True).map_children(lambda child: Var("v")) == Aggregate("MAX", Var("v"), True)


@pytest.mark.parametrize(("text", "now", "row"), [("(max (now))", True, False), ("(max (bnode ?x))", False, True)])
def test_calls_inside_an_aggregate_are_found(text: str, now: bool, row: bool) -> None:
    expr = sse.read_expression(text)
    assert (asks_now(expr), needs_row(expr)) == (now, row)
