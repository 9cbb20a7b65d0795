"""Text → tree: tokens, terms, names, sugar, and that the grammar can grow."""

from __future__ import annotations

import pytest
from lark import Lark

from penstock.syntax import parse, tree
from penstock.syntax.functions import BUILTINS
from penstock.syntax.iri import resolve
from penstock.syntax.lexer import SparqlLexer
from penstock.syntax.parser import grammar, parser
from penstock.syntax.transform.query import QueryTransformer

PREFIX = "PREFIX : <http://example.org/> PREFIX ex: <http://example.org/> "
XSD = "http://www.w3.org/2001/XMLSchema#"
RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"


def triples(pattern: str, base: str | None = None) -> list[tuple[object, ...]]:
    """The triples of the only block of a query, without places."""
    (block,) = parse(f"{PREFIX}SELECT * {{ {pattern} }}", base).where.elements
    assert isinstance(block, tree.Triples)
    return [tuple(map(plain, (t.subject, t.predicate, t.object))) for t in block.triples]


def expression(text: str) -> object:
    (element,) = parse(f"{PREFIX}SELECT * {{ FILTER({text}) }}").where.elements
    assert isinstance(element, tree.Filter)
    return plain(element.condition)


def plain(node: object) -> object:
    """A readable stand-in for a term, a path or an expression."""
    match node:
        case tree.Variable(name):
            return f"?{name}"
        case tree.Iri(value):
            return value.replace("http://example.org/", ":").replace(RDF, "rdf:")
        case tree.BlankNode(label):
            return f"_:{label}"
        case tree.Literal(value, datatype, language):
            return (value, datatype.value.replace(XSD, "xsd:") if datatype else language)
        case tree.Call(name, args):
            return (name, *map(plain, args))
        case tree.FunctionCall(iri, args):
            return (plain(iri), *map(plain, args))
    return node


# Tokens


@pytest.mark.parametrize("name", ["?select", "$filter", "?a", "?true", "?ORDER"])
def test_keywords_are_not_reserved_in_variables(name: str) -> None:
    assert triples(f"{name} :p 1")[0][0] == f"?{name[1:]}"


def test_keywords_are_not_reserved_in_prefixed_names() -> None:
    query = parse("PREFIX select: <http://s/> PREFIX a: <http://a/> SELECT * { a:filter select:where a:true }")
    (block,) = query.where.elements
    assert isinstance(block, tree.Triples)
    (triple,) = block.triples
    assert [plain(triple.subject), plain(triple.predicate), plain(triple.object)] == [
        "http://a/filter",
        "http://s/where",
        "http://a/true",
    ]


def test_keywords_have_any_case_but_a_has_one() -> None:
    assert isinstance(parse("sElEcT dIsTiNcT * wHeRe { }").form, tree.Select)
    assert triples("?x a :C") == [("?x", "rdf:type", ":C")]


@pytest.mark.parametrize(
    ("written", "iri"),
    [
        ("ex:a.b", ":a.b"),
        (r"ex:a\,b\-c", ":a,b-c"),
        ("ex:%41b", ":%41b"),
        ("ex:a:b", ":a:b"),
        ("ex:1", ":1"),
        ("ex:", ":"),
        ("ex:é·", ":é·"),
    ],
)
def test_local_names(written: str, iri: str) -> None:
    assert triples(f"?s ?p {written} .") == [("?s", "?p", iri)]


@pytest.mark.parametrize(
    ("written", "value"),
    [
        (r"'a\tb\'c'", "a\tb'c"),
        ('"it\'s"', "it's"),
        ("'''a'b''c\nd'''", "a'b''c\nd"),
        ('"""say "hi\\""""', 'say "hi"'),
        ("''", ""),
        ('""""""', ""),
        (r'"\\u0041"', r"\u0041"),
        (r'"\u00e9\U0001F600"', "é😀"),
    ],
)
def test_strings(written: str, value: str) -> None:
    assert triples(f"?s ?p {written}") == [("?s", "?p", (value, None))]


