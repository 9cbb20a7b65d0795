"""Tree → algebra, read against plans as s-expressions."""

from __future__ import annotations

import pytest
from pyoxigraph import NamedNode

from penstock.algebra import ops
from penstock.algebra.build import translate
from penstock.algebra.expressions import Var
from penstock.algebra.sse import read
from penstock.errors import QueryError, RefusedError

PREFIX = "PREFIX : <http://example.org/> PREFIX xsd: <http://www.w3.org/2001/XMLSchema#> "


def pattern(where: str) -> ops.Op:
    """The plan of an ASK, which adds nothing to its pattern."""
    return translate(f"{PREFIX}ASK {{ {where} }}").pattern


def same(where: str, plan: str) -> None:
    assert pattern(where) == read(plan)


def select_is(query: str, plan: str) -> None:
    assert translate(PREFIX + query).pattern == read(plan)


# Groups


def test_an_empty_group_is_the_empty_pattern() -> None:
    same("", "(bgp)")
    same("{{}}", "(bgp)")


def test_filters_hold_for_the_whole_group_and_do_not_split_it() -> None:
    same(
        "?s :p ?o FILTER(?o > 1) ?s :q ?r FILTER(?r)",
        "(filter (&& (> ?o 1) ?r) (bgp (?s :p ?o) (?s :q ?r)))",
    )


def test_nested_groups_are_joined_not_merged() -> None:
    same("?s :p ?o { ?s :q ?r FILTER(?r) }", "(join (bgp (?s :p ?o)) (filter ?r (bgp (?s :q ?r))))")


def test_the_filter_of_an_optional_is_its_condition() -> None:
    same(
        "?s :p ?o OPTIONAL { ?s :q ?r FILTER(?r > ?o) }",
        "(leftjoin (bgp (?s :p ?o)) (bgp (?s :q ?r)) (> ?r ?o))",
    )


def test_the_filter_of_a_group_inside_an_optional_is_not() -> None:
    same(
        "?s :p ?o OPTIONAL { { ?s :q ?r FILTER(?r > ?o) } }",
        "(leftjoin (bgp (?s :p ?o)) (filter (> ?r ?o) (bgp (?s :q ?r))))",
    )


def test_elements_apply_in_their_order() -> None:
    same(
        "OPTIONAL { ?s :q ?r } MINUS { ?s :x ?y } BIND(?r + 1 AS ?z) VALUES (?a ?b) { (1 UNDEF) }",
        """(join (extend ((?z (+ ?r 1))) (minus (leftjoin (bgp) (bgp (?s :q ?r))) (bgp (?s :x ?y))))
                 (table (vars ?a ?b) (row (?a 1))))""",
    )


def test_bind_splits_a_group() -> None:
    same(
        "?s :p ?o BIND(?o AS ?x) ?x :q ?y",
        "(join (extend ((?x ?o)) (bgp (?s :p ?o))) (bgp (?x :q ?y)))",
    )


def test_union_and_graph() -> None:
    same(
        "{ ?s :p 1 } UNION { GRAPH ?g {} } UNION { GRAPH :g { ?s :p 2 } }",
        "(union (union (bgp (?s :p 1)) (graph ?g (bgp))) (graph :g (bgp (?s :p 2))))",
    )


def test_exists() -> None:
    same(
        "?s :p ?o FILTER NOT EXISTS { ?s :q ?o } FILTER EXISTS {}",
        "(filter (&& (! (exists (bgp (?s :q ?o)))) (exists (bgp))) (bgp (?s :p ?o)))",
    )


def test_blank_nodes_are_internal_variables() -> None:
    same("_:a :p [] . [] :q _:a", "(bgp (?.b0 :p ?.b1) (?.b2 :q ?.b0))")


# Paths


@pytest.mark.parametrize(
    ("path", "plan"),
    [
        (":p", "(bgp (?s :p ?o))"),
        ("^:p", "(bgp (?o :p ?s))"),
        (":p/^:q/:r", "(bgp (?s :p ?.p0) (?.p1 :q ?.p0) (?.p1 :r ?o))"),
        ("^(:p/:q)", "(bgp (?o :p ?.p0) (?.p0 :q ?s))"),
        (":p|:q/:r", "(union (bgp (?s :p ?o)) (bgp (?s :q ?.p0) (?.p0 :r ?o)))"),
        (":p*", "(path ?s (path* :p) ?o)"),
        ("^:p+", "(path ?o (path+ :p) ?s)"),
        ("(^:p)?", "(path ?s (path? (inverse :p)) ?o)"),
        ("(:p/:q|:r)+", "(path ?s (path+ (alt (seq :p :q) :r)) ?o)"),
        ("!(:p|^:q)", "(path ?s (notoneof (forward :p) (backward :q)) ?o)"),
        ("!^:q", "(path ?s (notoneof (backward :q)) ?o)"),
        ("!()", "(path ?s (notoneof (forward)) ?o)"),
        ("!a", "(path ?s (notoneof (forward <http://www.w3.org/1999/02/22-rdf-syntax-ns#type>)) ?o)"),
    ],
)
def test_paths(path: str, plan: str) -> None:
    same(f"?s {path} ?o", plan)


