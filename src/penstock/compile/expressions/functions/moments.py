"""xsd:dateTime and xsd:date: comparison and components. https://www.w3.org/TR/sparql11-query/#func-date-time

Two moments with a time zone, or two without, compare on the time line; with just one zone known, only where no
zone could turn the answer around (14 hours either way), as XML Schema orders them. Else each comparison is an error,
also `=` and `!=`.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

from penstock.compile import sql
from penstock.compile.expressions import term_columns
from penstock.compile.expressions.functions.arithmetic import integer
from penstock.compile.expressions.values import DECIMAL, EXACT, Node, Number, Text, Value, term
from penstock.compile.sql import Expr, let
from penstock.model import term_encoding

_ZONE = "(?:Z|[+-](?:0[0-9]|1[0-3]):[0-5][0-9]|[+-]14:00)"
_DAY = "-?[0-9]{4,6}-[0-9]{2}-[0-9]{2}"
_TIME = "(?:(?:[01][0-9]|2[0-3]):[0-9]{2}:[0-9]{2}(?:[.][0-9]+)?|24:00:00(?:[.]0+)?)"
_FOURTEEN_HOURS = 14 * 3600 * 1_000_000
MOMENTS = tuple(map(term_encoding.tail_of, ("dateTime", "date")))
_EMPTY, _MIDNIGHT = sql.text(""), sql.text("T24:")


@dataclass(frozen=True, slots=True)
class Moment:
    """A point in time as microseconds since the epoch, UTC if no zone is given; all SQL."""

    datatype: Expr
    micros: Expr
    zoned: Expr

    def compare(self, symbol: str, other: Moment) -> Expr:
        return sql.when(self._alike(other) & self._ordered(other), self.micros.compared(symbol, other.micros))

    def is_incomparable(self, other: Moment) -> Expr:
        """Whether both are moments of one datatype that have no order."""
        return self._alike(other) & ~self._ordered(other)

    def _alike(self, other: Moment) -> Expr:
        return self.datatype.eq(other.datatype)

    def _ordered(self, other: Moment) -> Expr:
        """Whether the time line says which comes first; NULL if one of them is no moment. As doubles, the first and the
        last moment have a difference, and those until the year 2255 an exact one."""
        apart = sql.call("abs", self.micros.cast("DOUBLE") - other.micros.cast("DOUBLE")) > _FOURTEEN_HOURS
        return self.zoned.eq(other.zoned) | apart


@lru_cache(maxsize=1024)
def moment(encoded: Expr) -> Moment:
    """Return the moment of an encoded term; NULL if it is none."""
    date_time, date = (sql.text(_term_form(d)) for d in ("dateTime", "date"))
    midnight = sql.call(
        "regexp_replace", encoded, date, sql.text("$1T00:00:00$2")
    )  # other terms stay unchanged, and are no timestamps
    clock = sql.call("replace", sql.call("regexp_extract", encoded, date_time, 1), _MIDNIGHT, sql.text("T00:"))
    iso = sql.coalesce(clock.cast("TIMESTAMP"), midnight.cast("TIMESTAMP"))
    next_day = sql.case((sql.call("contains", encoded, _MIDNIGHT), 86_400_000_000), otherwise=0)
    is_moment = sql.any_of(sql.call("endswith", encoded, sql.text(end)) for end in MOMENTS)  # spares the other terms
    micros = sql.when(is_moment, sql.call("unix_micros", iso) + next_day)
    zoned = is_moment & encoded.rlike(sql.text(_ZONE + chr(34) + "[^" + chr(34) + "]*$"))
    return Moment(term_columns.tail(encoded), let(micros), let(zoned))


def _term_form(datatype: str) -> str:
    """Return the pattern of a whole encoded literal: its lexical form, or the day and zone of a date, are groups."""
    lexical = {"dateTime": f"({_DAY}T{_TIME}{_ZONE}?)", "date": f"({_DAY})({_ZONE}?)"}[datatype]
    return rf'^"{lexical}"\^\^<{re.escape(term_encoding.XSD + datatype)}>$'


def valid(encoded: Expr) -> Expr:
    """Return the term if it is a moment."""
    return sql.when(moment(encoded).micros.not_null(), encoded)


def _lexical(value: Value, *datatypes: str) -> Expr:
    """Return the lexical form, with 24:00:00 as the start of the next day."""
    encoded = term(value)
    lexical = term_columns.lexical(encoded)
    is_one = term_columns.has_type(encoded, *datatypes) & moment(encoded).micros.not_null()
    day = sql.call("substring_index", lexical, sql.text("T"), 1).cast("DATE")
    clock = sql.call("substring_index", lexical, _MIDNIGHT, -1)
    next_day = sql.call("date_add", day, 1).cast("STRING", of="DATE")
    rolled = sql.call("concat", next_day, sql.text("T00:"), clock)
    return let(sql.case((is_one & sql.call("contains", lexical, _MIDNIGHT), rolled), (is_one, lexical)))


def _part(pattern: str, *datatypes: str) -> Callable[[Value], Number]:
    return lambda value: integer(_extract(_lexical(value, *datatypes), pattern, "INT"))


def _extract(lexical: Expr, pattern: str, type: str) -> Expr:
    return sql.call("regexp_extract", lexical, sql.text(pattern), 1).cast(type)


def _seconds(value: Value) -> Number:
    lexical = _lexical(value, "dateTime")
    return Number(DECIMAL, _extract(lexical, "T[0-9]{2}:[0-9]{2}:([0-9]{2}([.][0-9]+)?)", EXACT), None)


def _zone(value: Value) -> Expr:
    return let(sql.call("regexp_extract", _lexical(value, "dateTime"), sql.text(f"({_ZONE})$"), 1))


def _timezone(value: Value) -> Node:
    """Return the zone as an xsd:dayTimeDuration; an error without a zone."""
    zone = _zone(value)
    sign = sql.case((sql.call("startswith", zone, sql.text("-")), sql.text("-")), otherwise=_EMPTY)
    hours, minutes = (_unit(zone, start, unit) for start, unit in ((2, "H"), (5, "M")))
    duration = sql.case(
        (zone.eq(_EMPTY), sql.NULL),
        (zone.among(sql.texts(("Z", "+00:00", "-00:00"))), sql.text("PT0S")),
        otherwise=sql.call("concat", sign, sql.text("PT"), hours, minutes),
    )
    return Node(term_columns.typed(duration, "dayTimeDuration"))


def _unit(zone: Expr, start: int, unit: str) -> Expr:
    amount = sql.call("substring", zone, start, 2).cast("INT")
    return sql.case((amount.eq(0), _EMPTY), otherwise=sql.call("concat", amount, sql.text(unit)))


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
