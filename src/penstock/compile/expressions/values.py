"""Typed values: the SQL of an expression with its type, as far as that is known before any row is read.

SPARQL types values at run time. Emitting that for every operator would nest CASEs without end, so a value carries its
type where that is known (`Truth`, `Text`, `Number`), and only a `Node` (any term) is inspected at run time. NULL is
SPARQL's error, and an unbound variable: with that, SQL's AND, OR and NOT are exactly SPARQL's, and so is COALESCE.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache

from pyoxigraph import Literal

from penstock.algebra.durations import lengths
from penstock.algebra.expressions import Term
from penstock.compile import sql
from penstock.compile.expressions import term_columns
from penstock.compile.sql import Expr, let
from penstock.model import term_encoding

INTEGER, DECIMAL, FLOAT, DOUBLE = 1, 2, 3, 4
EXACT = "DECIMAL(38,18)"
_BITS = {"byte": 8, "short": 16, "int": 32, "long": 64}
_LIMIT = 10**20  # bound on the values of EXACT
RANGES: dict[str, tuple[int, int]] = {  # of the types derived from xsd:integer
    **{name: (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1) for name, bits in _BITS.items()},
    **{f"unsigned{name.capitalize()}": (0, 2**bits - 1) for name, bits in _BITS.items()},
    "nonNegativeInteger": (0, _LIMIT),
    "positiveInteger": (1, _LIMIT),
    "nonPositiveInteger": (-_LIMIT, 0),
    "negativeInteger": (-_LIMIT, -1),
}
KIND_NAMES = {INTEGER: "integer", DECIMAL: "decimal", FLOAT: "float", DOUBLE: "double"}

_INTEGER_FORM = "[+-]?[0-9]+"
_DECIMAL_FORM = r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)"
_DOUBLE_FORM = r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?|[+-]?INF|NaN"


@dataclass(frozen=True, slots=True)
class Node:
    """Any term, encoded."""

    sql: Expr


@dataclass(frozen=True, slots=True)
class Truth:
    """An xsd:boolean, as a SQL boolean."""

    sql: Expr


@dataclass(frozen=True, slots=True)
class Text:
    """An xsd:string, as its lexical form."""

    sql: Expr
    constant: str | None = None  # the string itself, if the query gives it


@dataclass(frozen=True, slots=True)
class Number:
    """A numeric value: integers and decimals in `exact`, floats and doubles in `real`, exactly one of them not NULL.

    `kind` (INTEGER to DOUBLE, by promotion order) is an int where it is known, else SQL. An impossible side is None.
    """

    kind: int | Expr
    exact: Expr | None
    real: Expr | None
    term: Expr | None = None  # the encoded term, if it need not be written from the number

    @property
    def constant(self) -> bool:
        """Whether the query gives the number; a constant that is no number is read like any term."""
        known = (self.exact is None) != (self.real is None)
        return known and isinstance(self.term, sql.Literal)

    @property
    def counted(self) -> bool:
        """Whether equal numbers are equal terms: integers in every row, in canonical form."""
        return self.kind == INTEGER and self.real is None and not self.constant

    def as_real(self) -> Expr:
        """Return the value as a double, promoted if necessary."""
        promoted = _NO_REAL if self.exact is None else self.exact.cast("DOUBLE", of="DECIMAL")
        if self.real is None:
            return promoted
        return self.real if self.exact is None else let(sql.coalesce(self.real, promoted))

    def is_kind(self, *kinds: int) -> Expr:
        return sql.lifted(self.kind).among(kinds)


@dataclass(frozen=True, slots=True)
class Instant:
    """An xsd:dateTime in UTC, as microseconds since 1970."""

    micros: Expr


@dataclass(frozen=True, slots=True)
class Length:
    """An xsd:duration in microseconds; `low` and `high` differ if it has months, which have no fixed length."""

    low: Expr
    high: Expr
    term: Expr | None = None  # the encoded term, if it need not be written


Value = Node | Truth | Text | Number | Instant | Length
NOTHING = Node(sql.NULL)
_NO_REAL = sql.null("DOUBLE")
_EMPTY = sql.text("")


def of_term(term: Term) -> Value:
    """Return the value of a constant, with its type known."""
    encoded = term_columns.constant(term)
    if not isinstance(term, Literal):
        return Node(encoded)
    datatype = term.datatype.value
    if datatype == term_encoding.STRING:
        return Text(sql.text(term.value), term.value)
    if datatype == term_encoding.XSD + "boolean" and term.value in ("true", "false"):
        return Truth(sql.TRUE if term.value == "true" else sql.FALSE)
    local = datatype.removeprefix(term_encoding.XSD)
    if local.lower().endswith("duration"):
        length = lengths(term)
        return Node(encoded) if length is None else Length(sql.long(length[0]), sql.long(length[1]), encoded)
    return _constant_number(term.value, local, encoded) if local in _KIND_OF else Node(encoded)


_FORM_OF = {INTEGER: _INTEGER_FORM, DECIMAL: _DECIMAL_FORM, FLOAT: _DOUBLE_FORM, DOUBLE: _DOUBLE_FORM}
_TYPES_OF = {INTEGER: "|".join(term_encoding.INTEGER_TYPES), DECIMAL: "decimal", FLOAT: "float", DOUBLE: "double"}


def _tail_form(kind: int) -> str:
    return rf'"\^\^<{re.escape(term_encoding.XSD)}(?:{_TYPES_OF[kind]})>$'


def _lexical_form(kind: int) -> str:
    """Return the pattern of a valid lexical form, as its first group."""
    return rf"^({_FORM_OF[kind]})\z"


_KIND_OF = {**dict.fromkeys(term_encoding.INTEGER_TYPES, INTEGER), "decimal": DECIMAL, "float": FLOAT, "double": DOUBLE}


def _constant_number(lexical: str, datatype: str, encoded: Expr) -> Value:
    """Return the number of a literal; a plain term if the form is invalid or the number too large."""
    kind, literal = _KIND_OF[datatype], sql.text(lexical)
    if not re.fullmatch(_FORM_OF[kind], lexical) or (kind <= DECIMAL and not _fits(Decimal(lexical), datatype)):
        return Node(encoded)
    if kind <= DECIMAL:
        return Number(kind, literal.cast(EXACT), None, encoded)
    return Number(kind, None, literal.cast("DOUBLE" if kind == DOUBLE else "FLOAT").cast("DOUBLE"), encoded)


def _fits(exact: Decimal, datatype: str) -> bool:
    low, high = RANGES.get(datatype, (-_LIMIT, _LIMIT))
    return max(low, -_LIMIT + 1) <= exact <= min(high, _LIMIT - 1)


def number(value: Value) -> Number:
    """Return the numeric view of a value; all NULL if it is no number."""
    match value:
        case Number():
            return value
        case Node(term):
            return _read_number(term)
    return Number(INTEGER, sql.null(EXACT), None)


@lru_cache(maxsize=1024)
def _read_number(term: Expr) -> Number:
    """Return the number of a term: a regular expression checks the form and finds the digits.

    The ends of the strings are compared first, which spares most rows all expressions but one. Only for the rarer
    integer types the expression checks the datatype as well, which takes longer.
    """
    double, float_, decimal, integer = (sql.call("endswith", term, _ENDS[k]) for k in (DOUBLE, FLOAT, DECIMAL, INTEGER))
    rare = sql.when(_is_typed(term), sql.call("regexp_extract", term, _ANY_INTEGER, 1))
    digits = sql.case((integer, _found(term, INTEGER)), (decimal, _found(term, DECIMAL)), otherwise=rare)
    exact = sql.when(~double, digits.cast(EXACT))
    real = sql.case(
        (double, _found(term, DOUBLE).cast("DOUBLE")),
        (float_, _found(term, FLOAT).cast("FLOAT").cast("DOUBLE")),
    )
    return Number(let(_kind(term)), let(exact), let(real), term)


def count(term: Expr) -> Number:
    """Return the number of a term that COUNT has written, without a check of its type."""
    return Number(INTEGER, let(_before(term, _TYPE_ENDS[INTEGER]).cast(EXACT)), None, term)


def single(real: Expr) -> Expr:
    """Return a double rounded to the precision of a float."""
    return real.cast("FLOAT", of="DOUBLE").cast("DOUBLE")


def _found(term: Expr, kind: int) -> Expr:
    """Return the lexical form of a literal of the kind's own datatype; empty if it is invalid."""
    return sql.call("regexp_extract", _before(term, _TYPE_ENDS[kind]), _FORMS[kind], 1)


