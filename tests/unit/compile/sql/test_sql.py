"""The writer of SQL: each node as text, parentheses where they are needed, quoting, and dialects as tables."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.compile import sql
from penstock.compile.sql import SPARK, Dialect, Expr, Join, Query, Select, Table, write, write_expression
from tests.support.terms import unhurried

_UNESCAPED = {"n": "\n", "r": "\r", "0": "\0", "Z": "\x1a"}
A, B, C = sql.name("a"), sql.name("b"), sql.name("c")
F = sql.call("f", A)
X = Select([A], Table("x"))
ONE = Select([A], Table("x"), limit=1)


def read(literal: str) -> str:
    """What Spark's parser makes of a string literal; an assertion where that would end before the text does."""
    assert re.fullmatch(r"'(?:[^'\\]|\\.)*'", literal, re.S)
    return re.sub(r"\\(.)", lambda m: _UNESCAPED.get(m[1], m[1]), literal[1:-1], flags=re.S)


@pytest.mark.parametrize(
    "text", ["'", "\\", "\\'", "' OR '1'='1", "a\nb\r", "\0", "\x1a", "\\n", "${x}", "`", "--", "\ue0001\ue001", ""]
)
def test_hostile_strings_stay_strings(text: str) -> None:
    assert read(write_expression(sql.text(text))) == text


@unhurried
@given(st.text())
def test_any_string_is_quoted(text: str) -> None:
    assert read(write_expression(sql.text(text))) == text


@pytest.mark.parametrize(("identifier", "quoted"), [("x", "`x`"), ("a`b", "`a``b`"), ("`", "````"), (".x0", "`.x0`")])
def test_names(identifier: str, quoted: str) -> None:
    assert write_expression(sql.name(identifier)) == quoted
    assert write_expression(sql.column("l", identifier)) == f"l.{quoted}"


@pytest.mark.parametrize(
    ("node", "text"),
    [
        (sql.lifted(5), "5"),
        (sql.lifted(-5), "-5"),
        (sql.lifted(2**31), "2147483648L"),
        (sql.lifted(10**20), "100000000000000000000BD"),
        (sql.long(5), "5L"),
        (sql.double("0.5"), "0.5D"),
        (sql.TRUE, "true"),
        (sql.NULL, "CAST(NULL AS STRING)"),
        (A.cast("BIGINT"), "CAST(`a` AS BIGINT)"),
        (sql.call("now"), "now()"),
        (sql.call("f", A, 1), "f(`a`, 1)"),
        (sql.Call("count", (A,), distinct=True), "count(DISTINCT `a`)"),
        (sql.arrow_call("penstock_f", A), "penstock_f(`a`)"),
        (A.is_null(), "`a` IS NULL"),
        (A.not_null(), "`a` IS NOT NULL"),
        (A.among([1, B]), "`a` IN (1, `b`)"),
        (A.not_among([sql.text("x")]), "`a` NOT IN ('x')"),
        (A.rlike(sql.text("^x")), "`a` RLIKE '^x'"),
        (A.same(B), "`a` <=> `b`"),
        (A.div(B), "`a` div `b`"),
        (sql.InQuery(A, X), "`a` IN (SELECT `a` FROM x)"),
        (sql.InQuery(A, X, negated=True), "`a` NOT IN (SELECT `a` FROM x)"),
        (sql.Scalar(X), "(SELECT `a` FROM x)"),
        (sql.struct(u=A, v=B), "named_struct('u', `a`, 'v', `b`)"),
        (sql.array(A, B), "array(`a`, `b`)"),
        (sql.Lambda(("x",), sql.Field(sql.Parameter("x"), "u") + 1), "x -> x.`u` + 1"),
        (sql.Lambda(("a", "x"), sql.Parameter("a") + sql.Parameter("x")), "(a, x) -> a + x"),
        (sql.Over(F), "f(`a`) OVER ()"),
        (sql.Over(F, [A], [B, sql.Order(C, True)]), "f(`a`) OVER (PARTITION BY `a` ORDER BY `b`, `c` DESC)"),
        (sql.Over(F, (), [B], "ROWS UNBOUNDED PRECEDING"), "f(`a`) OVER (ORDER BY `b` ROWS UNBOUNDED PRECEDING)"),
        (sql.alias(F, "x"), "f(`a`) AS `x`"),
        (sql.STAR, "*"),
        (sql.Star("e", ("s", "p")), "e.* EXCEPT (`s`, `p`)"),
        (sql.call("btrim", A, sql.text(" ")), "trim(BOTH ' ' FROM `a`)"),
        (sql.call("rtrim", A, sql.text("0")), "rtrim('0', `a`)"),
        (sql.let(sql.call("f", F)), "f(f(`a`))"),
    ],
)  # fmt: skip
def test_expressions(node: Expr, text: str) -> None:
    assert write_expression(node) == text


