"""What an expression compiles to: SQL text plus what is known of its type before any row is seen.

SPARQL types values at run time. Emitting that for every operator would grow a forest of CASEs, so a value says what it
is where that is known (`Truth`, `Text`, `Number`), and only a `Node` (any term) is inspected at run time. NULL is
SPARQL's error, and an unbound variable: with that, SQL's AND, OR and NOT are exactly SPARQL's, and so is COALESCE.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Decimal

from pyoxigraph import Literal

from penstock.algebra.expressions import Term
from penstock.compile import sql
from penstock.compile.expressions import term_columns
from penstock.compile.sql.common_subexpressions import let
from penstock.model import term_encoding

INTEGER, DECIMAL, FLOAT, DOUBLE = 1, 2, 3, 4
EXACT = "DECIMAL(38,18)"
_BITS = {"byte": 8, "short": 16, "int": 32, "long": 64}
_LIMIT = 10**20  # what EXACT holds is below
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

    sql: str


@dataclass(frozen=True, slots=True)
class Truth:
    """An xsd:boolean, as a SQL boolean."""

    sql: str


@dataclass(frozen=True, slots=True)
class Text:
    """An xsd:string, as its lexical form."""

    sql: str
    constant: str | None = None  # the string itself where the query says it


@dataclass(frozen=True, slots=True)
class Number:
    """A numeric value: integers and decimals in `exact`, floats and doubles in `real`, exactly one of them not NULL.

    `kind` (INTEGER to DOUBLE, by promotion order) is an int where it is known, else SQL. A side that cannot be is None.
    """

    kind: int | str
    exact: str | None
    real: str | None
    term: str | None = None  # the encoded term, where that is known without writing the number

    @property
    def constant(self) -> bool:
        """Whether it is a number that the query gives; a constant that is none is read like any term."""
        known = (self.exact is None) != (self.real is None)
        return known and self.term is not None and self.term.startswith("'")

    @property
    def counted(self) -> bool:
        """Whether equal numbers are equal terms: integers of every row, as they are written here."""
        return self.kind == INTEGER and self.real is None and not self.constant

    def as_real(self) -> str:
        """The value as a double, promoted if it has to be."""
        promoted = f"CAST({self.exact} AS DOUBLE)"
        if self.real is None:
            return promoted
        return self.real if self.exact is None else let(sql.coalesce(self.real, promoted))

    def is_kind(self, *kinds: int) -> str:
        return f"{self.kind} IN ({', '.join(map(str, kinds))})"


@dataclass(frozen=True, slots=True)
class Instant:
    """An xsd:dateTime in UTC, as microseconds since 1970."""

    micros: str


@dataclass(frozen=True, slots=True)
class Length:
    """An xsd:duration in microseconds; `low` and `high` differ where it has months, which have no one length."""

    low: str
    high: str
    term: str | None = None  # the encoded term, where that is known without writing it


Value = Node | Truth | Text | Number | Instant | Length
NOTHING = Node(sql.NULL)


def of_term(term: Term) -> Value:
    """A constant, with its type known."""
    encoded = term_columns.constant(term)
    if not isinstance(term, Literal):
        return Node(encoded)
    datatype = term.datatype.value
    if datatype == term_encoding.STRING:
        return Text(sql.text(term.value), term.value)
    if datatype == term_encoding.XSD + "boolean" and term.value in ("true", "false"):
        return Truth(term.value)
    local = datatype.removeprefix(term_encoding.XSD)
    if local.lower().endswith("duration"):
        from penstock.compile.expressions.functions.durations import constant  # which is made of values itself

        return constant(term) or Node(encoded)
    return _constant_number(term.value, local, encoded) if local in _KIND_OF else Node(encoded)


_FORM_OF = {INTEGER: _INTEGER_FORM, DECIMAL: _DECIMAL_FORM, FLOAT: _DOUBLE_FORM, DOUBLE: _DOUBLE_FORM}
_TYPES_OF = {INTEGER: "|".join(term_encoding.INTEGER_TYPES), DECIMAL: "decimal", FLOAT: "float", DOUBLE: "double"}


def _tail_form(kind: int) -> str:
    return rf'"\^\^<{re.escape(term_encoding.XSD)}(?:{_TYPES_OF[kind]})>$'


def _term_form(kind: int) -> str:
    """A whole encoded literal of the kind; its lexical form is the first group."""
    return f'^"({_FORM_OF[kind]}){_tail_form(kind)}'


_EXACT_TERM = f'^"({_INTEGER_FORM}(?={_tail_form(INTEGER)})|{_DECIMAL_FORM}(?={_tail_form(DECIMAL)}))'
_KIND_OF = {**dict.fromkeys(term_encoding.INTEGER_TYPES, INTEGER), "decimal": DECIMAL, "float": FLOAT, "double": DOUBLE}


def _constant_number(lexical: str, datatype: str, encoded: str) -> Value:
    """What denotes no number, or one that is too large, is like any other term."""
    kind, literal = _KIND_OF[datatype], sql.text(lexical)
    if not re.fullmatch(_FORM_OF[kind], lexical) or (kind <= DECIMAL and not _fits(Decimal(lexical), datatype)):
        return Node(encoded)
    if kind <= DECIMAL:
        return Number(kind, f"CAST({literal} AS {EXACT})", None, encoded)
    spark_type = "DOUBLE" if kind == DOUBLE else "FLOAT"
    return Number(kind, None, f"CAST(CAST({literal} AS {spark_type}) AS DOUBLE)", encoded)


def _fits(exact: Decimal, datatype: str) -> bool:
    low, high = RANGES.get(datatype, (-_LIMIT, _LIMIT))
    return max(low, -_LIMIT + 1) <= exact <= min(high, _LIMIT - 1)


def number(value: Value) -> Number:
    """The numeric view; all NULL where the value is no number."""
    match value:
        case Number():
            return value
        case Node(term):
            return _read_number(term)
    return Number(INTEGER, f"CAST(NULL AS {EXACT})", None)


def _read_number(term: str) -> Number:
    """One regular expression checks the datatype and the form and finds the digits; what does not match is none.

    The ends of the strings are compared first, which spares most rows all expressions but one.
    """
    double, float_ = (f"endswith({term}, {sql.text(_TYPE_ENDS[k])})" for k in (DOUBLE, FLOAT))
    exact = sql.when(f"NOT {double}", f"CAST({_found(term, _EXACT_TERM)} AS {EXACT})")
    real = sql.case(
        (double, f"CAST({_found(term, _term_form(DOUBLE))} AS DOUBLE)"),
        (float_, single(_found(term, _term_form(FLOAT)))),
    )
    return Number(let(_kind(term)), let(exact), let(real), term)


def count(term: str) -> Number:
    """What COUNT has written, which need not be looked at to know how it is read."""
    digits = f"substring({term}, 2, length({term}) - {len(_TYPE_ENDS[INTEGER]) + 2})"
    return Number(INTEGER, let(f"CAST({digits} AS {EXACT})"), None, term)


def single(real: str) -> str:
    """A double, cut to what a float holds."""
    return f"CAST(CAST({real} AS FLOAT) AS DOUBLE)"


def _found(term: str, form: str) -> str:
    return f"regexp_extract({term}, {sql.text(form)}, 1)"


def _kind(term: str) -> str:
    """The common types by one comparison each, the rarer integers by one expression."""
    common = ((f"endswith({term}, {sql.text(end)})", str(k)) for k, end in _TYPE_ENDS.items())
    return sql.case(*common, (f"{term} RLIKE {sql.text(_tail_form(INTEGER))}", str(INTEGER)))


_TYPE_ENDS = {kind: term_encoding.tail_of(name) for kind, name in KIND_NAMES.items()}


def term(value: Value) -> str:
    """The encoded term of a value."""
    match value:
        case Node(encoded):
            return encoded
        case Truth(condition):
            return let(term_columns.typed(f"CAST({condition} AS STRING)", "boolean"))
        case Text(lexical):
            return let(term_columns.plain(lexical))
        case Number(_, _, _, str() as encoded):
            return encoded
        case Number():
            return let(_write_number(value))
        case Instant(micros):
            return let(_write_instant(micros))
        case Length(_, _, str() as encoded):
            return encoded
        case Length(micros):
            return let(_write_length(micros))


def _write_instant(micros: str) -> str:
    """The canonical form of a dateTime: no fraction where there is none, and none of its trailing zeros."""
    moment = f"timestamp_micros({micros})"
    seconds = f"date_format({moment}, \"yyyy-MM-dd'T'HH:mm:ss\")"
    fraction = f"rtrim('0', date_format({moment}, '.SSSSSS'))"
    whole = f"pmod({micros}, 1000000) = 0"
    return sql.case(
        (whole, term_columns.typed(f"concat({seconds}, 'Z')", "dateTime")),
        (f"{micros} IS NOT NULL", term_columns.typed(f"concat({seconds}, {fraction}, 'Z')", "dateTime")),
    )


def _write_length(micros: str) -> str:
    """The canonical form of a duration, which is not negative: parts that are zero are left out."""
    parts = (("86400000000", "D"), ("3600000000 % 24", "H"), ("60000000 % 60", "M"))
    days, hours, minutes = (_counted(f"{micros} DIV {size}", unit) for size, unit in parts)
    exact = f"CAST(CAST({micros} % 60000000 AS DECIMAL(20,6)) / 1000000 AS DECIMAL(10,6))"
    seconds = _counted(f"rtrim('.', rtrim('0', CAST({exact} AS STRING)))", "S")
    clock = let(f"concat({hours}, {minutes}, {seconds})")
    written = f"concat('P', {days}, CASE WHEN {clock} = '' THEN '' ELSE concat('T', {clock}) END)"
    return sql.case(
        (f"{micros} = 0", term_columns.typed("'PT0S'", "duration")),
        (f"{micros} IS NOT NULL", term_columns.typed(written, "duration")),
    )


def _counted(amount: str, unit: str) -> str:
    return f"CASE WHEN CAST({amount} AS STRING) = '0' THEN '' ELSE concat({amount}, '{unit}') END"


def _write_number(value: Number) -> str:
    forms = {
        kind: term_columns.typed(_lexical_number(value, kind), KIND_NAMES[kind]) for kind in _possible_kinds(value)
    }
    if len(forms) == 1:
        return next(iter(forms.values()))
    return sql.case(*((f"{value.kind} = {kind}", form) for kind, form in forms.items()))


def _possible_kinds(value: Number) -> tuple[int, ...]:
    if isinstance(value.kind, int):
        return (value.kind,)
    exact = () if value.exact is None else (INTEGER, DECIMAL)
    return exact + (() if value.real is None else (FLOAT, DOUBLE))


def _lexical_number(value: Number, kind: int) -> str:
    if kind == INTEGER:
        return f"CAST(CAST({value.exact} AS DECIMAL(38,0)) AS STRING)"
    if kind == DECIMAL:
        return f"trim(TRAILING '.' FROM trim(TRAILING '0' FROM {_plain_decimal(str(value.exact))}))"
    return _lexical_real(f"CAST({value.real} AS FLOAT)" if kind == FLOAT else str(value.real))


def _plain_decimal(exact: str) -> str:
    """All 18 digits after the point. Spark writes the smallest numbers with an exponent, but not with one added."""
    tiny = f"concat(CASE WHEN {exact} < 0 THEN '-0' ELSE '0' END, substring(CAST(abs({exact}) + 1 AS STRING), 2))"
    return f"CASE WHEN abs({exact}) >= 0.000001BD THEN CAST({exact} AS STRING) ELSE {tiny} END"


def _lexical_real(real: str) -> str:
    """As XPath writes doubles: no fraction where there is none, INF for infinity."""
    written = let(f"CAST({real} AS STRING)")
    return sql.case(
        (f"{written} = 'Infinity'", "'INF'"),
        (f"{written} = '-Infinity'", "'-INF'"),
        otherwise=f"regexp_replace({written}, '[.]0$', '')",
    )


def truth(value: Value) -> str:
    """The effective boolean value (https://www.w3.org/TR/sparql11-query/#ebv)."""
    match value:
        case Truth(condition):
            return condition
        case Text(lexical):
            return f"length({lexical}) > 0"
        case Number():
            return nonzero(value)
        case Instant() | Length():
            return "CAST(NULL AS BOOLEAN)"
        case Node(encoded):
            return sql.case(
                (f"{term_columns.tail(encoded)} = ''", f"{encoded} <> '\"\"'"),
                (term_columns.has_type(encoded, "boolean"), boolean(encoded)),
                otherwise=nonzero(_read_number(encoded)),
            )


def nonzero(value: Number) -> str:
    exact = [] if value.exact is None else [f"{value.exact} <> 0"]
    real = [] if value.real is None else [f"{value.real} <> 0 AND NOT isnan({value.real})"]
    return sql.coalesce(*exact, *real)


def as_boolean(value: Value) -> str:
    """The value of an xsd:boolean; NULL for anything else."""
    return value.sql if isinstance(value, Truth) else boolean(term(value))


def boolean(encoded: str) -> str:
    """The value of an encoded xsd:boolean; NULL for anything else."""
    return sql.case(
        (f"{encoded} IN ({sql.texts(_boolean_terms('true', '1'))})", "true"),
        (f"{encoded} IN ({sql.texts(_boolean_terms('false', '0'))})", "false"),
    )


def _boolean_terms(*lexical: str) -> tuple[str, ...]:
    return tuple(f'"{form}"{term_encoding.tail_of("boolean")}' for form in lexical)


def text(value: Value) -> str:
    """The lexical form of a plain string (xsd:string); NULL for anything else."""
    match value:
        case Text(lexical):
            return lexical
        case Node(encoded):
            return let(sql.when(f"{term_columns.tail(encoded)} = ''", term_columns.lexical(encoded)))
    return sql.NULL