@pytest.mark.parametrize(
    ("written", "literal"),
    [
        ("1", ("1", "xsd:integer")),
        ("-1.50", ("-1.50", "xsd:decimal")),
        (".5", (".5", "xsd:decimal")),
        ("1.e3", ("1.e3", "xsd:double")),
        ("+1E-3", ("+1E-3", "xsd:double")),
        ("TRUE", ("true", "xsd:boolean")),
        ("'x'@en-GB", ("x", "en-GB")),
        ("'x'^^ex:t", ("x", "http://example.org/t")),
    ],
)
def test_literals(written: str, literal: tuple[str, str]) -> None:
    assert triples(f"?s ?p {written}") == [("?s", "?p", literal)]


def test_a_dot_after_an_integer_ends_the_triple() -> None:
    assert triples("?s :p 1. ?s :q 2.") == [("?s", ":p", ("1", "xsd:integer")), ("?s", ":q", ("2", "xsd:integer"))]


def test_comments_and_hashes_in_iris() -> None:
    assert triples("?s <http://e/#a> ?o # a comment { \n . # another\n") == [("?s", "http://e/#a", "?o")]


@pytest.mark.parametrize("line_end", ["\n", "\r", "\r\n"])
def test_places_for_all_line_ends(line_end: str) -> None:
    query = parse(f"SELECT ?a{line_end}  ?b {{ ?a ?b ?c }}")
    assert isinstance(query.form, tree.Select)
    assert query.form.items is not None
    assert query.form.items[1].variable.span == tree.Span(2, 3, 2, 5)


def test_places_are_those_of_the_text_as_written() -> None:
    query = parse(r"SELECT * { ?s ?p '\u00e9\u00e9', ?here }")
    (block,) = query.where.elements
    assert isinstance(block, tree.Triples)
    assert block.triples[1].object.span == tree.Span(1, 34, 1, 39)


# Expressions


@pytest.mark.parametrize(
    ("written", "meaning"),
    [
        ("?a+1", ("+", "?a", ("+1", "xsd:integer"))),
        ("?a + 1", ("+", "?a", ("1", "xsd:integer"))),
        ("?a -1*?b", ("+", "?a", ("*", ("-1", "xsd:integer"), "?b"))),
        ("?a - ?b - ?c", ("-", ("-", "?a", "?b"), "?c")),
        ("?a * ?b / ?c", ("/", ("*", "?a", "?b"), "?c")),
        ("?a + ?b * ?c", ("+", "?a", ("*", "?b", "?c"))),
        ("?a < ?b && ?c > ?d || !?e", ("||", ("&&", ("<", "?a", "?b"), (">", "?c", "?d")), ("!", "?e"))),
        ("?a && ?b && ?c", ("&&", ("&&", "?a", "?b"), "?c")),
        ("?a || ?b || ?c || ?d", ("||", ("||", "?a", "?b"), ("||", "?c", "?d"))),
        ("- ?a", ("NEGATE", "?a")),
        ("?a IN (?b, :c)", ("IN", "?a", "?b", ":c")),
        ("?a NOT IN ()", ("NOT IN", "?a")),
        ("isUri(?a)", ("ISURI", "?a")),
        ("ex:f(?a, ?b)", (":f", "?a", "?b")),
        ("ex:f()", (":f",)),
        ("coalesce()", ("COALESCE",)),
    ],
)
def test_expressions(written: str, meaning: object) -> None:
    assert expression(written) == meaning


@pytest.mark.parametrize("name", sorted(BUILTINS))
def test_every_function_of_the_table_parses(name: str) -> None:
    args = ", ".join(["?a"] * BUILTINS[name][0])
    assert expression(f"{name.lower()}({args})") == (name, *["?a"] * BUILTINS[name][0])


def test_aggregates() -> None:
    query = parse("SELECT (count(distinct *) AS ?n) (GROUP_CONCAT(?x ; separator=', ') AS ?l) {}")
    assert isinstance(query.form, tree.Select)
    count, concat = (item.expression for item in query.form.items or ())
    assert isinstance(count, tree.Aggregate)
    assert (count.name, count.argument, count.distinct) == ("COUNT", None, True)
    assert isinstance(concat, tree.Aggregate)
    assert (concat.name, concat.separator, concat.distinct) == ("GROUP_CONCAT", ", ", False)


# Sugar