def test_paths_that_are_triples_join_their_neighbours() -> None:
    same(
        "?s :p/:q ?o . ?o :r ?x . ?x :t* ?y . ?y :u ?z . ?z :v 1",
        """(join (join (bgp (?s :p ?.p0) (?.p0 :q ?o) (?o :r ?x)) (path ?x (path* :t) ?y))
                 (bgp (?y :u ?z) (?z :v 1)))""",
    )


# SELECT


def test_all_visible_variables_in_order_of_appearance() -> None:
    query = translate(PREFIX + "SELECT * { ?b ?p [] MINUS { ?no :p ?no2 } FILTER(?no3) GRAPH ?a {} } VALUES ?z { 1 }")
    assert query.variables == (Var("b"), Var("p"), Var("a"), Var("z"))


def test_the_order_of_the_modifiers() -> None:
    select_is(
        "SELECT DISTINCT ?o (?o + 1 AS ?x) { ?s :p ?o } ORDER BY DESC(?s) ?x LIMIT 5 OFFSET 2 VALUES ?s { :a }",
        """(slice 2 5 (distinct (project (?o ?x) (order ((desc ?s) ?x)
             (extend ((?x (+ ?o 1))) (join (bgp (?s :p ?o)) (table (vars ?s) (row (?s :a)))))))))""",
    )


def test_offset_alone_and_limit_zero() -> None:
    assert translate("SELECT * {} OFFSET 3").pattern == ops.Slice(3, None, ops.Project((), ops.Bgp(())))
    assert translate("SELECT REDUCED * {} LIMIT 0").pattern == ops.Slice(
        0, 0, ops.Reduced(ops.Project((), ops.Bgp(())))
    )


def test_sub_select() -> None:
    select_is(
        "SELECT ?s { ?s :p ?o { SELECT ?o { ?o :q ?x } LIMIT 1 } }",
        "(project (?s) (join (bgp (?s :p ?o)) (slice 0 1 (project (?o) (bgp (?o :q ?x))))))",
    )


# Groups of solutions


def test_equal_aggregates_are_computed_once() -> None:
    select_is(
        """SELECT ?s (COUNT(?o) AS ?n) (?n + COUNT(?o) + COUNT(DISTINCT ?o) AS ?m) { ?s :p ?o } GROUP BY ?s
           HAVING (COUNT(?o) > 1) (COUNT(*) < 9) ORDER BY COUNT(?o) ?n""",
        """(project (?s ?n ?m) (order (?.a0 ?n)
             (extend ((?m (+ (+ ?n ?.a0) ?.a2))) (extend ((?n ?.a0)) (filter (&& (> ?.a0 1) (< ?.a1 9))
               (group (?s) ((?.a0 (count ?o)) (?.a1 (count)) (?.a2 (count distinct ?o))) (bgp (?s :p ?o))))))))""",
    )


def test_keys_that_are_expressions_are_computed_first() -> None:
    select_is(
        "SELECT ?g (MAX(?o) AS ?m) { ?s :p ?o } GROUP BY (STR(?s) AS ?g) LANG(?o) ?s ?s",
        """(project (?g ?m) (extend ((?m ?.a1)) (group (?g ?.g0 ?s) ((?.a1 (max ?o)))
             (extend ((?.g0 (lang ?o))) (extend ((?g (str ?s))) (bgp (?s :p ?o)))))))""",
    )


def test_an_aggregate_alone_makes_one_group() -> None:
    select_is("SELECT (SUM(?o) AS ?n) {}", "(project (?n) (extend ((?n ?.a0)) (group () ((?.a0 (sum ?o))) (bgp))))")


def test_ungrouped_variables_after_grouping_are_samples() -> None:
    select_is(
        "SELECT ?s { ?s :p ?o } GROUP BY ?s HAVING (?o > 1) ORDER BY ?o",
        """(project (?s) (order (?.a0) (filter (> ?.a0 1)
             (group (?s) ((?.a0 (sample ?o))) (bgp (?s :p ?o))))))""",
    )


def test_having_without_groups_is_a_filter() -> None:
    select_is("SELECT ?o { ?s :p ?o } HAVING (?o > 1)", "(project (?o) (filter (> ?o 1) (bgp (?s :p ?o))))")


