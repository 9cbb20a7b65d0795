"""xsd:dateTime and xsd:date: comparison and components. https://www.w3.org/TR/sparql11-query/#func-date-time

Two moments with a time zone, or two without, compare on the time line; with just one zone known, only where no
zone could turn the answer around (14 hours either way), as XML Schema orders them.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from penstock.compile import sql
from penstock.compile.expressions import term_columns
from penstock.compile.expressions.functions.arithmetic import integer
from penstock.compile.expressions.values import DECIMAL, EXACT, Node, Number, Text, Value, term
from penstock.compile.sql.common_subexpressions import let
from penstock.model import term_encoding

_ZONE = "(?:Z|[+-](?:0[0-9]|1[0-3]):[0-5][0-9]|[+-]14:00)"
_DAY = "-?[0-9]{4,6}-[0-9]{2}-[0-9]{2}"
_TIME = "(?:(?:[01][0-9]|2[0-3]):[0-9]{2}:[0-9]{2}(?:[.][0-9]+)?|24:00:00(?:[.]0+)?)"
_FOURTEEN_HOURS = 14 * 3600 * 1_000_000


@dataclass(frozen=True, slots=True)
class Moment:
    """A point in time as microseconds since the epoch, UTC where no zone is given; all SQL."""

    datatype: str
    micros: str
    zoned: str

    def compare(self, symbol: str, other: Moment) -> str:
        if symbol == "=":
            same = f"{self.micros} = {other.micros} AND {self.zoned} = {other.zoned}"
            both = f"{self.micros} IS NOT NULL AND {other.micros} IS NOT NULL"
            return sql.when(f"{self.datatype} = {other.datatype} AND {both}", same)
        clear = f"{self.zoned} = {other.zoned} OR abs({self.micros} - {other.micros}) > {_FOURTEEN_HOURS}"
        return sql.when(f"{self.datatype} = {other.datatype} AND ({clear})", f"{self.micros} {symbol} {other.micros}")


def moment(encoded: str) -> Moment:
    """The moment of an encoded term; NULL where it is none."""
    date_time, date = (sql.text(_term_form(d)) for d in ("dateTime", "date"))
    midnight = f"regexp_replace({encoded}, {date}, '$1T00:00:00$2')"  # anything else stays a term, no timestamp
    clock = f"replace(regexp_extract({encoded}, {date_time}, 1), 'T24:', 'T00:')"
    iso = f"coalesce(CAST({clock} AS TIMESTAMP), CAST({midnight} AS TIMESTAMP))"
    micros = f"(unix_micros({iso}) + CASE WHEN contains({encoded}, 'T24:') THEN 86400000000 ELSE 0 END)"
    zoned = f"({encoded} RLIKE {sql.text(_ZONE + chr(34) + '[^' + chr(34) + ']*$')})"
    return Moment(term_columns.tail(encoded), let(micros), let(zoned))


def _term_form(datatype: str) -> str:
    """A whole encoded literal: its lexical form, or for a date the day and the zone, are groups."""
    lexical = {"dateTime": f"({_DAY}T{_TIME}{_ZONE}?)", "date": f"({_DAY})({_ZONE}?)"}[datatype]
    return rf'^"{lexical}"\^\^<{re.escape(term_encoding.XSD + datatype)}>$'


def valid(encoded: str) -> str:
    """The term if it is a moment."""
    return sql.when(f"{moment(encoded).micros} IS NOT NULL", encoded)


def _lexical(value: Value, *datatypes: str) -> str:
    """The lexical form, where 24:00:00 is the start of the next day."""
    encoded = term(value)
    lexical = term_columns.lexical(encoded)
    is_one = f"{term_columns.has_type(encoded, *datatypes)} AND {moment(encoded).micros} IS NOT NULL"
    next_day = f"date_add(CAST(substring_index({lexical}, 'T', 1) AS DATE), 1)"
    rolled = f"concat({next_day}, 'T00:', substring_index({lexical}, 'T24:', -1))"
    return let(sql.case((f"{is_one} AND contains({lexical}, 'T24:')", rolled), (is_one, lexical)))


def _part(pattern: str, *datatypes: str) -> Callable[[Value], Number]:
    return lambda value: integer(_extract(_lexical(value, *datatypes), pattern, "INT"))


def _extract(lexical: str, pattern: str, spark_type: str) -> str:
    return f"CAST(regexp_extract({lexical}, {sql.text(pattern)}, 1) AS {spark_type})"


def _seconds(value: Value) -> Number:
    lexical = _lexical(value, "dateTime")
    return Number(DECIMAL, _extract(lexical, "T[0-9]{2}:[0-9]{2}:([0-9]{2}([.][0-9]+)?)", EXACT), None)


def _zone(value: Value) -> str:
    return let(f"regexp_extract({_lexical(value, 'dateTime')}, {sql.text(f'({_ZONE})$')}, 1)")


def _timezone(value: Value) -> Node:
    """The zone as an xsd:dayTimeDuration; an error where there is none."""
    zone = _zone(value)
    sign = f"CASE WHEN startswith({zone}, '-') THEN '-' ELSE '' END"
    hours, minutes = (_unit(zone, start, unit) for start, unit in ((2, "H"), (5, "M")))
    duration = sql.case(
        (f"{zone} = ''", sql.NULL),
        (f"{zone} IN ('Z', '+00:00', '-00:00')", "'PT0S'"),
        otherwise=f"concat({sign}, 'PT', {hours}, {minutes})",
    )
    return Node(term_columns.typed(duration, "dayTimeDuration"))


def _unit(zone: str, start: int, unit: str) -> str:
    amount = f"CAST(substring({zone}, {start}, 2) AS INT)"
    return f"CASE WHEN {amount} = 0 THEN '' ELSE concat({amount}, '{unit}') END"


FUNCTIONS: dict[str, Callable[..., Value]] = {
    "YEAR": _part("^[+]?(-?[0-9]+)", "dateTime", "date"),
    "MONTH": _part("^[+-]?[0-9]+-([0-9]{2})", "dateTime", "date"),
    "DAY": _part("^[+-]?[0-9]+-[0-9]{2}-([0-9]{2})", "dateTime", "date"),
    "HOURS": _part("T([0-9]{2})", "dateTime"),
    "MINUTES": _part("T[0-9]{2}:([0-9]{2})", "dateTime"),
    "SECONDS": _seconds,
    "TIMEZONE": _timezone,
    "TZ": lambda value: Text(_zone(value)),
}
