"""The functions that DuckDB gets: exact quotients and sums, numbers as text, case of letters."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import ROUND_HALF_UP, Context, Decimal
from typing import Any

import duckdb
import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.compile.kernels import duckdb_functions
from penstock.compile.kernels.java_numbers import old_text
from penstock.compile.sql import DUCKDB
from tests.support.terms import unhurried

UNIT = Decimal("1e-18")
WIDE = Context(prec=120, rounding=ROUND_HALF_UP)
decimals = st.one_of(
    st.integers(-(10**38) + 1, 10**38 - 1),
    st.integers(-(10**20), 10**20),
    st.integers(-(10**20) + 1, 10**20 - 1).map(lambda whole: whole * 10**18),
    st.sampled_from([0, 1, -1, 10**18, 5 * 10**17, 10**20, 10**20 + 1, 3 * 10**18, 10**38 - 1]),
).map(lambda units: WIDE.multiply(units, UNIT))


@pytest.fixture(scope="module")
def connection() -> Iterator[duckdb.DuckDBPyConnection]:
    with duckdb_functions.connect(1024) as found:
        duckdb_functions.register(found, duckdb_functions.FUNCTIONS)
        yield found


def asked(connection: duckdb.DuckDBPyConnection, text: str, *values: object) -> Any:
    row = connection.execute(f"SELECT {text}", list(values)).fetchone()
    assert row is not None
    return row[0]


@unhurried
@given(a=decimals, b=decimals)
def test_quotients_are_rounded_as_spark_rounds_them(
    connection: duckdb.DuckDBPyConnection, a: Decimal, b: Decimal
) -> None:
    written = DUCKDB.operators["exact /"].format(*[f"CAST('{x:f}' AS DECIMAL(38,18))" for x in (a, b)])
    expected = None
    if b:
        expected = WIDE.divide(a, b).quantize(Decimal("1e-38"), context=WIDE).quantize(UNIT, context=WIDE)
    assert asked(connection, written) == (expected if expected is None or abs(expected) < 10**20 else None)


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (("1.5", "-2.25", "0.000000000000000001"), Decimal("-0.749999999999999999")),
        (("99999999999999999999", "99999999999999999999"), None),
        (
            ("99999999999999999999.5", "99999999999999999999", "-99999999999999999999.75"),
            Decimal("99999999999999999998.75"),
        ),
        (("-0.5", "-0.5"), Decimal(-1)),
        ((), None),
    ],
)
def test_sums_are_exact_and_null_if_too_large(
    connection: duckdb.DuckDBPyConnection, values: tuple[str, ...], expected: Decimal | None
) -> None:
    rows = ", ".join(f"(CAST('{v}' AS DECIMAL(38,18)))" for v in (*values, "0"))
    form = str(DUCKDB.functions["exact_sum"])
    found = asked(connection, f"{form.format('x', over='')} FROM (VALUES {rows}) t(x) WHERE {bool(values)}")
    assert found == expected


@unhurried
@given(st.one_of(st.floats(), st.floats(1e-3, 1e7), st.floats(-1e7, -1e-3)))
def test_doubles_are_written_as_java_writes_them(connection: duckdb.DuckDBPyConnection, number: float) -> None:
    assert asked(connection, "penstock_double_text(CAST(? AS DOUBLE))", number) == old_text(number, single=False)


def test_doubles_of_later_versions_of_java() -> None:
    with duckdb.connect() as found:
        duckdb_functions.register(found, duckdb_functions.FUNCTIONS, java=21)
        assert asked(found, "penstock_double_text(CAST(2e23 AS DOUBLE))") == "2.0E23"


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        ("penstock_lower('ABC')", "abc"),
        ("penstock_lower('ΑΣ')", "ας"),
        ("penstock_upper('straße')", "STRASSE"),
        ("penstock_upper(NULL)", None),
        ("penstock_substring('abc', 2, -1)", ""),
        ("penstock_substring('abc', 2, 1)", "b"),
        ("penstock_substring('abc', 2, NULL)", None),
        ("penstock_sequence(3, 1)", [3, 2, 1]),
        ("penstock_sequence(NULL, 1)", None),
        ("penstock_single(CAST(1e39 AS DOUBLE))", float("inf")),
        ("penstock_single(CAST(-1e39 AS DOUBLE))", float("-inf")),
        ("penstock_exact(CAST('inf' AS DOUBLE))", None),
        ("penstock_exact(CAST(0.1 AS DOUBLE))", Decimal("0.1")),
        ("penstock_date_text(DATE '2020-02-29')", "2020-02-29"),
        ("penstock_date_text(DATE '12020-02-29')", "+12020-02-29"),
        ("penstock_date_text(DATE '0045-03-15 (BC)')", "-0044-03-15"),
        ("penstock_seconds_text(make_timestamp(5))", "1970-01-01T00:00:00"),
        ("penstock_url_encode('a b*~/')", "a+b*%7E%2F"),
        ("penstock_resolve_iri('../x', 'http://e/a/b')", "http://e/x"),
        ("length(penstock_sha512('é'))", 128),
    ],
)
def test_values(connection: duckdb.DuckDBPyConnection, call: str, expected: object) -> None:
    assert asked(connection, call) == expected


def test_partial_aggregates_are_not_pushed_down() -> None:
    """DuckDB planned a MAX of terms above a join for half a minute with this optimiser."""
    with duckdb_functions.connect(1024) as made:
        (found,) = made.execute("SELECT current_setting('disabled_optimizers')").fetchone() or ("",)
    assert found == "partial_aggregate_pushdown"
