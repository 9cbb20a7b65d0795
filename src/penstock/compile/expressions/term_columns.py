"""Encoded terms as SQL expressions: the kind of a term, its lexical form, its datatype."""

from __future__ import annotations

from penstock.algebra.expressions import Term
from penstock.compile import sql
from penstock.compile.sql.common_subexpressions import let
from penstock.model.term_encoding import encode, tail_of

# The same knowledge as SQL expressions over an encoded column.


def constant(term: Term) -> str:
    return sql.text(encode(term))


def tail(term: str) -> str:
    return let(f"substring_index({term}, '\"', -1)")


def lexical(term: str) -> str:
    """The lexical form of a literal (of anything else, nonsense: ask `is_literal` first)."""
    return let(f"substring({term}, 2, length({term}) - length({tail(term)}) - 2)")


def is_literal(term: str) -> str:
    return f"startswith({term}, '\"')"


def is_iri(term: str) -> str:
    return f"startswith({term}, '<')"


def is_blank(term: str) -> str:
    return f"startswith({term}, '_')"


def is_string(term: str) -> str:
    """Whether the term is a string, with or without a language."""
    return f"({tail(term)} = '' OR startswith({tail(term)}, '@'))"


def has_type(term: str, *datatypes: str) -> str:
    """Whether the term is a literal of one of these types of XML Schema."""
    return f"{tail(term)} IN ({sql.texts(tail_of(d) for d in datatypes)})"


def literal(lexical_form: str, tail_text: str) -> str:
    """A literal from the SQL expressions of its lexical form and its tail."""
    return f"concat('\"', {lexical_form}, '\"', {tail_text})"


def typed(lexical_form: str, datatype: str) -> str:
    return f"concat('\"', {lexical_form}, {sql.text(chr(34) + tail_of(datatype))})"


def plain(lexical_form: str) -> str:
    return f"concat('\"', {lexical_form}, '\"')"


def iri(value: str) -> str:
    return f"concat('<', {value}, '>')"