def _before(term: Expr, end: str) -> Expr:
    """Return the lexical form of a literal with that end."""
    return sql.call("substring", term, 2, sql.call("length", term) - (len(end) + 2))


def _kind(term: Expr) -> Expr:
    """Return the numeric type: the common ones by one comparison each, the rarer integer types by one expression."""
    common = ((sql.call("endswith", term, end), k) for k, end in _ENDS.items())
    return sql.case(*common, (_is_typed(term) & term.rlike(_INTEGER_TAIL), INTEGER))


def _is_typed(term: Expr) -> Expr:
    """Whether the term is a literal with a datatype; IRIs and strings, which are the most, take no further time."""
    return sql.call("endswith", term, _CLOSED) & term_columns.is_literal(term)


_TYPE_ENDS = {kind: term_encoding.tail_of(name) for kind, name in KIND_NAMES.items()}
_ENDS = {kind: sql.text(end) for kind, end in _TYPE_ENDS.items()}
_CLOSED = sql.text(">")
_INTEGER_TAIL = sql.text(_tail_form(INTEGER))
_FORMS = {kind: sql.text(_lexical_form(kind)) for kind in _ENDS}
_ANY_INTEGER = sql.text(f'^"({_INTEGER_FORM}){_tail_form(INTEGER)}')


