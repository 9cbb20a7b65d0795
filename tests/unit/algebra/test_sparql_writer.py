"""Expressions of the algebra as SPARQL: the text means the expression that it was written from."""

from __future__ import annotations

import pytest

from penstock.algebra import ops
from penstock.algebra.build import translate
from penstock.algebra.expressions import Expr, Occurrence, Var
from penstock.algebra.sparql_writer import SparqlWriter
from penstock.algebra.sse import read_expression

X = Var("x")


@pytest.mark.parametrize(
    ("expression", "text"),
    [
        ("(&& (! (bound ?x)) (< (+ ?x 1) (* 2 ?y)))", None),
        ("(! (! ?x))", "!(!?x)"),
        ("(negate (negate ?x))", "-(-?x)"),
        ("(! (in ?x 1 2))", None),
        ("(= (in ?x 1 2) true)", None),
        ("(- ?a (- ?b ?c))", "?a - (?b - ?c)"),
        ("(|| (&& ?a ?b) ?c)", "(?a && ?b) || ?c"),
        ("(notin (+ ?x 1) 1 2)", None),
        ("(<http://www.w3.org/2001/XMLSchema#integer> ?x)", "<http://www.w3.org/2001/XMLSchema#integer>(?x)"),
    ],
)
def test_the_text_is_read_as_the_same_expression(expression: str, text: str | None) -> None:
    expr = read_expression(expression)
    written = SparqlWriter().expression(expr)
    assert text is None or written == text
    assert filtered_by(written) == expr


def filtered_by(text: str) -> Expr:
    pattern = translate(f"SELECT * {{ ?x ?p ?y . ?a ?b ?c FILTER ({text}) }}").pattern
    assert isinstance(pattern, ops.Project)
    assert isinstance(pattern.pattern, ops.Filter)
    return pattern.pattern.condition


def test_variables_and_occurrences_are_called_as_the_names_say() -> None:
    writer = SparqlWriter({X: "v0", Occurrence("end"): "v1"})
    assert writer.term(X) == "?v0"
    assert writer.expression(Occurrence("end")) == "?v1"
    assert writer.expression(Occurrence("start")) == "getSTARTTIME()"
    assert writer.triple(ops.TriplePattern(X, Var("p"), Var("y"))) == "?v0 ?p ?y"
