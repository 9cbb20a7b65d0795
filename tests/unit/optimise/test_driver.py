"""The driver: choice of rules, trace, fixpoint, and what it refuses."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from pyoxigraph import Literal

from penstock.algebra import ops
from penstock.algebra.expressions import Call, Const, Var
from penstock.algebra.ops import Op, Query, Select, TriplePattern
from penstock.algebra.sse import read, write
from penstock.optimise import ALL_RULES, PredicateCounts, RuleError, Uniform, optimise
from penstock.optimise.cost import estimate, joined, of_pattern
from penstock.optimise.rule import Direction, Rule, plain

PLAN = "(project (?s) (filter (< ?x 5) (join (bgp (?s :p ?x)) (join (table unit) (bgp (?s :q ?y))))))"


def query(plan: str) -> Query:
    return Query(Select(), read(plan))


def by(rewrite: Callable[[Op], Op], plan: str, direction: Direction = Direction.UP) -> Query:
    """The query after this rule alone."""
    return optimise(query(plan), Uniform(), known=(Rule("broken", direction, plain(rewrite)),)).query


def test_all_rules_leave_a_trace_of_what_each_did() -> None:
    optimised = optimise(query(PLAN), Uniform())
    assert [step.rule for step in optimised.trace] == ["fold_trivial", "merge_joined_patterns"]
    assert optimised.trace[0].before == read(PLAN)
    assert optimised.trace[-1].after == optimised.query.pattern
    assert write(optimised.query.pattern) == "(project (?s) (filter (< ?x 5) (bgp (?s :p ?x) (?s :q ?y))))"


def test_only_the_named_rules_run() -> None:
    optimised = optimise(query(PLAN), Uniform(), {"push_filter"})
    assert write(optimised.query.pattern) == (
        "(project (?s) (join (filter (< ?x 5) (bgp (?s :p ?x))) (join (table unit) (bgp (?s :q ?y)))))"
    )


def test_no_rules_leave_the_query_as_it_is() -> None:
    optimised = optimise(query(PLAN), Uniform(), ())
    assert (optimised.query, optimised.trace) == (query(PLAN), ())


def test_the_rest_of_the_query_is_kept() -> None:
    given = Query(ops.Ask(), read(PLAN), (), ops.Dataset((), ()), "http://example.org/")
    optimised = optimise(given, Uniform()).query
    assert (optimised.form, optimised.dataset, optimised.base) == (given.form, given.dataset, given.base)


def test_unknown_rules_are_named_with_the_known_ones() -> None:
    with pytest.raises(ValueError, match=r"unknown rules: push_flter; there are broadcast_join, .*push_filter"):
        optimise(query(PLAN), Uniform(), ["push_flter"])


def test_names_of_rules_are_unique() -> None:
    assert len({rule.name for rule in ALL_RULES}) == len(ALL_RULES)


def test_a_rule_is_applied_until_a_fixpoint() -> None:
    def peel(op: Op) -> Op:
        return op.pattern if isinstance(op, ops.Distinct) else op

    assert by(peel, "(distinct (distinct (distinct (distinct (bgp)))))", Direction.DOWN) == query("(bgp)")


def test_a_rule_that_never_rests_is_stopped_and_logged(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO", "penstock")
    plan = "(join (bgp (?x :p 1)) (bgp (?y :p 1)))"
    turned = by(lambda op: ops.Join(op.right, op.left) if isinstance(op, ops.Join) else op, plan)
    assert turned == query(plan)  # after an even number of passes
    assert caplog.messages == [
        "a query: broken is not used: it still changes the plan after 10 passes, and was stopped"
    ]


def test_rules_reach_patterns_of_exists_anywhere() -> None:
    exists = "(exists (distinct (bgp (?s :p 1))))"
    inner = f"(extend ((?e (&& ?s (exists (filter {exists} (bgp)))))) (leftjoin (bgp (?s :p 1)) (bgp) {exists}))"
    plan = f"(order ((asc {exists})) (group (?s) ((?n (sum {exists}))) {inner}))"
    found = by(lambda op: op.pattern if isinstance(op, ops.Distinct) else op, plan)
    assert "distinct" not in write(found.pattern)


def _drop_project(op: Op) -> Op:
    return op.pattern if isinstance(op, ops.Project) else op


def _hide_all_but_s(op: Op) -> Op:
    return ops.Project((Var("s"),), op) if isinstance(op, ops.Bgp) else op


def _bind_again(op: Op) -> Op:
    return ops.Extend(Var("s"), Const(Literal(1)), op) if isinstance(op, ops.Bgp) else op


@pytest.mark.parametrize(
    ("rewrite", "plan", "message"),
    [
        (_drop_project, "(project (?s) (bgp (?s :p ?x)))", r"rule broken changed which variables are visible: \?x"),
        (_hide_all_but_s, "(project (?s) (filter ?x (bgp (?s :p ?x))))", r"rule broken left .* not visible: \?x"),
        (_bind_again, "(bgp (?s :p 1))", r"rule broken bound variables that were bound already: \?s"),
    ],
)
def test_a_rule_that_breaks_scope_is_named(rewrite: Callable[[Op], Op], plan: str, message: str) -> None:
    with pytest.raises(RuleError, match=message):
        by(rewrite, plan, Direction.ROOT if rewrite is _bind_again else Direction.UP)


@pytest.mark.parametrize("function", ["RAND", "UUID", "STRUUID", "BNODE"])
def test_volatile_conditions_stay_where_they_are(function: str) -> None:
    plan = ops.Filter(Call("=", (Call(function, ()), Var("x"))), read("(union (bgp (?x :p 1)) (bgp (?x :q 1)))"))
    assert optimise(Query(Select(), plan), Uniform(), {"push_filter"}).trace == ()


COUNTS = PredicateCounts(
    1000.0, {"http://example.org/p": (100.0, 50.0, 10.0), "http://example.org/q": (900.0, 90.0, 3.0)}
)


@pytest.mark.parametrize(
    ("triple", "rows"),
    [
        ("(?s :p ?o)", 100.0),
        ("(:a :p ?o)", 2.0),
        ("(?s :p 1)", 10.0),
        ("(?s :p ?s)", 2.0),
        ("(?s ?p ?o)", 1000.0),
        ("(?s :unknown ?o)", 0.0),
    ],
)
def test_counts_of_a_pattern(triple: str, rows: float) -> None:
    assert COUNTS.count(_pattern(triple)) == pytest.approx(rows)


def _pattern(triple: str) -> TriplePattern:
    plan = read(f"(bgp {triple})")
    assert isinstance(plan, ops.Bgp)
    return plan.patterns[0]


def test_a_join_divides_by_the_larger_number_of_distinct_terms() -> None:
    both = joined(of_pattern(_pattern("(?s :p ?o)"), COUNTS), of_pattern(_pattern("(?s :q ?x)"), COUNTS))
    assert both.rows == pytest.approx(100 * 900 / 90)
    assert both.distinct[Var("s")] == 50.0


def test_a_variable_that_may_be_unbound_does_not_count_as_joining() -> None:
    plan = read("(join (bgp (?s :p ?o)) (table (vars ?s) (row (?s :a)) (row)))")
    assert estimate(plan, COUNTS).rows == pytest.approx(200.0)
