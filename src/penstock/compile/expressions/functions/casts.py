"""Constructor functions: https://www.w3.org/TR/sparql11-query/#FunctionMapping."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from penstock.compile import sql
from penstock.compile.expressions import term_columns
from penstock.compile.expressions.functions.arithmetic import truncated
from penstock.compile.expressions.functions.moments import valid
from penstock.compile.expressions.functions.terms import string_of
from penstock.compile.expressions.values import (
    DECIMAL,
    DOUBLE,
    EXACT,
    FLOAT,
    INTEGER,
    KIND_NAMES,
    Node,
    Number,
    Text,
    Truth,
    Value,
    as_boolean,
    boolean,
    nonzero,
    number,
    single,
    term,
    text,
)
from penstock.compile.sql import Expr, Operand, let
from penstock.model import term_encoding


def _truth_as(value: Value, yes: Operand, no: Operand) -> Expr:
    condition = as_boolean(value)
    return sql.case((condition, yes), (~condition, no))


def _parsed(value: Value, kind: int) -> Number:
    """Return a plain string, read as a literal of the target type."""
    return number(Node(let(term_columns.typed(_trimmed(value), KIND_NAMES[kind]))))


def _trimmed(value: Value) -> Expr:
    """Return a plain string without the white space that XML Schema ignores."""
    return sql.call("btrim", text(value), sql.text(" \t\n\r"))


def _to_exact(kind: int) -> Callable[[Value], Number]:
    def emit(value: Value) -> Number:
        n, parsed = number(value), _parsed(value, kind)
        real = None if n.real is None else sql.when(~sql.call("isnan", n.real), n.real).cast(EXACT, of="DOUBLE")
        sources = [source for source in (n.exact, real, parsed.exact) if source is not None]
        exact = let(sql.coalesce(*sources, _truth_as(value, 1, 0).cast(EXACT)))
        return Number(kind, truncated(exact) if kind == INTEGER else exact, None)

    return emit


def _to_real(kind: int) -> Callable[[Value], Number]:
    def emit(value: Value) -> Number:
        truth = _truth_as(value, sql.double("1.0"), sql.double("0.0"))
        parsed = [form for form in (_parsed(value, kind).real,) if form is not None]
        real = let(sql.coalesce(number(value).as_real(), *parsed, truth))
        return Number(kind, None, single(real) if kind == FLOAT else real)

    return emit


def _to_boolean(value: Value) -> Truth:
    if isinstance(value, Truth):
        return value
    of_text = boolean(let(term_columns.typed(_trimmed(value), "boolean")))
    return Truth(sql.coalesce(nonzero(number(value)), of_text, boolean(term(value))))


def _to_moment(datatype: str, other: str, pattern: str, replacement: str) -> Callable[[Value], Node]:
    """Return the cast from a string, and from the other type by replacing the pattern in its lexical form."""

    def emit(value: Value) -> Node:
        encoded = term(value)
        lexical = term_columns.lexical(encoded)
        replaced = sql.call("regexp_replace", lexical, sql.text(pattern), sql.text(replacement))
        forms = sql.case(
            (term_columns.is_plain(encoded), _trimmed(value)),
            (term_columns.has_type(encoded, datatype), lexical),
            (term_columns.has_type(encoded, other), replaced),
        )
        return Node(valid(let(term_columns.typed(forms, datatype))))

    return emit


def _to_string(value: Value) -> Text:
    """Return numbers and booleans in canonical form, other terms as STR does."""
    if not isinstance(value, Node):
        return string_of(replace(value, term=None) if isinstance(value, Number) else value)
    canonical = term(replace(number(value), term=None))
    truth = boolean(value.sql)
    return Text(let(sql.coalesce(string_of(Node(canonical)).sql, truth.cast("STRING"), string_of(value).sql)))


_CASTS: dict[str, Callable[[Value], Value]] = {
    "boolean": _to_boolean,
    "integer": _to_exact(INTEGER),
    "decimal": _to_exact(DECIMAL),
    "float": _to_real(FLOAT),
    "double": _to_real(DOUBLE),
    "string": _to_string,
    "dateTime": _to_moment("dateTime", "date", "^(-?[0-9]+-[0-9]{2}-[0-9]{2})", "$1T00:00:00"),
    "date": _to_moment("date", "dateTime", "T[0-9:.]+", ""),
}

FUNCTIONS: dict[str, Callable[..., Value]] = {term_encoding.XSD + name: cast for name, cast in _CASTS.items()}