def term(value: Value) -> Expr:
    """Return the encoded term of a value."""
    match value:
        case Node(encoded):
            return encoded
        case Truth(condition):
            return let(term_columns.typed(condition.cast("STRING"), "boolean"))
        case Text(lexical):
            return let(term_columns.plain(lexical))
        case Number(_, _, _, Expr() as encoded):
            return encoded
        case Number():
            return let(_write_number(value))
        case Instant(micros):
            return let(_write_instant(micros))
        case Length(_, _, Expr() as encoded):
            return encoded
        case Length(micros):
            return let(_write_length(micros))


def _write_instant(micros: Expr) -> Expr:
    """Return the canonical form of a dateTime: without trailing zeros in the fraction, and without an empty
    fraction."""
    moment = sql.call("timestamp_micros", micros)
    seconds = sql.call("date_format", moment, sql.text("yyyy-MM-dd'T'HH:mm:ss"))
    fraction = _without_last("0", sql.call("date_format", moment, sql.text(".SSSSSS")))
    whole, zone = sql.call("pmod", micros, 1_000_000).eq(0), sql.text("Z")
    return sql.case(
        (whole, term_columns.typed(sql.call("concat", seconds, zone), "dateTime")),
        (micros.not_null(), term_columns.typed(sql.call("concat", seconds, fraction, zone), "dateTime")),
    )


def _without_last(character: str, string: Expr) -> Expr:
    """Return a string without these characters at its end."""
    return sql.call("rtrim", string, sql.text(character))


def _write_length(micros: Expr) -> Expr:
    """Return the canonical form of a non-negative duration, without parts that are zero."""
    parts = (
        (micros.div(86_400_000_000), "D"),
        (micros.div(3_600_000_000) % 24, "H"),
        (micros.div(60_000_000) % 60, "M"),
    )
    days, hours, minutes = (_counted(amount, unit) for amount, unit in parts)
    fraction = sql.call("lpad", (micros % 1_000_000).cast("STRING"), 6, sql.text("0"))
    exact = sql.call("concat", (micros.div(1_000_000) % 60).cast("STRING"), sql.text("."), fraction)
    seconds = _counted(_without_last(".", _without_last("0", exact)), "S")
    clock = let(sql.call("concat", hours, minutes, seconds))
    of_day = sql.case((clock.eq(_EMPTY), _EMPTY), otherwise=sql.call("concat", sql.text("T"), clock))
    return sql.case(
        (micros.eq(0), term_columns.typed(sql.text("PT0S"), "duration")),
        (micros.not_null(), term_columns.typed(sql.call("concat", sql.text("P"), days, of_day), "duration")),
    )


def _counted(amount: Expr, unit: str) -> Expr:
    number = sql.call("concat", amount, sql.text(unit))
    return sql.case((amount.cast("STRING").eq(sql.text("0")), _EMPTY), otherwise=number)


