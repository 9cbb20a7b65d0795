"""Hyphens in variables, and words that stay usable as names."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyoxigraph import NamedNode

from penstock.algebra import ops
from penstock.algebra.build import translate
from penstock.algebra.expressions import Var
from penstock.algebra.sse import read_expression, write
from penstock.syntax.functions import BUILTINS
from penstock.syntax.lexer import SparqlLexer
from penstock.syntax.parser import parser

PREFIX = "PREFIX : <http://example.org/> PREFIX xsd: <http://www.w3.org/2001/XMLSchema#> PREFIX x-y: <http://x/> "
DOUBLE = "<http://www.w3.org/2001/XMLSchema#double>"


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("?total-sensor > 5", "(> ?total-sensor 5)"),
        ("?a-b-c", "?a-b-c"),
        ("?x-y1_z+?w", "(+ ?x-y1_z ?w)"),
        ("$x-y", "?x-y"),
        ("?x-true1", "?x-true1"),
        ("?a-?b", "(- ?a ?b)"),
        ("?a-1", "(+ ?a -1)"),
        ("?a -1", "(+ ?a -1)"),
        ("?a - 1", "(- ?a 1)"),
        ("?a-b-1", "(+ ?a-b -1)"),
        ("?a-b-?c-d", "(- ?a-b ?c-d)"),
        ("?x - y:z", None),
        ("?x-STRLEN(?y)", "(- ?x (strlen ?y))"),
        ("?x-strlen (?y)", "(- ?x (strlen ?y))"),
        ("?x-strlen # of\n (?y)", "(- ?x (strlen ?y))"),
        ("?x-a-strlen(?y)", "(- ?x-a (strlen ?y))"),
        ("?x-timestamp(?y)", "(- ?x (timestamp ?y))"),
        ("?x-xsd:double(?y)", f"(- ?x ({DOUBLE} ?y))"),
        ("?x-x-y:z", "(- ?x <http://x/z>)"),
        ("?x-true", "(- ?x true)"),
        ("?x-FALSE || true", "(|| (- ?x false) true)"),
        ("?x-EXISTS {}", "(- ?x (exists (bgp)))"),
        ("?x-not exists{}", "(- ?x (! (exists (bgp))))"),
    ],
)
def test_a_hyphen_joins_a_word_to_a_variable_unless_sparql_reads_a_difference(text: str, meant: str | None) -> None:
    if meant is None:
        text, meant = f"PREFIX y: <http://y/> ASK {{ FILTER({text}) }}", "(- ?x <http://y/z>)"
    else:
        text = f"ASK {{ FILTER({text}) }}"
    pattern = translate(PREFIX + text).pattern
    assert isinstance(pattern, ops.Filter)
    assert write(pattern.condition) == write(read_expression(meant))


def test_outside_brackets_there_are_no_differences() -> None:
    made = translate(f"{PREFIX} SELECT ?a-true ?my-count (1 AS ?b) {{ ?a-true :p ?o-x-y.x-y:s :p ?my-count }}")
    assert made.variables == (Var("a-true"), Var("my-count"), Var("b"))
    assert "(?a-true :p ?o-x-y) (<http://x/s> :p ?my-count)" in write(made.pattern)


EXTENSION = """step range stream tumbling triples register query computed every aggregate timestamp
    window slide fixed elems elements now all on to rstream istream dstream week w pt1s
    named from select count min hours seconds day s m h d ms a true group by filter as"""
WORDS = sorted({*EXTENSION.split(), *(name.lower() for name in BUILTINS)})


cased = st.sampled_from(WORDS).flatmap(lambda word: st.sampled_from((word, word.upper(), word.capitalize())))


@given(variable=cased, prefix=cased, local=cased, stream=cased, label=cased)
def test_no_word_is_reserved(variable: str, prefix: str, local: str, stream: str, label: str) -> None:
    new = "new" if variable.lower() == "true" else f"new-{variable}"  # in brackets ?x-true is a difference
    text = f"""REGISTER STREAM {stream} COMPUTED EVERY 5m AS PREFIX {prefix}: <http://e/>
        CONSTRUCT {{ _:{label} {prefix}:{local} ?{variable} }} FROM STREAM {stream} [RANGE 10m STEP 1 m]
        FROM NAMED STREAM {prefix}:{local} [TRIPLES 5]
        WHERE {{ ${variable} {prefix}:{local} 10 . ?{variable} {prefix}: {prefix}:{local} FILTER(?{variable}>5) }}
        AGGREGATE {{ (?{new}, COUNT, {{?{variable}}}) FILTER(?{new} > 5) }}"""
    made = translate(text)
    assert made.registration == ops.Registration(stream, 300_000_000, NamedNode(f"urn:penstock:stream:{stream}"))
    assert [s.iri.value for s in made.streams] == [f"urn:penstock:stream:{stream}", f"http://e/{local}"]
    assert isinstance(made.pattern, ops.Filter)
    assert isinstance(made.pattern.pattern, ops.Annotate)
    annotate = made.pattern.pattern
    assert (annotate.var, annotate.keys) == (Var(new), (Var(variable),))


@given(name=cased, query=st.sampled_from(("ASK {}", "PREFIX : <http://e/> ASK {}", "SELECT * {}")))
def test_a_query_may_have_any_word_for_a_name(name: str, query: str) -> None:
    for written in (name, f"{name}-{name}", f"_{name}2"):
        assert translate(f"REGISTER QUERY {written} AS {query}").registration == ops.Registration(written)


@pytest.mark.parametrize("text", ["REGISTER QUERY my-p:x AS", "REGISTER QUERY my.p:x AS", "FROM STREAM my-p:x ["])
def test_a_prefixed_name_is_no_bare_name(text: str) -> None:
    kinds = [token.type for token in SparqlLexer(parser().lexer_conf).tokens(text)]
    assert kinds[2] == "PNAME_LN"


@given(variable=cased, prefix=cased, local=cased, stream=cased)
def test_no_word_is_reserved_among_windows_of_the_other_languages(
    variable: str, prefix: str, local: str, stream: str
) -> None:
    text = f"""PREFIX {prefix}: <http://e/> REGISTER ISTREAM {stream} AS SELECT ?{variable}
        FROM STREAM {stream} WINDOW RANGE 5 SLIDE FROM NAMED WINDOW {prefix}:{local} ON STREAM {stream} [RANGE PT1S]
        FROM NAMED {prefix}:{local} [NOW] AS ?{variable}-now
        WHERE {{ WINDOW {prefix}:{local} {{ ?{variable} {prefix}:{local} <range> }} STREAM {stream} [ALL] {{
            {prefix}:{local} {prefix}: ?{variable} }} GRAPH ?{variable}-now {{ ?{variable} {prefix}: 5 }}
            ?{variable} {prefix}:{local} {prefix}: . WINDOW ELEMS 3 }}"""
    made = translate(text, base="http://e/")
    bare = NamedNode(f"urn:penstock:stream:{stream}")
    assert made.variables == (Var(variable),)
    assert [each.iri for each in made.streams] == [bare, bare, bare, NamedNode(f"http://e/{local}"), bare]
    names = [f"http://e/{local}", f"urn:penstock:window:{variable}-now", "urn:penstock:window:.1"]
    assert [each.name.value for each in made.streams if each.name is not None] == names
    assert (made.emit, made.registration) == ("istream", ops.Registration(stream))
