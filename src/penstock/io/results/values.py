"""Literals as Python values, where the value is sure; their lexical forms where not."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import date, datetime
from decimal import Decimal
from typing import TYPE_CHECKING, TypeAlias

from pyoxigraph import BlankNode, Literal, NamedNode

from penstock.io.results.vocabulary import (
    INTEGERS,
    XSD_BOOLEAN,
    XSD_DATE,
    XSD_DATETIME,
    XSD_DECIMAL,
    XSD_DOUBLE,
    XSD_FLOAT,
)

if TYPE_CHECKING:
    from penstock.answer import Term

__all__ = ["Value", "text", "value"]

Value: TypeAlias = bool | int | Decimal | float | datetime | date | str

_SPECIAL = {"INF": "inf", "+INF": "inf", "-INF": "-inf", "NaN": "nan"}
_BOOLEANS = {"true": True, "1": True, "false": False, "0": False}

# Python's constructors take more than XML Schema allows (1_000, infinity, 20200101), hence the patterns.
_FLOAT = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?|[+-]?INF|NaN")
_INTEGER = re.compile(r"[+-]?[0-9]+")
_DATE_PATTERN = r"[0-9]{4}-[0-9]{2}-[0-9]{2}"

_READERS: dict[NamedNode, tuple[re.Pattern[str], Callable[[str], Value]]] = {
    **dict.fromkeys(INTEGERS, (_INTEGER, int)),
    XSD_DECIMAL: (re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)"), Decimal),
    XSD_DOUBLE: (_FLOAT, lambda form: float(_SPECIAL.get(form, form))),
    XSD_FLOAT: (_FLOAT, lambda form: float(_SPECIAL.get(form, form))),
    XSD_BOOLEAN: (re.compile("|".join(_BOOLEANS)), _BOOLEANS.__getitem__),
    XSD_DATE: (re.compile(_DATE_PATTERN), date.fromisoformat),
    XSD_DATETIME: (
        re.compile(_DATE_PATTERN + r"T[0-9]{2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]+)?(?:Z|[+-][0-9]{2}:[0-9]{2})?"),
        datetime.fromisoformat,
    ),
}


def value(term: Term) -> Value:
    """The Python value: of literals whose lexical form has one, and the text of everything else.

    Values beyond Python's types (the year 12000, midnight as 24:00:00, a date with a time zone) stays text.
    """
    if not isinstance(term, Literal) or term.datatype not in _READERS:
        return text(term)
    pattern, reader = _READERS[term.datatype]
    try:
        return reader(term.value) if pattern.fullmatch(term.value) else term.value
    except ValueError:
        return term.value


def text(term: Term) -> str:
    """An IRI, `_:label`, or a lexical form."""
    return str(term) if isinstance(term, BlankNode) else term.value