def _write_number(value: Number) -> Expr:
    forms = {
        kind: term_columns.typed(_lexical_number(value, kind), KIND_NAMES[kind]) for kind in _possible_kinds(value)
    }
    if len(forms) == 1:
        return next(iter(forms.values()))
    return sql.case(*((sql.lifted(value.kind).eq(kind), form) for kind, form in forms.items()))


def _possible_kinds(value: Number) -> tuple[int, ...]:
    if isinstance(value.kind, int):
        return (value.kind,)
    exact = () if value.exact is None else (INTEGER, DECIMAL)
    return exact + (() if value.real is None else (FLOAT, DOUBLE))


def _lexical_number(value: Number, kind: int) -> Expr:
    exact, real = value.exact or sql.null(EXACT), value.real or _NO_REAL
    if kind == INTEGER:
        return exact.cast("DECIMAL(38,0)").cast("STRING")
    if kind == DECIMAL:
        return _without_last(".", _without_last("0", _plain_decimal(exact)))
    return _lexical_real(real.cast("FLOAT", of="DOUBLE"), "FLOAT") if kind == FLOAT else _lexical_real(real, "DOUBLE")


def negated(exact: Expr) -> Expr:
    """Return -x. Spark's own minus, and with it `abs`, rounds to 34 digits, and ends the job if that gives one more."""
    return sql.exact("-", sql.lifted(0).cast(EXACT), exact)


def magnitude(exact: Expr) -> Expr:
    """Return the absolute value."""
    return sql.case((exact < 0, negated(exact)), otherwise=exact)


def _plain_decimal(exact: Expr) -> Expr:
    """Return all 18 digits after the point. Spark writes the smallest numbers with an exponent, but not after 1 is
    added."""
    sign = sql.case((exact < 0, sql.text("-0")), otherwise=sql.text("0"))
    digits = sql.call("substring", sql.exact("+", magnitude(exact), 1).cast("STRING"), 2)
    large = magnitude(exact) >= sql.Literal("0.000001", "DECIMAL")
    return sql.case((large, exact.cast("STRING")), otherwise=sql.call("concat", sign, digits))


def _lexical_real(real: Expr, type: str) -> Expr:
    """Return a double as XPath writes it: no empty fraction, INF for infinity."""
    written = let(real.cast("STRING", of=type))
    return sql.case(
        (written.eq(sql.text("Infinity")), sql.text("INF")),
        (written.eq(sql.text("-Infinity")), sql.text("-INF")),
        otherwise=sql.call("regexp_replace", written, sql.text("[.]0$"), _EMPTY),
    )


def truth(value: Value) -> Expr:
    """Return the effective boolean value (https://www.w3.org/TR/sparql11-query/#ebv)."""
    match value:
        case Truth(condition):
            return condition
        case Text(lexical):
            return sql.call("length", lexical) > 0
        case Number():
            return nonzero(value)
        case Instant() | Length():
            return sql.null("BOOLEAN")
        case Node(encoded):
            return sql.case(
                (term_columns.is_plain(encoded), encoded.ne(sql.text('""'))),
                (term_columns.has_type(encoded, "boolean"), boolean(encoded)),
                otherwise=nonzero(_read_number(encoded)),
            )


def nonzero(value: Number) -> Expr:
    exact = [] if value.exact is None else [value.exact.ne(0)]
    real = [] if value.real is None else [value.real.ne(0) & ~sql.call("isnan", value.real)]
    return sql.coalesce(*exact, *real)


def as_boolean(value: Value) -> Expr:
    """Return the value of an xsd:boolean; NULL for anything else."""
    return value.sql if isinstance(value, Truth) else boolean(term(value))


def boolean(encoded: Expr) -> Expr:
    """Return the value of an encoded xsd:boolean; NULL for anything else."""
    return sql.case(
        (encoded.among(sql.texts(_boolean_terms("true", "1"))), sql.TRUE),
        (encoded.among(sql.texts(_boolean_terms("false", "0"))), sql.FALSE),
    )


def _boolean_terms(*lexical: str) -> tuple[str, ...]:
    return tuple(f'"{form}"{term_encoding.tail_of("boolean")}' for form in lexical)


def text(value: Value) -> Expr:
    """Return the lexical form of a plain string (xsd:string); NULL for anything else."""
    match value:
        case Text(lexical):
            return lexical
        case Node(encoded):
            return let(sql.when(term_columns.is_plain(encoded), term_columns.lexical(encoded)))
    return sql.NULL
