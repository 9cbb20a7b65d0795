"""What the compiler emits, read as text: no JVM, no data. Here it is the shape of the plan; answers are elsewhere."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from penstock.algebra.build import translate
from penstock.compile.context import Context, Plan, Tables
from penstock.compile.operators import query_forms
from penstock.compile.sql import Query, Table, write
from penstock.optimise import Uniform, optimise
from tests.support.physical import physical

PREFIXES = "PREFIX : <http://example.org/> PREFIX xsd: <http://www.w3.org/2001/XMLSchema#>\n"
GRAPHS = frozenset({"<http://example.org/g1>", "<http://example.org/g2>"})


def never(query: Query, name: str) -> int:
    raise AssertionError(f"compiling ran a job: {write(query)}")


def compiled(query: str, rules: set[str] | None = None) -> str:
    planned = optimise(translate(PREFIXES + query), Uniform(), rules).query
    context = Context(Plan(Tables(Table("triples"), Table("quads"), GRAPHS), never, planned.base, ""))
    return write(query_forms.select_rows(replace(planned, pattern=physical(planned.pattern, context)), context))


def count(word: str, text: str) -> int:
    return len(re.findall(rf"(?<![\w`]){re.escape(word)}(?![\w`])", text))


def test_a_basic_graph_pattern_is_one_flat_join() -> None:
    text = compiled("SELECT ?a { ?a :p ?b . ?b :p ?c . ?c :p ?d }", rules=set())
    assert count("JOIN", text) == 2
    assert count("triples", text) == 3
    assert "t1.`s` = t0.`o`" in text


def test_a_repeated_variable_in_one_pattern_is_a_condition_on_its_scan() -> None:
    assert "t0.`o` = t0.`s`" in compiled("SELECT ?a { ?a :p ?a }")


@pytest.mark.parametrize(
    ("test", "expected"),
    [
        ("?o = :x", "'<http://example.org/x>' = t0.`o`"),
        ('?o = "text"', "'\"text\"' = t0.`o`"),
        ("?o IN (:x, :y)", "'<http://example.org/y>' = t0.`o`"),
    ],
)
def test_equality_with_a_constant_is_one_comparison_that_parquet_can_use(test: str, expected: str) -> None:
    text = compiled(f"SELECT ?s {{ ?s :p ?o FILTER({test}) }}").replace("concat('\"', 'text', '\"')", "'\"text\"'")
    assert expected in text
    assert "CASE" not in text


def test_comparing_with_a_number_reads_no_dates_and_no_strings() -> None:
    text = compiled("SELECT ?s { ?s :p ?o FILTER(?o > 5) }")
    assert "TIMESTAMP" not in text
    assert count("regexp_extract", text) <= 6


@pytest.mark.parametrize(
    ("filter_", "kind"), [("EXISTS", "LEFT SEMI JOIN"), ("NOT EXISTS", "LEFT ANTI JOIN")], ids=["exists", "not exists"]
)
def test_exists_is_a_semi_join_on_plain_equality(filter_: str, kind: str) -> None:
    text = compiled(f"SELECT ?s {{ ?s :p ?o FILTER {filter_} {{ ?o :q ?z }} }}")
    assert kind in text
    assert "IS NULL" not in text


def test_exists_that_reads_an_outer_variable_takes_its_distinct_values_inside() -> None:
    text = compiled("SELECT ?s { ?s :p ?o FILTER EXISTS { { ?o :q ?z FILTER(?z > ?s) } UNION { ?o :r ?z } } }")
    assert "SELECT DISTINCT" in text
    assert "LEFT SEMI JOIN" in text


def test_a_filter_around_the_pattern_of_an_exists_is_tested_on_pairs() -> None:
    text = compiled("SELECT ?s { ?s :p ?o FILTER EXISTS { ?o :q ?z FILTER(?z > ?s) } }")
    assert "SELECT DISTINCT" not in text
    assert "LEFT SEMI JOIN" in text


def test_a_filter_and_a_projection_are_no_layers_of_their_own() -> None:
    text = compiled("SELECT ?s { ?s :p ?o . ?o :q ?z FILTER(?z = :x) }", rules=set())
    assert count("SELECT", text) == 1


def test_only_a_variable_that_may_be_unbound_costs_an_or() -> None:
    sure = compiled("SELECT * { { ?a :p ?b } { ?b :q ?c } }", rules=set())
    unsure = compiled("SELECT * { ?a :p ?b OPTIONAL { ?b :q ?c } { ?d :r ?c } }", rules=set())
    assert " OR " not in sure
    assert "l.`c` IS NULL" in unsure


def test_minus_without_a_shared_variable_is_nothing() -> None:
    assert "ANTI" not in compiled("SELECT * { ?a :p ?b MINUS { ?c :q ?d } }")


def test_graph_with_a_variable_reads_the_named_graphs_once() -> None:
    text = compiled("SELECT * { GRAPH ?g { ?a :p ?b . ?b :q ?c } }")
    assert count("quads", text) == 2
    assert "t1.`g` = t0.`g`" in text


def test_an_unknown_graph_is_empty_rather_than_an_error() -> None:
    assert compiled("SELECT * { GRAPH :unknown { ?a :p ?b } }").endswith(" AND false")


def test_variables_that_differ_in_case_stay_apart() -> None:
    text = compiled("SELECT ?x ?X { ?x :p ?X }")
    assert "AS `x`" in text
    assert "AS `X`" in text


def test_hostile_text_stays_inside_its_quotes() -> None:
    text = compiled(r"""SELECT * { ?s :p "a'b\\c` ${x} \uE0007\uE001 -- ; \n" }""")
    assert r"""'"a\'b\\c` ${x} XX -- ; \n"'""".replace("XX", "\ue0007\ue001") in text


def test_long_arithmetic_does_not_multiply_the_text() -> None:
    """Every value is read once, however often the formula needs it."""
    short, long = (compiled(f"SELECT ({'*'.join(['?o'] * n)} AS ?x) {{ ?s :p ?o }}") for n in (3, 12))
    assert len(long) < 8 * len(short)


def test_ten_patterns_with_filters_stay_small() -> None:
    chain = " ".join(f"?x{i} :p{i} ?x{i + 1} ." for i in range(10))
    assert len(compiled(f"SELECT * {{ {chain} FILTER(?x3 > 5 && ?x4 != ?x5) }}")) < 12_000


def test_no_python_on_the_way_unless_a_relative_iri_has_to_be_resolved() -> None:
    ordinary = 'SELECT (IRI(?o) AS ?i) (REGEX(?o, "a", "i") AS ?r) (MD5(?o) AS ?m) { ?s :p ?o }'
    assert "penstock_" not in compiled(ordinary)
    assert "penstock_resolve_iri" in compiled("BASE <http://example.org/> SELECT (IRI(?o) AS ?i) { ?s :p ?o }")


@pytest.mark.parametrize("constant", [":x", '"abc"^^xsd:integer', '"x"@en', "5", "1.5", "2e0", '"NaN"^^xsd:double'])
@pytest.mark.parametrize("test", ["{} < 1", "1 < {}", "COUNT(?o) > {}", "?s >= {}", "{} = 2e0"])
def test_every_constant_can_be_compared(test: str, constant: str) -> None:
    """Numbers, ill-typed literals and terms that are no numbers at all."""
    text = compiled(f"SELECT ?s {{ ?s :p ?o }} GROUP BY ?s HAVING ({test.format(constant)})")
    assert "None" not in text