def test_trailing_values_join_after_grouping() -> None:
    select_is(
        "SELECT ?s { ?s :p ?o } GROUP BY ?s VALUES ?s { :a }",
        "(project (?s) (join (group (?s) () (bgp (?s :p ?o))) (table (vars ?s) (row (?s :a)))))",
    )


# Query forms


def test_template_blank_nodes_are_not_those_of_the_pattern() -> None:
    query = translate(PREFIX + "CONSTRUCT { _:x :q _:y } WHERE { ?s :p _:x }")
    assert query.pattern == read("(bgp (?s :p ?.b0))")
    q = NamedNode("http://example.org/q")
    assert query.form == ops.Construct((ops.TriplePattern(Var(".b1"), q, Var(".b2")),))
    assert query.variables == ()


def test_construct_where_takes_its_pattern_as_template() -> None:
    query = translate(PREFIX + "CONSTRUCT WHERE { ?s :p _:x }")
    p = NamedNode("http://example.org/p")
    assert query.form == ops.Construct((ops.TriplePattern(Var("s"), p, Var(".b1")),))
    assert query.pattern == read("(bgp (?s :p ?.b0))")


def test_describe() -> None:
    assert translate(PREFIX + "DESCRIBE :a ?x").form == ops.Describe((NamedNode("http://example.org/a"), Var("x")))
    assert translate("DESCRIBE * { ?s ?p [] }").form == ops.Describe((Var("s"), Var("p")))


def test_dataset_and_base() -> None:
    query = translate("ASK FROM <a> FROM <b> FROM NAMED <c> {}", base="http://e/")
    a, b, c = (NamedNode(f"http://e/{name}") for name in "abc")
    assert query.dataset == ops.Dataset((a, b), (c,))
    assert query.base == "http://e/"
    assert translate("ASK {}").dataset is None


# Expressions


def test_synonyms_and_casts() -> None:
    same("FILTER(isURI(URI(?x)))", "(filter (isiri (iri ?x)) (bgp))")
    same("FILTER(xsd:integer(?x))", "(filter (<http://www.w3.org/2001/XMLSchema#integer> ?x) (bgp))")


def test_long_chains_do_not_nest() -> None:
    chain = " || ".join(f"?x = {number}" for number in range(2000))
    assert isinstance(pattern(f"FILTER({chain})"), ops.Filter)


# What is refused


def error_of(query: str, kind: type[QueryError] = QueryError) -> str:
    with pytest.raises(kind) as caught:
        translate(query)
    return str(caught.value)


def test_service_is_refused_where_it_stands() -> None:
    assert error_of("SELECT * { SERVICE SILENT <http://e/> {} }", RefusedError) == (
        "line 1, column 12: SERVICE is not supported: Penstock sends no part of a query to other endpoints\n"
        "  SELECT * { SERVICE SILENT <http://e/> {} }\n"
        "             ^^^^^^^\n"
        "hint: load that data, or make the endpoint the background store"
    )


def test_unknown_functions_by_iri() -> None:
    xsd = "PREFIX xsd: <http://www.w3.org/2001/XMLSchema#>\n"
    assert error_of(xsd + "ASK { FILTER(xsd:intger('1')) }") == (
        "line 2, column 14: there is no function <http://www.w3.org/2001/XMLSchema#intger>\n"
        "  ASK { FILTER(xsd:intger('1')) }\n"
        "               ^^^^^^^^^^\n"
        "hint: did you mean <http://www.w3.org/2001/XMLSchema#integer>?"
    )
    assert error_of("ASK { FILTER(<http://e/f>(1)) }").endswith(
        "hint: the only functions with an IRI are the casts to XSD types"
    )


def test_casts_take_one_argument() -> None:
    assert "the cast to xsd:integer takes 1 argument" in error_of(PREFIX + "ASK { FILTER(xsd:integer(1, 2)) }")


def test_a_relative_iri_needs_a_base() -> None:
    assert error_of("ASK { <a> ?p ?o }") == (
        "line 1, column 7: <a> is a relative IRI, and the query has no base\n"
        "  ASK { <a> ?p ?o }\n"
        "        ^^^\n"
        "hint: add a line such as  BASE <http://example.org/>  or give a base with the query"
    )


def test_terms_that_are_none() -> None:
    assert "is not an IRI: Invalid IRI percent encoding" in error_of("ASK { <http://e/%zz> ?p ?o }")
    assert "@abcdefghijk is not a language tag" in error_of("ASK { ?s ?p 'x'@abcdefghijk }")


def test_a_query_nested_too_deeply_is_an_error_not_a_crash() -> None:
    deep = "line 1, column {}: brackets are nested more than 100 deep here\n"
    assert error_of("ASK " + "{" * 3000 + "}" * 3000).startswith(deep.format(105))
    assert error_of("ASK { FILTER(" + "!(" * 3000 + "?x" + ")" * 3000 + ") }").startswith(deep.format(211))
