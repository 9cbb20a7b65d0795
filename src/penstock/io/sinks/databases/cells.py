"""Answers as rows of a table: each variable has a column with its term, one with its text, and one with its number."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from decimal import Decimal, InvalidOperation
from typing import TypeAlias

from pyoxigraph import BlankNode, Literal, NamedNode

from penstock.answer import Answer

__all__ = ["FIXED", "Cell", "cells_of", "columns_of", "number_of"]

Cell: TypeAlias = str | int | Decimal | datetime | None
FIXED = ("query", "run", "batch", "row", "time", "until")
"""The columns of every table: the key, the instant (or the beginning), and the end where there is an interval."""

_XSD = "http://www.w3.org/2001/XMLSchema#"
_NUMBERS = {f"{_XSD}{name}" for name in (
    "integer", "decimal", "double", "float", "long", "int", "short", "byte", "nonNegativeInteger", "positiveInteger",
    "nonPositiveInteger", "negativeInteger", "unsignedLong", "unsignedInt", "unsignedShort", "unsignedByte",
)}  # fmt: skip
_LONGEST = 1000  # characters of a number


def columns_of(answer: Answer) -> list[str]:
    """The columns for the values of an answer: NAME, NAME_text and NAME_number a variable, with an underscore behind
    NAME where one of these is taken."""
    names = {"boolean": ["boolean"], "graph": ["s", "p", "o"]}.get(answer.kind) or list(answer.variables)
    columns = list(FIXED)
    for name in names:
        taken = {column.lower() for column in columns}
        while not taken.isdisjoint(column.lower() for column in _three(name)):
            name += "_"
        columns += _three(name)
    return columns[len(FIXED) :]


def _three(name: str) -> tuple[str, str, str]:
    return name, f"{name}_text", f"{name}_number"


def cells_of(answer: Answer) -> Iterator[list[Cell]]:
    """The values of an answer, a list a row, in the order of the columns."""
    if answer.boolean is not None:
        truth = str(answer.boolean).lower()
        yield [f'"{truth}"^^<{_XSD}boolean>', truth, None]
    elif answer.triples is not None:
        for triple in answer.triples:
            yield [cell for term in (triple.subject, triple.predicate, triple.object) for cell in _cells(term)]
    else:
        for row in answer.rows:
            yield [cell for name in answer.variables for cell in _cells(row.get(name))]


def _cells(term: object) -> tuple[Cell, Cell, Cell]:
    """A term as in N-Triples, its text, and its number; PostgreSQL's text cannot hold the character U+0000."""
    if term is None:
        return None, None, None
    text = term.value if isinstance(term, NamedNode | BlankNode | Literal) else str(term)
    number = number_of(term.value) if isinstance(term, Literal) and term.datatype.value in _NUMBERS else None
    return str(term).replace("\0", "\\u0000"), text.replace("\0", "\ufffd"), number


def number_of(text: str) -> Decimal | None:
    """The number that a literal stands for; None for those that are none, and for NaN and the infinities."""
    try:
        number = Decimal(text.strip()) if len(text) <= _LONGEST and "_" not in text else None
    except InvalidOperation:
        return None
    return number if number is not None and number.is_finite() and abs(number.adjusted()) <= _LONGEST else None
