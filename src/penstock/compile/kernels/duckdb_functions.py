"""The functions that texts of DuckDB's dialect call and DuckDB lacks: macros, and Python functions on Arrow columns for
rare values. Also the settings that the texts rely on."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection, Iterable
from decimal import ROUND_HALF_UP, Context, Decimal
from typing import Any

import duckdb
import pyarrow as pa
from duckdb.func import ARROW, SPECIAL

from penstock.compile.kernels import java_numbers
from penstock.syntax import iri

__all__ = ["CALLS", "FUNCTIONS", "connect", "quoted", "register"]

_SETTINGS = (
    "SET GLOBAL TimeZone = 'UTC'",
    "SET GLOBAL error_on_division_by_zero = false",
    # It copies expressions into each other: planning a MAX of terms took half a minute. Our plans have partial
    # aggregates already.
    "SET GLOBAL disabled_optimizers = 'partial_aggregate_pushdown'",
    "SET GLOBAL python_enable_replacements = false",
)
# A text reads the files that it is given, and nothing else: no other file, no host, no extension.
_LOCKED = ("SET enable_external_access = false", "SET lock_configuration = true")
_NO_EXTENSIONS = dict.fromkeys(
    ("autoinstall_known_extensions", "autoload_known_extensions", "allow_community_extensions"), "false"
)

BOUNDS = ("after", "through")  # of a span


def connect(memory: int, folders: Iterable[str] = ()) -> duckdb.DuckDBPyConnection:
    """Return a database in memory with the settings that texts of the dialect rely on. It can read files in these
    folders, and nothing else; no text can change that. The bounds of the span are variables of a connection."""
    config: dict[str, str | bool | int | float | list[str]] = {
        "memory_limit": f"{memory}MiB",
        "threads": 1,
        **_NO_EXTENSIONS,
    }
    connection = duckdb.connect(":memory:", config=config)
    readable = f"SET allowed_directories = [{', '.join(map(quoted, folders))}]"
    macros = [f"CREATE MACRO span_{bound}() AS getvariable('{bound}')" for bound in BOUNDS]
    for statement in (*_SETTINGS, *macros, readable, *_LOCKED):
        connection.execute(statement)
    return connection


def quoted(text: str) -> str:
    """Return a string literal of DuckDB's."""
    return "'" + text.replace("'", "''") + "'"


def register(
    connection: duckdb.DuckDBPyConnection, names: Iterable[str], java: int = 17, known: Collection[str] = ()
) -> frozenset[str]:
    """Register these functions with a connection, and those that they call; others would only cost time.

    `java` is the version of Spark's Java, which decides how doubles are written. The connection has the `known`
    functions already. Returns the names of all functions that it has now.
    """
    functions = _FUNCTIONS | (_NUMBERS if java >= _SHORTEST_SINCE else _OLD_NUMBERS)
    present = dict.fromkeys(known)

    def add(name: str) -> None:
        if name in present:
            return
        for called in CALLS.get(name, ()):
            add(called)
        present[name] = None
        if name in _MACROS:
            connection.execute(f"CREATE OR REPLACE MACRO {name}{_MACROS[name]}")
            return
        function, parameters, result = functions[name]
        function.__annotations__.clear()  # DuckDB would look their names up, which a worker need not know
        connection.create_function(name, function, list(parameters), result, type=ARROW, null_handling=SPECIAL)

    for name in names:
        add(name)
    return frozenset(present)