@pytest.mark.parametrize(
    ("node", "text"),
    [
        (A + B * C, "`a` + `b` * `c`"),
        ((A + B) * C, "(`a` + `b`) * `c`"),
        (A - B - C, "`a` - `b` - `c`"),
        (A - (B - C), "`a` - (`b` - `c`)"),
        (A / (B * C), "`a` / (`b` * `c`)"),
        (A % B % C, "`a` % `b` % `c`"),
        (-A, "-`a`"),
        (-sql.Prefix("-", A), "-(-`a`)"),
        (-sql.lifted(-5), "-(-5)"),  # two signs side by side begin a comment
        (A - sql.lifted(-5), "`a` - -5"),
        (-(A + B), "-(`a` + `b`)"),
        (-A * B, "-`a` * `b`"),
        ((A + B) < C, "`a` + `b` < `c`"),
        ((A < B).eq(B < C), "(`a` < `b`) = (`b` < `c`)"),
        ((A < B).is_null(), "(`a` < `b`) IS NULL"),
        ((A + B).is_null(), "`a` + `b` IS NULL"),
        (A.is_null().eq(sql.TRUE), "(`a` IS NULL) = true"),
        (~A, "NOT `a`"),
        (~A.is_null(), "NOT `a` IS NULL"),
        (~(A & B), "NOT (`a` AND `b`)"),
        (~(~A), "NOT (NOT `a`)"),
        ((~A) & B, "NOT `a` AND `b`"),
        ((~A).eq(B), "(NOT `a`) = `b`"),
        ((A | B) & C, "(`a` OR `b`) AND `c`"),
        ((A & B) | C, "`a` AND `b` OR `c`"),
        (A.eq(1) & B.eq(2), "`a` = 1 AND `b` = 2"),
        (A.among([1]).cast("INT"), "CAST(`a` IN (1) AS INT)"),
        ((A | B).among([sql.TRUE]), "(`a` OR `b`) IN (true)"),
        (sql.when(A | B, A & B) + 1, "CASE WHEN `a` OR `b` THEN `a` AND `b` END + 1"),
        (sql.let(A + B) * C, "(`a` + `b`) * `c`"),
    ],
)  # fmt: skip
def test_parentheses_stand_where_they_are_needed(node: Expr, text: str) -> None:
    assert write_expression(node) == text