def test_lists_of_properties_and_objects() -> None:
    assert triples(":a :p 'x', 'y' ; :q ?z ;; .") == [
        (":a", ":p", ("x", None)),
        (":a", ":p", ("y", None)),
        (":a", ":q", "?z"),
    ]


def test_nested_blank_nodes() -> None:
    assert triples("[ :p [ :q ?x ] ] :r []") == [
        ("_:[2", ":p", "_:[1"),
        ("_:[1", ":q", "?x"),
        ("_:[2", ":r", "_:[3"),
    ]


def test_collections() -> None:
    assert triples("(?a [] ) :p ()") == [
        ("_:[2", "rdf:first", "?a"),
        ("_:[2", "rdf:rest", "_:[3"),
        ("_:[3", "rdf:first", "_:[1"),
        ("_:[3", "rdf:rest", "rdf:nil"),
        ("_:[2", ":p", "rdf:nil"),
    ]


# IRIs


@pytest.mark.parametrize(
    ("iri", "expected"),
    [
        ("g", "http://a/b/c/g"),
        ("./g", "http://a/b/c/g"),
        ("g/", "http://a/b/c/g/"),
        ("/g", "http://a/g"),
        ("//g", "http://g"),
        ("?y", "http://a/b/c/d;p?y"),
        ("g?y#s", "http://a/b/c/g?y#s"),
        ("#s", "http://a/b/c/d;p?q#s"),
        ("", "http://a/b/c/d;p?q"),
        (".", "http://a/b/c/"),
        ("..", "http://a/b/"),
        ("../g", "http://a/b/g"),
        ("../../../g", "http://a/g"),
        ("/./g", "http://a/g"),
        ("g/./h", "http://a/b/c/g/h"),
        ("g/../h", "http://a/b/c/h"),
        ("g?y/../x", "http://a/b/c/g?y/../x"),
        ("urn:x:y", "urn:x:y"),
        ("1:2", "http://a/b/c/1:2"),
    ],
)
def test_relative_iris(iri: str, expected: str) -> None:
    assert resolve(iri, "http://a/b/c/d;p?q") == expected


@pytest.mark.parametrize(
    ("iri", "base", "expected"),
    [
        ("g", "urn:x/y", "urn:x/g"),
        ("g", "http://a", "http://a/g"),
        ("g", "unknown://h/a/b", "unknown://h/a/g"),
        ("#f", "urn:a:b", "urn:a:b#f"),
        ("g", None, "g"),
        ("../..", "file:///a/b/c", "file:///"),
    ],
)
def test_relative_iris_of_any_scheme(iri: str, base: str | None, expected: str) -> None:
    assert resolve(iri, base) == expected


def test_base_and_prefix_build_on_what_stands_before_them() -> None:
    query = parse("BASE <http://e/x/> BASE <y/> PREFIX p: <z#> ASK { p:a <b> <> }", base="http://unused/")
    (block,) = query.where.elements
    assert isinstance(block, tree.Triples)
    (t,) = block.triples
    assert [plain(t.subject), plain(t.predicate), plain(t.object)] == [
        "http://e/x/y/z#a",
        "http://e/x/y/b",
        "http://e/x/y/",
    ]
    assert query.base == "http://e/x/y/"


# The grammar


def test_every_rule_has_its_method() -> None:
    made = {str(r.alias or r.origin.name) for r in parser().rules if r.alias or not r.options.expand1}
    missing = {name for name in made if not name.startswith("_") and not hasattr(QueryTransformer, name)}
    assert missing == set()


EXTENSION = r"""
%extend dataset_clause: "FROM"i "ARCHIVE"i iri "[" "SINCE"i INTEGER "]" -> archive
%extend graph_pattern_not_triples: "SHELF"i var_or_iri group_graph_pattern -> shelf
"""
EXTENDED = """SELECT ?since FROM ARCHIVE <http://s/> [SINCE 10]
WHERE { SHELF ?archive { ?since <http://e/shelf> 10 } }"""


def test_further_grammar_adds_to_the_language_without_reserving_words() -> None:
    extended = Lark(grammar() + EXTENSION, parser="lalr", lexer=SparqlLexer, maybe_placeholders=True)
    found = {str(node.data) for node in extended.parse(EXTENDED).iter_subtrees()}
    assert {"archive", "shelf"} <= found
