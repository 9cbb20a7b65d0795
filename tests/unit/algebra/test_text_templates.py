"""A text that is translated by a template has the algebra, the errors and the warnings of one that is parsed."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import pytest

from penstock.algebra.build import TextTemplates, translate
from penstock.algebra.ops import Query
from penstock.algebra.template import template
from penstock.errors import PenstockError, PenstockWarning
from penstock.syntax import parser
from penstock.tuning import DEFAULT

PREFIXES = (
    "PREFIX : <http://e/> PREFIX c: <http://c/> PREFIX xsd: <http://www.w3.org/2001/XMLSchema#> BASE <http://b/x>"
)
WINDOW = "FROM STREAM <http://e/s> [RANGE 10s STEP 5s]"
CONSTANTS = (
    "c:gate1", "c:gate2", ":a", ":a.", "c:a_1", "<http://c/gate1>", "<http://x/y#z>", "<relative>", "<:odd>",
    "<http://[>",
    "c:a-b", "c:a:b", "c:a%20", "none:a", "c:", "_:b", "?v", "a", "()", "true",
    "1", "17", "2.5", "-3", "-7", "+4", "-2.5", "1e3", "5.", '"one"', "'two'", '"""long"""', '"o\'ne"', '"\\n"',
    '"tag"@en', '"x"^^xsd:integer',
    '"5"^^xsd:integer', "c:gäte", '"ä"', "''",
)  # fmt: skip
QUERIES = (
    "SELECT ?v {w} WHERE {{ {0} :p ?v }}",
    "SELECT ?v {w} WHERE {{ ?v :p {0} . ?v :q {1} }}",
    "SELECT ?v {w} WHERE {{ ?v :p ?w FILTER (?w > {0}) }}",
    "SELECT ?v {w} WHERE {{ ?v :p ?w FILTER (?w={0}||?w !={1}) }}",
    "SELECT ?v (SUM(IF(?w = {0}, 1, 2)) AS ?n) (SUM(IF(?w = {1}, 1, 2)) AS ?m) {w} WHERE {{ ?v :p ?w }} GROUP BY ?v",
    "SELECT ?v {w} WHERE {{ ?v :p ?w FILTER (?w + 1 < {0} || ?w {0} > {1} || (?w)-{1} = 1) }}",
    "SELECT ?v {w} WHERE {{ ?v {0} ?w }}",
    "SELECT ?v {w} WHERE {{ {0} :p* ?v }}",
    "SELECT ?v {w} WHERE {{ {0} (:p|:q*) ?v ; :r {0} }}",
    "SELECT ?v {w} WHERE {{ ?v :p ?w VALUES ?w {{ {0} }} }}",
    "SELECT ?v {w} WHERE {{ GRAPH {0} {{ ?v :p ?w }} ?v :q {1} }}",
    "SELECT ?v {w} WHERE {{ ?v :p ?w }} LIMIT {0}",
    "SELECT ?v {w} WHERE {{ ?v :p {0} FILTER (xsd:integer(?v) = {1} && timestamp(?v) > {0}) }} # {1} it's",
    "SELECT ?v {w} WHERE {{ ?v :p ?w FILTER (REGEX(STR(?w), {0}) || ?w IN ({1}, {0})) }}",
    "CONSTRUCT {{ ?v :p {0} }} {w} WHERE {{ ?v :p ?w }}",
    "REGISTER QUERY name AS SELECT ?v {w} WHERE {{ {0} :p ?v }}",
    "SELECT ?v {w} WHERE {{ {{ ?v :p {0} }} MINUS {{ ?v :p {1} }} OPTIONAL {{ ?v :q ?u FILTER (?u < {0}) }} }}",
    "ASK {w} WHERE {{ ?v :p {0} FILTER EXISTS {{ ?v :q {1} }} }}",
)  # fmt: skip


def _query(made: TextTemplates, text: str) -> Query:
    return made.translate(text).query


def outcome(work: Callable[[], Any]) -> tuple[str, list[str]]:
    """The algebra or the error, and the warnings."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            found = repr(work())
        except PenstockError as error:
            found = str(error)
    return found, [str(warning.message) for warning in caught]


def texts(query: str) -> list[str]:
    """The query with each constant, and with another or the same in its second place."""
    pairs = [(one, CONSTANTS[n * 3 % len(CONSTANTS)]) for n, one in enumerate(CONSTANTS)]
    return [f"{PREFIXES} {query.format(one, other, w=WINDOW)}" for one, other in pairs]


@pytest.mark.parametrize("query", QUERIES)
def test_texts_have_their_own_algebra(query: str) -> None:
    made = TextTemplates(replace(DEFAULT, template_texts=1))
    for text in texts(query):
        assert outcome(partial(_query, made, text)) == outcome(partial(translate, text)), text


def test_a_known_template_is_that_of_the_query() -> None:
    made = TextTemplates()
    found = [made.translate(f"{PREFIXES} SELECT ?v {WINDOW} WHERE {{ c:gate{n} :p ?v, 5 }}") for n in range(10)]
    known = [one for one in found if one.template is not None]
    assert len(known) == len(found) - DEFAULT.template_texts + 1
    assert all(one.template == template(one.query) for one in known)


def test_texts_alike_are_parsed_a_few_times_only(monkeypatch: pytest.MonkeyPatch) -> None:
    made = TextTemplates()
    query = f"{PREFIXES} SELECT ?v {WINDOW} WHERE {{ c:gate%d :p ?v FILTER (?v > %d) }}"
    expected = [translate(query % (n, n)) for n in range(20)]
    assert [made.translate(query % (n, n)).query for n in range(10)] == expected[:10]
    monkeypatch.setattr(parser, "parser", None)  # which cannot parse any more
    assert [made.translate(query % (n, n)).query for n in range(10, 20)] == expected[10:]


def test_a_stream_that_is_read_as_a_graph_is_warned_about_where_it_stands() -> None:
    made = TextTemplates()
    text = f"{PREFIXES} SELECT ?v {WINDOW}\nWHERE {{ GRAPH :other {{ ?v :q ?w }} ?v :p %d }}"
    for n in range(10):
        found = list(made.translate(text % n).foreign_streams({"http://e/other"}))
        assert [type(doubt) for doubt in found] == [PenstockWarning]
        assert "line 2" in str(found[0]) or ":other" in str(found[0])
        assert not list(made.translate(text % n).foreign_streams({"http://e/s"}))


def test_few_templates_are_kept() -> None:
    made = TextTemplates(replace(DEFAULT, template_texts=1, text_templates=2))
    for n in range(20):
        text = f"{PREFIXES} SELECT ?v{n % 5} {WINDOW} WHERE {{ c:gate{n} :p ?v{n % 5} }}"
        assert made.translate(text).query == translate(text)