@pytest.mark.parametrize(
    ("query", "text"),
    [
        (Select(()), "SELECT 1 AS `.unit`"),
        (Select([A], None, sql.FALSE), "SELECT `a` WHERE false"),
        (Select([A], X, A > 1), "SELECT `a` FROM (SELECT `a` FROM x) t WHERE `a` > 1"),
        (Select([A], Table("x", "l"), distinct=True), "SELECT DISTINCT `a` FROM x l"),
        (
            Select([A, F], Table("x"), B, group=[A], having=F > 1, order=[sql.Order(A, True)], limit=5, offset=2),
            "SELECT `a`, f(`a`) FROM x WHERE `b` GROUP BY `a` HAVING f(`a`) > 1 ORDER BY `a` DESC LIMIT 5 OFFSET 2",
        ),
        (
            Select([A], Join(Table("x", "l"), sql.Derived(X, "r"), B, "LEFT JOIN"), hints=[("BROADCAST", ("r",))]),
            "SELECT /*+ BROADCAST(r) */ `a` FROM x l LEFT JOIN (SELECT `a` FROM x) r ON `b`",
        ),
        (Select([sql.STAR], Table("x"), hints=[("REPARTITION", (8, A))]), "SELECT /*+ REPARTITION(8, `a`) */ * FROM x"),
        (Select([A], Join(Table("x"), Table("y"), None)), "SELECT `a` FROM x JOIN y"),
        (
            Select([A], Join(Table("x"), Join(Table("y"), Table("z"), B), A)),
            "SELECT `a` FROM x JOIN (y JOIN z ON `b`) ON `a`",
        ),
        (X.spread_by([A]), "SELECT `a` FROM x DISTRIBUTE BY `a`"),
        (
            Select([A], sql.Values([(sql.text("u"), sql.NULL), (sql.text("v"), sql.NULL)], ("a", "b"))),
            "SELECT `a` FROM VALUES ('u', CAST(NULL AS STRING)), ('v', CAST(NULL AS STRING)) AS t(`a`, `b`)",
        ),
        (Select((), sql.Numbers(3)), "SELECT 1 AS `.unit` FROM range(3)"),
        (sql.union_all([X, X]), "SELECT `a` FROM x UNION ALL SELECT `a` FROM x"),
        (sql.union_all([X]), "SELECT `a` FROM x"),
        (sql.Union([X, X], all=False), "SELECT `a` FROM x UNION SELECT `a` FROM x"),
        (sql.union_all([X, ONE]), "SELECT `a` FROM x UNION ALL (SELECT `a` FROM x LIMIT 1)"),
        (sql.view("v"), "SELECT * FROM v"),
    ],
)  # fmt: skip
def test_queries(query: Query, text: str) -> None:
    assert write(query) == text


def test_conditions_of_nothing_and_of_one() -> None:
    assert (sql.all_of([]), sql.any_of([])) == (sql.TRUE, sql.FALSE)
    assert (sql.all_of([A]), sql.any_of([B])) == (A, B)


def test_case() -> None:
    assert write_expression(sql.case((A, 1), (B, 2), otherwise=3)) == "CASE WHEN `a` THEN 1 WHEN `b` THEN 2 ELSE 3 END"
    assert write_expression(sql.when(A, 1)) == "CASE WHEN `a` THEN 1 END"


def test_coalesce_of_one_is_that_one() -> None:
    assert sql.coalesce(A) is A
    assert write_expression(sql.coalesce(A, B)) == "coalesce(`a`, `b`)"


# Another dialect is other rows in the tables, and no other code.

OTHER = Dialect(
    "other",
    quote='"',
    escapes={"'": "''"},
    literals={"INT": "{}", "BIGINT": "CAST({} AS BIGINT)", "DECIMAL": "{}", "DOUBLE": "{}"},
    functions={"explode": "unnest", "sequence": "generate_series", "btrim": "trim({0}, {1})"},
    operators={"<=>": "IS NOT DISTINCT FROM", "div": "//", "RLIKE": "regexp_matches({0}, {1})"},
    types={"STRING": "VARCHAR"},
    joins={"LEFT SEMI JOIN": "SEMI JOIN"},
    struct=("{", "{name}: {value}", "}"),
    without="EXCLUDE ({})",
    values="(VALUES {rows}) AS {alias}({columns})",
)


@pytest.mark.parametrize(
    ("node", "text"),
    [
        (sql.name('a"b'), '"a""b"'),
        (sql.text("it's \\n"), "'it''s \\n'"),
        (sql.long(5), "CAST(5 AS BIGINT)"),
        (sql.call("explode", sql.call("sequence", A, B)), 'unnest(generate_series("a", "b"))'),
        (sql.call("btrim", A, B), 'trim("a", "b")'),
        (A.same(B), '"a" IS NOT DISTINCT FROM "b"'),
        ((A + B).div(C), '("a" + "b") // "c"'),
        (~A.rlike(B), 'NOT regexp_matches("a", "b")'),
        (A.cast("STRING"), 'CAST("a" AS VARCHAR)'),
        (sql.Star("e", ("s",)), 'e.* EXCLUDE ("s")'),
        (sql.struct(u=A, v=B + 1), """{'u': "a", 'v': "b" + 1}"""),
    ],
)
def test_a_difference_between_dialects_is_a_row_in_a_table(node: Expr, text: str) -> None:
    assert write_expression(node, OTHER) == text


