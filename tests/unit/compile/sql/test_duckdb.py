"""DuckDB's dialect as text: every kind of node has a form, and all that has none is refused with a reason."""

from __future__ import annotations

import re

import duckdb
import pytest

from penstock.compile import sql
from penstock.compile.kernels import duckdb_functions
from penstock.compile.sql import DUCKDB, Derived, Expr, Join, Over, Query, Select, Table, Unsupported, name, text
from tests.support.dialects import compiled, connection

A, B = name("a"), name("b")


@pytest.mark.parametrize(
    ("expr", "expected"),
    [
        (text("it's\n\\"), "'it''s\n\\'"),
        (sql.long(5), "CAST(5 AS BIGINT)"),
        (sql.double("0.5"), "CAST('0.5' AS DOUBLE)"),
        (sql.lifted(10**20), "TRY_CAST('100000000000000000000' AS DECIMAL(38,18))"),
        (sql.NULL, "TRY_CAST(NULL AS VARCHAR)"),
        (A.same(B), '"a" IS NOT DISTINCT FROM "b"'),
        (A.div(B) % 3, '"a" // "b" % 3'),
        (sql.exact("+", A, B + 1), 'TRY("a" + ("b" + 1))'),
        (sql.exact("/", A, B), 'penstock_quotient("a", "b")'),
        (sql.call("concat", A, B), '(("a") || ("b"))'),
        (sql.call("pmod", A - 1, B), '(((("a" - 1) % ("b")) + ("b")) % ("b"))'),
        (sql.call("struct", A), 'row(("a") IS NOT NULL, "a")'),
        (sql.struct(x=A), 'struct_pack("x" := "a")'),
        (sql.Field(A, "x"), '"a"."x"'),
        (sql.call("sum", A), 'CAST(sum("a") AS BIGINT)'),
        (sql.call("real_sum", A), 'sum("a")'),
        (sql.Call("count", (A,), distinct=True), 'count(DISTINCT "a")'),
        (Over(sql.call("sum", A), [B]), 'CAST(sum("a") OVER (PARTITION BY "b") AS BIGINT)'),
        (
            Over(sql.call("lead", A), [], [A, sql.Order(B, True)]),
            'lead("a") OVER (ORDER BY "a" NULLS FIRST, "b" DESC NULLS LAST)',
        ),
        (Over(sql.call("max", A), (), [B], sql.BEFORE), f'max("a") OVER (ORDER BY "b" NULLS FIRST {sql.BEFORE})'),
        (sql.call("inline", sql.array(sql.struct(x=A))), 'unnest([struct_pack("x" := "a")], max_depth := 2)'),
        (sql.call("explode", sql.call("sequence", A, B)), 'unnest(penstock_sequence("a", "b"))'),
        (sql.call("explode", sql.call("sequence", A, B, 2)), 'unnest(generate_series("a", "b", 2))'),
        (
            sql.call("aggregate", A, 0, sql.Lambda(("x", "y"), sql.Parameter("x") + sql.Parameter("y"))),
            'list_reduce("a", lambda ".x.", ".y.": ".x." + ".y.", 0)',
        ),
        (sql.call("sha2", A, 256), 'sha256("a")'),
        (sql.call("uuid"), "CAST(uuid() AS VARCHAR)"),
        (A.cast("STRING"), 'TRY_CAST("a" AS VARCHAR)'),
        (A.cast("INT", of="DOUBLE"), 'TRY_CAST(trunc("a") AS INTEGER)'),
        (A.rlike(text("a$")), "regexp_matches(\"a\", 'a$')"),
        (sql.call("regexp_replace", A, text("(a)"), text("$1b")), "regexp_replace(\"a\", '(a)', '\\1b', 'g')"),
        (sql.Star("e", ("s",)), 'e.* EXCLUDE ("s")'),
    ],
)
def test_expressions(expr: Expr, expected: str) -> None:
    assert sql.write_expression(expr, DUCKDB) == expected


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        (Select([A], Table("t"), hints=[("BROADCAST", ("t",))]), 'SELECT "a" FROM t'),
        (Select([A], Table("t")).spread_by([A]), 'SELECT "a" FROM t'),
        (Select([A], Table("t"), order=[A], limit=3), 'SELECT "a" FROM t ORDER BY "a" NULLS FIRST LIMIT 3'),
        (Select([A], sql.Values([(sql.long(1),)], ("a",))), 'SELECT "a" FROM (VALUES (CAST(1 AS BIGINT))) AS t("a")'),
        (Select((), sql.Numbers(3)), 'SELECT 1 AS ".unit" FROM range(3)'),
        (
            Select([A], Join(Table("t", "l"), Table("u", "r"), sql.TRUE, "LEFT ANTI JOIN")),
            'SELECT "a" FROM t l ANTI JOIN u r ON true',
        ),
    ],
)
def test_queries(query: Query, expected: str) -> None:
    assert sql.write(query, DUCKDB) == expected


