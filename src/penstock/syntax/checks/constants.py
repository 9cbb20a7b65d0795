"""The literals of a query: their kinds, as far as comparisons tell these apart, and whether the lexical form
is of the datatype (https://www.w3.org/TR/xmlschema11-2/)."""

from __future__ import annotations

import re
from enum import Enum

from penstock.syntax import tree
from penstock.syntax.functions import XSD

__all__ = ["Kind", "is_of_datatype", "kind_of_constant", "kind_of_datatype", "right_form"]


class Kind(Enum):
    """Kinds of terms that never compare with each other; the value is the kind in words."""

    number = "a number"
    string = "a string"
    boolean = "a boolean"
    moment = "an xsd:dateTime"
    day = "an xsd:date"
    duration = "an xsd:duration"
    iri = "an IRI"


_INTEGER_NAMES = """integer long int short byte nonNegativeInteger positiveInteger nonPositiveInteger negativeInteger
    unsignedLong unsignedInt unsignedShort unsignedByte"""
_INTEGERS = _INTEGER_NAMES.split()
_KINDS = {
    **dict.fromkeys((*_INTEGERS, "decimal", "float", "double"), Kind.number),
    **dict.fromkeys(("duration", "dayTimeDuration", "yearMonthDuration"), Kind.duration),
    "string": Kind.string,
    "boolean": Kind.boolean,
    "dateTime": Kind.moment,
    "date": Kind.day,
}

_DECIMAL = r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)"
_DAY = r"(-?(?:[1-9][0-9]{3,}|0[0-9]{3}))-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])"
_CLOCK = r"(?:(?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](?:\.[0-9]+)?|24:00:00(?:\.0+)?)"
_ZONE = r"(?:Z|[+-](?:(?:0[0-9]|1[0-3]):[0-5][0-9]|14:00))?"
_MONTHS = r"(?:[0-9]+Y)?(?:[0-9]+M)?"
_TIME = r"(?:T(?=.)(?:[0-9]+H)?(?:[0-9]+M)?(?:[0-9]+(?:\.[0-9]+)?S)?)?"
_REAL = rf"{_DECIMAL}(?:[eE][+-]?[0-9]+)?|[+-]?INF|NaN"
_FORMS = {
    **dict.fromkeys(_INTEGERS, "[+-]?[0-9]+"),
    "boolean": "true|false|1|0",
    "decimal": _DECIMAL,
    "float": _REAL,
    "double": _REAL,
    "dateTime": f"{_DAY}T{_CLOCK}{_ZONE}",
    "date": f"{_DAY}{_ZONE}",
    "duration": f"-?P(?=.){_MONTHS}(?:[0-9]+D)?{_TIME}",
    "dayTimeDuration": f"-?P(?=.)(?:[0-9]+D)?{_TIME}",
    "yearMonthDuration": f"-?P(?=.){_MONTHS}",
}
_DAYS = (31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)

_RIGHT = {
    **dict.fromkeys(_INTEGERS, "write a whole number, as in 42"),
    "yearMonthDuration": 'write months, as in "P1Y6M"^^xsd:yearMonthDuration',
}
_RIGHT_OF_KIND = {
    Kind.number: "write a number, as in 4.2",
    Kind.string: 'write a string, as in "text"',
    Kind.boolean: "write true or false",
    Kind.day: 'write a day, as in "2009-07-20"^^xsd:date',
    Kind.iri: "write an IRI, as in <http://example.org/name> or with a prefix",
    Kind.moment: 'write a moment, as in "2009-07-20T08:00:00Z"^^xsd:dateTime',
    Kind.duration: 'write a duration, as in "PT5M"^^xsd:duration for five minutes',
}


def kind_of_constant(literal: tree.Literal) -> Kind | None:
    """The kind of a literal; None for a datatype that is not known here."""
    return Kind.string if literal.datatype is None else kind_of_datatype(literal.datatype.value)


def kind_of_datatype(datatype: str) -> Kind | None:
    """The kind of a datatype's literals; None for a datatype that is not known here."""
    return _KINDS.get(_local(datatype))


def is_of_datatype(lexical: str, datatype: str) -> bool:
    """Whether the lexical form is one of the datatype; True for a datatype that is not known here."""
    form = _FORMS.get(_local(datatype))
    match = re.fullmatch(form, lexical) if form else None
    return form is None or (match is not None and _is_in_calendar(*match.groups()))


def right_form(what: Kind | str) -> str | None:
    """The correct form of a constant of a kind, or of a datatype; None if there is nothing to say."""
    if isinstance(what, Kind):
        return _RIGHT_OF_KIND.get(what)
    local = _local(what)
    return _RIGHT.get(local) or _RIGHT_OF_KIND.get(_KINDS.get(local, Kind.iri))


def _is_in_calendar(year: str = "2000", month: str = "1", day: str = "1") -> bool:
    """Whether the month has that day."""
    of_era = int(year)
    leap = of_era % 4 == 0 and (of_era % 100 != 0 or of_era % 400 == 0)
    return int(day) <= _DAYS[int(month) - 1] and (leap or (int(month), int(day)) != (2, 29))


def _local(datatype: str) -> str:
    return datatype.removeprefix(XSD) if datatype.startswith(XSD) else ""