def test_hints_that_a_dialect_does_not_know_are_left_out() -> None:
    hinted = Select([A], Join(Table("x", "l"), Table("y", "r"), B, "LEFT SEMI JOIN"), hints=[("BROADCAST", ("r",))])
    assert write(hinted, OTHER) == 'SELECT "a" FROM x l SEMI JOIN y r ON "b"'
    assert write(X.spread_by([A]), OTHER) == 'SELECT "a" FROM x'
    assert "BROADCAST" not in write(hinted, replace(SPARK, hints=frozenset()))


# Facts


def test_expressions_know_whether_they_are_volatile() -> None:
    assert sql.call("concat", A, sql.call("uuid")).volatile
    assert sql.Over(sql.call("row_number"), [A]).volatile
    assert sql.let(sql.call("f", sql.call("rand"))).volatile
    assert not sql.call("concat", A, sql.text("uuid() LIMIT 1")).volatile


def test_queries_know_whether_they_are_volatile() -> None:
    assert Select([A], Table("x"), limit=1).volatile
    assert Select([A], Table("x"), offset=1).volatile
    assert Select([A], Select([sql.alias(sql.call("uuid"), "a")], Table("x"))).volatile
    assert sql.union_all([X, Select([A], Table("x"), limit=1)]).volatile
    assert Select([A], Join(Table("x"), sql.Derived(Select([A], Table("x"), limit=1)), None)).volatile
    assert Select([A], Table("x"), sql.InQuery(A, Select([A], Table("x"), limit=1))).volatile
    assert not Select([sql.name("LIMIT ")], Table("x"), A.eq(sql.text("uuid() LIMIT 1"))).volatile


def test_expressions_know_the_sides_that_they_read() -> None:
    one, other = sql.column("l", "x"), sql.column("r", "x")
    assert sql.call("f", one, 1).sides == {"l"}
    assert sql.let(sql.call("f", one.eq(other))).sides == {"l", "r"}
    assert sql.call("f", A, sql.text("l.`x`"), sql.column("t", "x")).sides == frozenset()


def test_expressions_know_whether_they_call_an_arrow_function() -> None:
    assert sql.when(sql.let(sql.arrow_call("penstock_f", A)).not_null(), 1).calls_arrow
    assert not sql.call("f", sql.text("penstock_f("), sql.name("penstock_")).calls_arrow


def test_queries_know_whether_rows_hold_always() -> None:
    always = sql.alias(sql.Literal(-1, "BIGINT", facts=sql.ALWAYS).cast("BIGINT"), "from")
    assert Select([sql.STAR], sql.union_all([X, Select([always], Table("x"))])).holds_always
    assert not Select([sql.alias(sql.long(-1).cast("BIGINT"), "from")], Table("x")).holds_always


def test_a_scalar_subquery_does_not_expose_its_join_sides() -> None:
    inner = Select([sql.column("l", "x")], Table("y", "l"))
    assert sql.Scalar(inner).sides == frozenset()
    assert not sql.Scalar(inner).volatile


def test_columns_of_queries() -> None:
    assert Select([A, sql.alias(F, "x"), sql.column("l", "y")], Table("x")).columns == ("a", "x", "y")
    assert sql.union_all([X, X]).columns == ("a",)
    assert sql.view("v").columns is None


def test_equal_parts_make_equal_nodes() -> None:
    assert sql.call("f", A, 1) == sql.call("f", sql.name("a"), 1)
    assert hash(sql.call("f", A)) == hash(sql.call("f", sql.name("a")))
    different = [
        A,
        B,
        sql.column("l", "a"),
        sql.text("a"),
        sql.call("a"),
        A + B,
        A - B,
        B + A,
        A.is_null(),
        A.not_null(),
    ]
    assert len(set(different)) == len(different)
