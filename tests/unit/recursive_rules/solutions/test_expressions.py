"""Expressions of rules: what is computed quickly is what the engine computes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyoxigraph import BlankNode, Literal, NamedNode

from penstock.algebra.build import translate
from penstock.algebra.expressions import Call, Const, Expr, Occurrence, Term, Var
from penstock.algebra.ops import Extend
from penstock.model.term_encoding import XSD, decode, encode
from penstock.optimise.walk import nodes
from penstock.recursive_rules.solutions.expressions import Expression
from penstock.recursive_rules.solutions.rows import Row
from tests.support.unordered_moments import UNORDERED

A, B = Var("a"), Var("b")
LAYOUT = (A, B)


def typed(value: str, datatype: str) -> Literal:
    return Literal(value, datatype=NamedNode(XSD + datatype))


def slowly(expr: Expr, row: Row) -> tuple[str | None, bool]:
    expression = Expression(expr, LAYOUT)
    expression._quick = None
    return expression.values([row])[0], expression.holds([row])[0]


integers = st.integers(-(10**18), 10**18).map(lambda n: typed(str(n), "integer"))
numbers = st.sampled_from((1, 3, 12)).flatmap(lambda places: st.decimals(-(10**6), 10**6, places=places))
decimals = numbers.map(lambda number: typed(f"{number:f}", "decimal"))
others: st.SearchStrategy[Term] = st.sampled_from([
    typed("1.5", "double"), typed("7", "int"), typed("x", "integer"), Literal("7"), Literal("x", language="en"),
    NamedNode("http://e/a"), NamedNode("http://e/b"), Literal(True), typed("P1D", "duration"), typed("007", "integer"),
])  # fmt: skip
terms: st.SearchStrategy[Term] = st.one_of(integers, decimals, others)
names = st.sampled_from(["+", "-", "*", "<", "<=", ">", ">=", "=", "!=", "&&", "||"])
leaves = st.one_of(st.sampled_from([A, A, B, B, Occurrence("duration"), Call("BOUND", (B,))]), terms.map(Const))
expressions = st.recursive(
    leaves,
    lambda inner: st.one_of(
        st.builds(lambda name, a, b: Call(name, (a, b)), names, inner, inner), inner.map(lambda a: Call("!", (a,)))
    ),
    max_leaves=4,
)
bound = st.one_of(st.none(), terms.map(encode))
rows = st.tuples(st.just(0), st.sampled_from([0, 86_400_000_000, 86_400_000_001]), bound, bound)


@settings(max_examples=400, deadline=None)
@given(expr=expressions, row=rows | st.just((None, None, None, None)))
def test_quick_answers_are_those_of_the_engine(expr: Expr, row: Row) -> None:
    expression = Expression(expr, LAYOUT)
    value, truth = slowly(expr, row)
    assert expression.holds([row]) == [truth]
    (found,) = expression.values([row])
    same = found is None or value is None or expr in (A, B) or isinstance(expr, Const)
    assert (found is None) == (value is None)
    assert same or found == value


@pytest.mark.parametrize(
    ("expr", "row", "expected"),
    [
        (Call("/", (A, B)), (0, 0, encode(Literal(7)), encode(Literal(2))), typed("3.5", "decimal")),
        (Call("STRLEN", (A,)), (0, 0, '"a"b"', None), Literal(3)),
        (Call("CONCAT", (A, B)), (0, 0, '"a\n"', '"\\"'), Literal("a\n\\")),
        (Call("COALESCE", (B, A)), (0, 0, '"a"@en', None), Literal("a", language="en")),
        (Call("IF", (Call("ISBLANK", (A,)), A, B)), (0, 0, "_:x", '"b"'), BlankNode("x")),
        (Call("ISBLANK", (A,)), (0, 0, "_:x", None), Literal(True)),
        (Call("=", (A, B)), (0, 0, "_:x", "_:y"), Literal(False)),
        (Call("IN", (A, B, Const(Literal(5)))), (0, 0, encode(Literal(5)), None), Literal(True)),
        (Call("NEGATE", (A,)), (0, 0, encode(Literal(5)), None), Literal(-5)),
        (Call(XSD + "integer", (A,)), (0, 0, '"12"', None), Literal(12)),
        (Call("YEAR", (Occurrence("start"),)), (0, 5, None, None), Literal(1970)),
        (Occurrence("end"), (0, 1_500_000, None, None), typed("1970-01-01T00:00:01.5Z", "dateTime")),
        (Occurrence("duration"), (0, 90_061_000_000, None, None), typed("P1DT1H1M1S", "duration")),
        (Occurrence("start"), (None, None, None, None), None),
        (Call("<", (Occurrence("duration"), Const(typed("P1M", "duration")))), (0, 1, None, None), Literal(True)),
    ],
)  # fmt: skip
def test_values(expr: Expr, row: Row, expected: Term | None) -> None:
    (found,) = Expression(expr, LAYOUT).values([row])
    assert (None if found is None else decode(found)) == expected


def test_digits_that_would_be_lost_are_left_to_the_engine() -> None:
    row = (0, 0, encode(typed("0.0000000000015", "decimal")), encode(typed("0.0000000001", "decimal")))
    product = Call("*", (A, B))
    assert Expression(product, LAYOUT).values([row]) == [slowly(product, row)[0]]


def test_a_term_that_only_passes_is_not_touched() -> None:
    """The engine would make 7 of 007."""
    term = encode(typed("007", "integer"))
    assert Expression(A, LAYOUT).values([(0, 0, term, None)]) == [term]


def test_distinct_operands_of_many_rows_are_evaluated_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    expression = Expression(Call("STRLEN", (A,)), LAYOUT)
    asked: list[int] = []
    ask = expression._query

    def counted(operands: Sequence[Any], text: str) -> Any:
        asked.append(len(operands))
        return ask(operands, text)

    monkeypatch.setattr(expression, "_query", counted)
    rows = [(0, 0, f'"{"x" * (n % 10)}"', None) for n in range(100)]
    assert expression.values(rows) == [encode(Literal(n % 10)) for n in range(100)]
    assert expression.values(rows[:5]) == [encode(Literal(n)) for n in range(5)]
    assert asked == [10]


@pytest.mark.parametrize("case", UNORDERED)
def test_moments_without_an_order_are_neither_equal_nor_unequal(case: str) -> None:
    query = translate(f"PREFIX xsd: <{XSD}> SELECT ({case} AS ?r) {{}}")
    (extend,) = [op for op in nodes(query.pattern) if isinstance(op, Extend)]
    (value,) = Expression(extend.expression, LAYOUT).values([(0, 0, None, None)])
    assert (None if value is None else value.split('"')[1]) == UNORDERED[case]


@pytest.mark.parametrize("name", ["=", "!=", "IN", "NOT IN"])
@pytest.mark.parametrize("term", ["<http://e/a>", '"abc"', f'"abc"^^<{XSD}date>', f'"5"^^<{XSD}integer>', "_:b"])
def test_other_terms_are_compared_as_before(name: str, term: str) -> None:
    """Also terms that have no datatype, or no value."""
    equal, expected = Expression(Call(name, (A, B)), LAYOUT), name in ("=", "IN")
    assert equal.values([(0, 0, term, term)]) == [encode(Literal(expected))]