@pytest.mark.parametrize(
    ("expr", "reason"),
    [
        (sql.call("approx_count_distinct", A), "function approx_count_distinct"),
        (sql.call("rand"), "function rand"),
        (A.cast("BINARY"), "type BINARY"),
        (A.cast("BOOLEAN", of="DOUBLE"), "cast DOUBLE AS BOOLEAN"),
        (A.rlike(text("(?=a)")), r"regular expression \(\?=a\)"),
        (A.rlike(B), "is computed"),
        (text("a\0"), r"U\+0000"),
        (A + name("A"), "names a and A apart"),
        (sql.call("date_format", A, text("yyyy")), "function date_format"),
    ],
)
def test_a_part_without_an_exact_counterpart_is_refused(expr: Expr, reason: str) -> None:
    with pytest.raises(Unsupported, match=reason):
        sql.write_expression(expr, DUCKDB)


def test_spark_keeps_its_own_names() -> None:
    written = [sql.exact("+", A, B), sql.call("exact_sum", A), A.cast("STRING", of="DOUBLE")]
    assert [sql.write_expression(expr) for expr in written] == ["`a` + `b`", "sum(`a`)", "CAST(`a` AS STRING)"]


QUERIES = """
SELECT ?a ?b { ?a :p ?b MINUS { ?a :q ?c } }
SELECT ?a ?c { ?a :p ?b OPTIONAL { ?b :q ?c FILTER(?c > ?a) } }
SELECT ?a (SUM(?b) AS ?s) (AVG(DISTINCT ?b) AS ?v) { ?a :p ?b } GROUP BY ?a HAVING (COUNT(*) > 1)
SELECT ?a (MIN(?b) AS ?s) (GROUP_CONCAT(DISTINCT ?b) AS ?v) { ?a :p ?b } GROUP BY ?a
SELECT DISTINCT ?a { { ?a :p ?b } UNION { ?b :q ?a } FILTER EXISTS { ?a :p 5 } } ORDER BY DESC(?a) LIMIT 5
SELECT ?a { ?a :p ?b VALUES (?b ?v) { (5 "five") (7 UNDEF) } FILTER(?b IN (1, 2.5, "x")) }
SELECT ?a { GRAPH ?g { ?a :p ?b } BIND(YEAR(?b) + ?b / 3 AS ?n) FILTER(?n > 2) }
""".strip().splitlines()


@pytest.mark.parametrize("query", QUERIES)
def test_duckdb_plans_compiled_queries(query: str) -> None:
    written = sql.written(compiled(query), DUCKDB)
    with connection(written.functions) as found:
        found.execute("CREATE TABLE triples (s VARCHAR, p VARCHAR, o VARCHAR)")
        found.execute("CREATE TABLE quads (g VARCHAR, s VARCHAR, p VARCHAR, o VARCHAR)")
        assert found.execute(written.text).fetchall() == []


FORMS = [*map(str, DUCKDB.functions.values()), *DUCKDB.operators.values(), *DUCKDB.casts.values()]


@pytest.mark.parametrize("function", sorted(duckdb_functions.FUNCTIONS))
def test_every_registered_function_is_called_by_the_dialect_or_a_macro(function: str) -> None:
    called = {name for names in duckdb_functions.CALLS.values() for name in names}
    assert function in called | {DUCKDB.added_function(form) for form in FORMS}


@pytest.mark.parametrize("form", [form for form in FORMS if "penstock_" in form])
def test_a_form_that_calls_an_added_function_begins_with_its_name(form: str) -> None:
    name = DUCKDB.added_function(form)
    assert re.findall(r"penstock_\w+", form) == [name]
    assert name in duckdb_functions.FUNCTIONS


@pytest.mark.parametrize("macro", sorted(duckdb_functions.FUNCTIONS))
def test_the_functions_that_a_macro_calls_are_declared(macro: str) -> None:
    called = re.findall(r"penstock_\w+", duckdb_functions.FUNCTIONS[macro])
    assert set(duckdb_functions.CALLS.get(macro, ())) == set(called)


def test_a_text_knows_the_functions_that_duckdb_lacks() -> None:
    upper = sql.call("upper", sql.Cast(A, "STRING", "DOUBLE"))
    inner = Select([sql.alias(sql.call("lower", A), "a")], Table("t"), where=A.eq(upper))
    written = sql.written(Select([sql.call("max", sql.name("a"))], Derived(inner, "x")), DUCKDB)
    assert written.functions == {"penstock_lower", "penstock_upper", "penstock_double_text"}
    assert sql.written(inner, sql.SPARK).functions == frozenset()


def test_only_functions_that_a_text_calls_are_registered() -> None:
    with duckdb.connect() as found:
        duckdb_functions.register(found, ["penstock_lower"])
        macros = "SELECT function_name FROM duckdb_functions() WHERE function_name LIKE 'penstock%' ORDER BY ALL"
        assert found.execute(macros).fetchall() == [("penstock_lower",), ("penstock_unicode_lower",)]
        assert found.execute("SELECT penstock_lower('AÀ')").fetchall() == [("aà",)]


def test_derived_tables_of_unions() -> None:
    union = sql.union_all([Select([A], Table("t")), Select([A], Table("u"), limit=1)])
    assert sql.write(Select([A], Derived(union, "x")), DUCKDB) == (
        'SELECT "a" FROM (SELECT "a" FROM t UNION ALL (SELECT "a" FROM u LIMIT 1)) x'
    )
