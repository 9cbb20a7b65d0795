"""Functions on RDF terms: https://www.w3.org/TR/sparql11-query/#func-rdfTerms."""

from __future__ import annotations

from collections.abc import Callable

from penstock.compile import sql
from penstock.compile.expressions import term_columns
from penstock.compile.expressions.functions.arithmetic import is_numeric
from penstock.compile.expressions.values import RANGES, Node, Text, Truth, Value, number, term, text
from penstock.compile.sql import Expr, let
from penstock.model import term_encoding

UUID = sql.call("uuid")

_EMPTY = sql.text("")

# BCP 47: a language, its script, region, variants, extensions and what is for private use.
_TAG = (
    "^(?:(?:[a-z]{2,3}(?:-[a-z]{3}){0,3}|[a-z]{4,8})(?:-[a-z]{4})?(?:-(?:[a-z]{2}|[0-9]{3}))?"
    "(?:-(?:[a-z0-9]{5,8}|[0-9][a-z0-9]{3}))*(?:-[a-wyz0-9](?:-[a-z0-9]{2,8})+)*(?:-x(?:-[a-z0-9]{1,8})+)?"
    r"|x(?:-[a-z0-9]{1,8})+)\z"
)


def _is(test: Callable[[Expr], Expr]) -> Callable[[Value], Truth]:
    return lambda value: Truth(test(term(value)))


def string_of(value: Value) -> Text:
    """Return STR: the lexical form of a literal, the text of an IRI."""
    if isinstance(value, Text):
        return value
    encoded = term(value)
    of_iri = sql.call("substring", encoded, 2, sql.call("length", encoded) - 2)
    branches = (
        (term_columns.is_literal(encoded), term_columns.lexical(encoded)),
        (term_columns.is_iri(encoded), of_iri),
    )
    return Text(let(sql.case(*branches)))


def _lang(value: Value) -> Text:
    encoded = term(value)
    tail = term_columns.tail(encoded)
    tag = sql.case((term_columns.has_language(encoded), sql.call("substring", tail, 2)), otherwise=_EMPTY)
    return Text(sql.when(term_columns.is_literal(encoded), tag))


def _datatype(value: Value) -> Node:
    encoded = term(value)
    tail = term_columns.tail(encoded)
    return Node(
        sql.case(
            (term_columns.is_plain(encoded), sql.text(f"<{term_encoding.STRING}>")),
            (term_columns.has_language(encoded), sql.text(f"<{term_encoding.LANG_STRING}>")),
            (sql.call("startswith", tail, sql.text("^^")), sql.call("substring", tail, 3)),
        )
    )


def _strdt(lexical: Value, datatype: Value) -> Node:
    iri = term(datatype)
    is_string = iri.eq(sql.text(f"<{term_encoding.STRING}>"))
    tail = sql.case((is_string, _EMPTY), otherwise=sql.call("concat", sql.text("^^"), iri))
    return Node(sql.when(term_columns.is_iri(iri), term_columns.literal(text(lexical), tail)))


def _strlang(lexical: Value, language: Value) -> Node:
    """Return a language string. Tags are lower case everywhere, so that they compare as the RDF specification
    demands."""
    tag = sql.call("lower", text(language))
    tail = sql.call("concat", sql.text("@"), tag)
    return Node(sql.when(tag.rlike(sql.text(_TAG)), term_columns.literal(text(lexical), tail)))


def _is_numeric(value: Value) -> Truth:
    """Whether it is a valid literal of a numeric type: "1200"^^xsd:byte is not, though arithmetic accepts it."""
    encoded = term(value)
    numeric = sql.when(encoded.not_null(), is_numeric(value))
    if not isinstance(value, Node):
        return Truth(numeric)
    exact, tail = number(value).exact, term_columns.tail(encoded)
    assert exact is not None
    tails = {sql.text(term_encoding.tail_of(name)): bounds for name, bounds in RANGES.items()}
    ranges = ((tail.eq(t), (exact >= low) & (exact <= high)) for t, (low, high) in tails.items())
    return Truth(numeric & sql.coalesce(sql.case(*ranges), sql.TRUE))


FUNCTIONS: dict[str, Callable[..., Value]] = {
    "ISIRI": _is(term_columns.is_iri),
    "ISURI": _is(term_columns.is_iri),
    "ISBLANK": _is(term_columns.is_blank),
    "ISLITERAL": _is(term_columns.is_literal),
    "ISNUMERIC": _is_numeric,
    "STR": string_of,
    "LANG": _lang,
    "DATATYPE": _datatype,
    "STRDT": _strdt,
    "STRLANG": _strlang,
    "UUID": lambda: Node(sql.call("concat", sql.text("<urn:uuid:"), UUID, sql.text(">"))),
    "STRUUID": lambda: Text(UUID),
}
