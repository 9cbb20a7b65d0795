"""Encoded terms as SQL expressions: the kind of a term, its lexical form, its datatype."""

from __future__ import annotations

from penstock.algebra.expressions import Term
from penstock.compile import sql
from penstock.compile.sql import Expr, let
from penstock.model.term_encoding import encode, tail_of

# The encoding of `model/term_encoding.py` as SQL expressions on a column.


def constant(term: Term) -> sql.Literal:
    return sql.text(encode(term))


def tail(term: Expr) -> Expr:
    return let(sql.call("substring_index", term, _QUOTE, -1))


def lexical(term: Expr) -> Expr:
    """Return the lexical form of a literal. Of other terms the result has no meaning: check `is_literal` first."""
    length = sql.call("length", term) - sql.call("length", tail(term)) - 2
    return let(sql.call("substring", term, 2, length))


def is_literal(term: Expr) -> Expr:
    return sql.call("startswith", term, _QUOTE)


def is_iri(term: Expr) -> Expr:
    return sql.call("startswith", term, sql.text("<"))


def is_blank(term: Expr) -> Expr:
    return sql.call("startswith", term, sql.text("_"))


def is_plain(term: Expr) -> Expr:
    """Whether the term is a string without a language."""
    return tail(term).eq(sql.text(""))


def has_language(term: Expr) -> Expr:
    return sql.call("startswith", tail(term), sql.text("@"))


def is_string(term: Expr) -> Expr:
    """Whether the term is a string, with or without a language."""
    return is_plain(term) | has_language(term)


def has_type(term: Expr, *datatypes: str) -> Expr:
    """Whether the term is a literal of one of these types of XML Schema."""
    return tail(term).among(sql.texts(tail_of(d) for d in datatypes))


def literal(lexical_form: Expr, tail_text: Expr) -> Expr:
    """Return a literal from the expressions of its lexical form and its tail."""
    return sql.call("concat", _QUOTE, lexical_form, _QUOTE, tail_text)


def typed(lexical_form: Expr, datatype: str) -> Expr:
    return sql.call("concat", _QUOTE, lexical_form, sql.text(chr(34) + tail_of(datatype)))


def plain(lexical_form: Expr) -> Expr:
    return sql.call("concat", _QUOTE, lexical_form, _QUOTE)


def iri(value: Expr) -> Expr:
    return sql.call("concat", sql.text("<"), value, sql.text(">"))


_QUOTE = sql.text(chr(34))
