"""Generated plans on Spark against the algebra's definitions, read literally by `tests/support/reference.py`.

This goes where pyoxigraph cannot be asked: what stands inside EXISTS (OPTIONAL, MINUS, aggregates, LIMIT, other EXISTS)
and inside `GRAPH ?g`. `PENSTOCK_ORACLE_EXAMPLES` asks for more and new examples here, too.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import fields, is_dataclass, replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyoxigraph import Literal, NamedNode

from penstock.algebra import ops
from penstock.algebra.expressions import Aggregate, Call, Const, Exists, Expr, Var
from penstock.algebra.ops import Op
from penstock.algebra.scope import visible
from penstock.algebra.sse import read, write
from penstock.spark.store.store import SparkStore
from tests.support import plans, reference
from tests.support.quads import quad_of
from tests.support.sampling import sampled
from tests.support.tape import Tape

GRAPH = Var("g")
Graphs = tuple[plans.Triples, dict[NamedNode, plans.Triples]]


def plan(tape: Tape) -> Op:
    kinds = (_filtered, _filtered, _optional, _extended, _in_graph, _in_graph, _ordered, _nested, _anything)
    return tape.pick(kinds)(tape)


def _anything(tape: Tape) -> Op:
    return plans.plan(tape, 3)


def _outer(tape: Tape) -> Op:
    """Solutions some of which leave a variable open."""
    first = plans.plan(tape, 0)
    kind = tape.pick(("alone", "alone", "optional", "join", "union"))
    if kind == "alone":
        return first
    makers = {"optional": lambda a, b: ops.LeftJoin(None, a, b), "join": ops.Join, "union": ops.Union}
    return makers[kind](first, plans.plan(tape, 0))


def _inner(tape: Tape) -> Op:
    return tape.pick((*plans._EACH, _how_many))(tape, 1)


def _how_many(tape: Tape, depth: int) -> Op:
    """Which solutions a LIMIT leaves is not determined, but their number is."""
    some = ops.Slice(tape.count(0, 1), tape.pick((1, 2, 3)), plans.plan(tape, depth))
    return ops.Group((), ((tape.pick((Var("n"), *plans.VARS)), Aggregate("COUNT", None)),), some)


def _test(tape: Tape) -> Expr:
    exists = Exists(_inner(tape))
    match tape.pick(("alone", "not", "or", "and", "two")):
        case "not":
            return Call("!", (exists,))
        case "or":
            return Call("||", (exists, plans.expression(tape, 1)))
        case "and":
            return Call("&&", (plans.expression(tape, 1), Call("!", (exists,))))
        case "two":
            return Call("=", (exists, Exists(_inner(tape))))
    return exists


def _filtered(tape: Tape) -> Op:
    return ops.Filter(_test(tape), _outer(tape))


def _optional(tape: Tape) -> Op:
    return ops.LeftJoin(_test(tape), _outer(tape), _outer(tape))


def _extended(tape: Tape) -> Op:
    return ops.Extend(Var("e"), _test(tape), _outer(tape))


def _ordered(tape: Tape) -> Op:
    return ops.OrderBy((ops.OrderKey(_test(tape), False),), _outer(tape))


def _in_graph(tape: Tape) -> Op:
    return ops.Graph(tape.pick((GRAPH, *plans.VARS)), tape.pick((_filtered, _optional, _extended, _inner))(tape))


def _nested(tape: Tape) -> Op:
    return ops.Filter(Exists(tape.pick((_filtered, _optional, _in_graph))(tape)), _outer(tape))


def for_spark(node: Any) -> Any:
    """The plan without what the reference does its own way: `=` there compares terms, and `<` knows integers only.

    Aggregates get names of their own first and then those of variables, as in the plan of every query.
    """
    if isinstance(node, tuple):
        return tuple(map(for_spark, node))
    if not is_dataclass(node) or isinstance(node, Var):
        return node
    node = replace(node, **{f.name: for_spark(getattr(node, f.name)) for f in fields(node)})  # type: ignore[type-var]
    match node:
        case Call("=", args):
            return Call("SAMETERM", args)
        case Call("!=", args):
            return Call("!", (Call("SAMETERM", args),))
        case Call("<", args):
            return Call("<", tuple(Call("+", (arg, _ZERO)) for arg in args))
        case ops.Group(keys, aggregates, _):
            own = tuple(Var(f".a{i}") for i in range(len(aggregates)))
            grouped: Op = replace(node, aggregates=tuple(zip(own, (a for _, a in aggregates), strict=True)))
            for (var, _), name in zip(aggregates, own, strict=True):
                grouped = ops.Extend(var, name, grouped)
            return ops.Project((*keys, *(var for var, _ in aggregates)), grouped)
    return node


_ZERO = Const(Literal(0))


@given(plan=plans.from_tape(plan), data=st.binary(min_size=60, max_size=60).map(Tape).map(plans.dataset))
@sampled(50)
def test_generated_plans(plan: Op, data: Graphs, spark: Any) -> None:
    check(plan, data, spark)


AGGREGATE_OF_AN_OUTER_VARIABLE = """(graph ?g (filter
    (exists (annotate (?x (count)) () (leftjoin (bgp) (table (vars) (row) (row)) (bound ?x))))
    (bgp (?x <http://example.org/p> ?x))))"""


@pytest.mark.parametrize("text", [AGGREGATE_OF_AN_OUTER_VARIABLE])
def test_kept_plans(text: str, spark: Any) -> None:
    """Plans that a generated test has found."""
    check(read(text), plans.dataset(Tape(bytes(60))), spark)


def check(plan: Op, data: Graphs, spark: Any) -> None:
    """Fail unless the compiler and the reference have the same answers."""
    default, named = data
    expected = reference.answers(plan, default, named)
    store = SparkStore(spark=spark)
    quads = [quad_of(t, graph) for graph, triples in named.items() for t in triples]
    store.load([quad_of(t) for t in default] + quads)
    variables = tuple(sorted(visible(plan)))
    answer = store.answer(ops.Query(ops.Select(), for_spark(plan), variables), "")
    store.close()
    actual = Counter(frozenset((Var(name), term) for name, term in row.items()) for row in answer.rows)
    assert actual == expected, f"{write(plan)}\n{default}\n{named}"