# A decimal is an integer of units of 10^-18. Spark rounds a quotient to 38 digits after the point and then to 18. If
# the divisor is a whole number, or less than 10^20 units, no quotient is so close to a half that this matters.
_UNIT = "1000000000000000000::HUGEINT"
_MACROS = {
    "penstock_date_text": """(d) AS CASE WHEN year(d) > 9999 THEN '+' || year(d)
        WHEN year(d) < 0 THEN '-' || lpad(CAST(-year(d) AS VARCHAR), 4, '0')
        ELSE lpad(CAST(year(d) AS VARCHAR), 4, '0') END || strftime(d, '-%m-%d')""",
    "penstock_double_text": """(x) AS CASE WHEN x = 0 OR abs(x) >= 0.001::DOUBLE AND abs(x) < 10000000::DOUBLE
        THEN CAST(x AS VARCHAR) ELSE penstock_java_double(x) END""",
    "penstock_exact": "(x) AS TRY_CAST(penstock_double_text(x) AS DECIMAL(38,18))",
    "penstock_half_up": "(n, d) AS n // d + CASE WHEN 2 * abs(n % d) >= abs(d) THEN sign(n) * sign(d) ELSE 0 END",
    "penstock_in_units": f"""(r) AS TRY_CAST(r // {_UNIT} AS DECIMAL(20,0))
        + CAST(r % {_UNIT} AS DECIMAL(18,0)) * 0.000000000000000001::DECIMAL(18,18)""",
    "penstock_lower": "(x) AS CASE WHEN strlen(x) = length(x) THEN lower(x) ELSE penstock_unicode_lower(x) END",
    "penstock_quotient": """(a, b) AS CASE WHEN b = 0 THEN NULL
        WHEN b = trunc(b) THEN penstock_in_units(penstock_half_up(penstock_units(a), CAST(trunc(b) AS HUGEINT)))
        WHEN abs(b) < 100 THEN penstock_in_units(penstock_small_quotient(penstock_units(a),
            CASE WHEN abs(b) < 100 THEN penstock_units(b) END))
        ELSE penstock_divide(a, b) END""",
    "penstock_seconds_text": """(m) AS CASE WHEN year(m) BETWEEN -9998 AND 9999 THEN
        lpad(penstock_year_of_era(m), 4, '0') ELSE '+' || penstock_year_of_era(m) END
        || strftime(m, '-%m-%dT%H:%M:%S')""",
    "penstock_sequence": "(a, b) AS generate_series(a, b, CASE WHEN a <= b THEN 1 ELSE -1 END)",
    "penstock_single": """(x) AS coalesce(TRY_CAST(x AS FLOAT),
        CASE WHEN x > 0 THEN 'inf'::FLOAT WHEN x < 0 THEN '-inf'::FLOAT END)""",
    "penstock_small_quotient": f"""(a, b) AS CASE WHEN abs(a // b) < 100 * {_UNIT} THEN a // b * {_UNIT} END
        + penstock_half_up(a % b * {_UNIT}, b)""",
    "penstock_substring": "(x, a, n) AS CASE WHEN n < 0 THEN left(x, 0) ELSE substring(x, a, n) END",
    "penstock_total": "(w, f) AS TRY_CAST(w + floor(f) AS DECIMAL(38,18)) + (f - floor(f))",
    "penstock_units": f"""(a) AS CAST(trunc(a) AS HUGEINT) * {_UNIT}
        + CAST(CAST(a - trunc(a) AS DECIMAL(18,18)) * 1000000000000000000::DECIMAL(19,0) AS HUGEINT)""",
    "penstock_upper": "(x) AS CASE WHEN strlen(x) = length(x) THEN upper(x) ELSE penstock_unicode_upper(x) END",
    "penstock_year_of_era": "(m) AS CAST(CASE WHEN year(m) > 0 THEN year(m) ELSE 1 - year(m) END AS VARCHAR)",
    "penstock_url_encode": """(x) AS replace(replace(replace(url_encode(x), '%20', '+'), '%2A', '*'), '~', '%7E')""",
}
CALLS = {
    "penstock_double_text": ("penstock_java_double",),
    "penstock_exact": ("penstock_double_text",),
    "penstock_lower": ("penstock_unicode_lower",),
    "penstock_quotient": (
        "penstock_in_units",
        "penstock_half_up",
        "penstock_units",
        "penstock_small_quotient",
        "penstock_divide",
    ),
    "penstock_seconds_text": ("penstock_year_of_era",),
    "penstock_small_quotient": ("penstock_half_up",),
    "penstock_upper": ("penstock_unicode_upper",),
}
"""The functions that a macro calls, which have to be there before it."""


_EXACT = pa.decimal128(38, 18)
_WIDE = Context(prec=120, rounding=ROUND_HALF_UP)
_LIMIT = Decimal(10) ** 20
_SHORTEST_SINCE = 19

Column = Any  # an Arrow column
_Function = tuple[Callable[..., Column], tuple[str, ...], str]


def _of_one(function: Callable[[Any], str]) -> Callable[[Column], Column]:
    """Return the function on a column; null where the argument is null."""

    def on_column(column: Column) -> Column:
        return pa.array([None if cell is None else function(cell) for cell in column.to_pylist()], pa.string())

    return on_column


def _of_two(type: Any, function: Callable[[Any, Any], Any]) -> Callable[[Column, Column], Column]:
    """Return the function on two columns; null where an argument is null."""

    def on_columns(one: Column, other: Column) -> Column:
        rows = zip(one.to_pylist(), other.to_pylist(), strict=True)
        return pa.array([None if a is None or b is None else function(a, b) for a, b in rows], type)

    return on_columns


def _quotient(a: Decimal, b: Decimal) -> Decimal | None:
    """Return a / b as Spark computes it: with 38 digits after the point, then rounded to 18."""
    rounded = _WIDE.divide(a, b)
    for digits in (38, 18):
        rounded = rounded.quantize(Decimal(1).scaleb(-digits), context=_WIDE)
    return rounded if abs(rounded) < _LIMIT else None


def _texts(function: Callable[[Any], str], type: str = "VARCHAR") -> _Function:
    return _of_one(function), (type,), "VARCHAR"


def _numbers(write: Callable[[float, bool], str]) -> dict[str, _Function]:
    return {
        "penstock_java_double": _texts(lambda x: write(x, False), "DOUBLE"),
        "penstock_java_float": _texts(lambda x: write(x, True), "FLOAT"),
    }


_NUMBERS, _OLD_NUMBERS = _numbers(java_numbers.text), _numbers(java_numbers.old_text)
_FUNCTIONS: dict[str, _Function] = {
    "penstock_divide": (_of_two(_EXACT, _quotient), ("DECIMAL(38,18)", "DECIMAL(38,18)"), "DECIMAL(38,18)"),
    "penstock_resolve_iri": (_of_two(pa.string(), iri.resolve), ("VARCHAR", "VARCHAR"), "VARCHAR"),
    "penstock_sha384": _texts(lambda text: hashlib.sha384(text.encode()).hexdigest()),
    "penstock_sha512": _texts(lambda text: hashlib.sha512(text.encode()).hexdigest()),
    "penstock_unicode_lower": _texts(str.lower),
    "penstock_unicode_upper": _texts(str.upper),
}
FUNCTIONS: dict[str, str] = dict.fromkeys((*_FUNCTIONS, *_NUMBERS), "") | _MACROS
"""The names of all functions; of a macro also its text."""
