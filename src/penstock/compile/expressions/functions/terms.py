"""Functions on RDF terms: https://www.w3.org/TR/sparql11-query/#func-rdfTerms."""

from __future__ import annotations

from collections.abc import Callable

from penstock.compile import sql
from penstock.compile.expressions import term_columns
from penstock.compile.expressions.functions.arithmetic import is_numeric
from penstock.compile.expressions.values import RANGES, Node, Text, Truth, Value, number, term, text
from penstock.compile.sql.common_subexpressions import let
from penstock.model import term_encoding

UUID = "uuid()"

# BCP 47: a language, its script, region, variants, extensions and what is for private use.
_TAG = (
    "^(?:(?:[a-z]{2,3}(?:-[a-z]{3}){0,3}|[a-z]{4,8})(?:-[a-z]{4})?(?:-(?:[a-z]{2}|[0-9]{3}))?"
    "(?:-(?:[a-z0-9]{5,8}|[0-9][a-z0-9]{3}))*(?:-[a-wyz0-9](?:-[a-z0-9]{2,8})+)*(?:-x(?:-[a-z0-9]{1,8})+)?"
    r"|x(?:-[a-z0-9]{1,8})+)\z"
)


def _is(test: Callable[[str], str]) -> Callable[[Value], Truth]:
    return lambda value: Truth(test(term(value)))


def string_of(value: Value) -> Text:
    """STR: the lexical form of a literal, the text of an IRI."""
    if isinstance(value, Text):
        return value
    encoded = term(value)
    of_iri = f"substring({encoded}, 2, length({encoded}) - 2)"
    branches = (
        (term_columns.is_literal(encoded), term_columns.lexical(encoded)),
        (term_columns.is_iri(encoded), of_iri),
    )
    return Text(let(sql.case(*branches)))


def _lang(value: Value) -> Text:
    encoded = term(value)
    tail = term_columns.tail(encoded)
    tag = f"CASE WHEN startswith({tail}, '@') THEN substring({tail}, 2) ELSE '' END"
    return Text(sql.when(term_columns.is_literal(encoded), tag))


def _datatype(value: Value) -> Node:
    encoded = term(value)
    tail = term_columns.tail(encoded)
    return Node(
        sql.case(
            (f"{tail} = ''", sql.text(f"<{term_encoding.STRING}>")),
            (f"startswith({tail}, '@')", sql.text(f"<{term_encoding.LANG_STRING}>")),
            (f"startswith({tail}, '^^')", f"substring({tail}, 3)"),
        )
    )


def _strdt(lexical: Value, datatype: Value) -> Node:
    iri = term(datatype)
    tail = f"CASE WHEN {iri} = {sql.text(f'<{term_encoding.STRING}>')} THEN '' ELSE concat('^^', {iri}) END"
    return Node(sql.when(term_columns.is_iri(iri), term_columns.literal(text(lexical), tail)))


def _strlang(lexical: Value, language: Value) -> Node:
    """Language tags are lower case everywhere, so that they are compared as the RDF specification wants it."""
    tag = f"lower({text(language)})"
    return Node(sql.when(f"{tag} RLIKE {sql.text(_TAG)}", term_columns.literal(text(lexical), f"concat('@', {tag})")))


def _is_numeric(value: Value) -> Truth:
    """Whether it is a valid literal of a numeric type: "1200"^^xsd:byte is none, though one can calculate with it."""
    encoded = term(value)
    found = sql.when(f"{encoded} IS NOT NULL", is_numeric(value))
    if not isinstance(value, Node):
        return Truth(found)
    exact, tail = number(value).exact, term_columns.tail(encoded)
    tails = {sql.text(term_encoding.tail_of(name)): bounds for name, bounds in RANGES.items()}
    ranges = ((f"{tail} = {t}", f"{exact} BETWEEN {low} AND {high}") for t, (low, high) in tails.items())
    return Truth(f"({found}) AND coalesce({sql.case(*ranges)}, true)")


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
    "UUID": lambda: Node(f"concat('<urn:uuid:', {UUID}, '>')"),
    "STRUUID": lambda: Text(UUID),
}
