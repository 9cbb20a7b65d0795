"""xsd:dateTime and xsd:date: comparison and components. https://www.w3.org/TR/sparql11-query/#func-date-time

Two moments with a time zone, or two without, compare on the time line; with just one zone known, only where no zone could
turn the answer around (14 hours either way), as XML Schema orders them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from penstock.spark import encoding, sql
from penstock.spark.functions.arithmetic import integer
from penstock.spark.lets import let
from penstock.spark.values import DECIMAL, EXACT, Node, Number, Text, Value, term

_ZONE = "(Z|[+-][0-9]{2}:[0-9]{2})"
DATE_TIME_FORM = f"^[0-9]{{4}}-[0-9]{{2}}-[0-9]{{2}}T[0-9]{{2}}:[0-9]{{2}}:[0-9]{{2}}([.][0-9]+)?{_ZONE}?$"
DATE_FORM = f"^[0-9]{{4}}-[0-9]{{2}}-[0-9]{{2}}{_ZONE}?$"
_FOURTEEN_HOURS = 14 * 3600 * 1_000_000


@dataclass(frozen=True, slots=True)
class Moment:
    """A point in time as microseconds since the epoch, UTC where no zone is given; all SQL."""

    datatype: str
    micros: str
    zoned: str

    def compare(self, symbol: str, other: Moment) -> str:
        margin = f"(CASE WHEN {self.zoned} = {other.zoned} THEN 0 ELSE {_FOURTEEN_HOURS} END)"
        surely_before = f"{self.micros} + {margin} < {other.micros}"
        surely_after = f"{self.micros} > {other.micros} + {margin}"
        branches = [(f"{surely_before} OR {surely_after}", f"{self.micros} {symbol} {other.micros}")]
        if symbol == "=":
            branches.append((f"{self.zoned} <> {other.zoned}", "false"))
        same_line = f"{self.zoned} = {other.zoned}"
        branches.append((same_line, f"{self.micros} {symbol} {other.micros}"))
        return sql.when(f"{self.datatype} = {other.datatype}", sql.case(*branches))


def moment(encoded: str) -> Moment:
    """The moment of an encoded term; NULL where it is none."""
    lexical, tail = encoding.lexical(encoded), encoding.tail(encoded)
    date = f"concat(substring({lexical}, 1, 10), 'T00:00:00', substring({lexical}, 11))"
    iso = sql.case(
        (f"{tail} = {sql.text(encoding.tail_of('dateTime'))}", lexical),
        (f"{tail} = {sql.text(encoding.tail_of('date'))}", date),
    )
    micros = let(f"unix_micros(CAST({valid(let(iso), DATE_TIME_FORM)} AS TIMESTAMP))")
    return Moment(tail, micros, let(f"({lexical} RLIKE {sql.text(_ZONE + '$')})"))


def valid(lexical: str, form: str) -> str:
    return sql.when(f"{lexical} RLIKE {sql.text(form)}", lexical)


def _lexical(value: Value, *datatypes: str) -> str:
    encoded = term(value)
    is_one = encoding.has_type(encoded, *datatypes)
    return let(sql.when(f"{is_one} AND {moment(encoded).micros} IS NOT NULL", encoding.lexical(encoded)))


def _part(pattern: str, *datatypes: str) -> Callable[[Value], Number]:
    return lambda value: integer(_extract(_lexical(value, *datatypes), pattern, "INT"))


def _extract(lexical: str, pattern: str, spark_type: str) -> str:
    return f"CAST(regexp_extract({lexical}, {sql.text(pattern)}, 1) AS {spark_type})"


def _seconds(value: Value) -> Number:
    lexical = _lexical(value, "dateTime")
    return Number(DECIMAL, _extract(lexical, "T[0-9]{2}:[0-9]{2}:([0-9]{2}([.][0-9]+)?)", EXACT), None)


def _zone(value: Value) -> str:
    return let(f"regexp_extract({_lexical(value, 'dateTime')}, {sql.text(_ZONE + '$')}, 1)")


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
    return Node(encoding.typed(duration, "dayTimeDuration"))


def _unit(zone: str, start: int, unit: str) -> str:
    amount = f"CAST(substring({zone}, {start}, 2) AS INT)"
    return f"CASE WHEN {amount} = 0 THEN '' ELSE concat({amount}, '{unit}') END"


FUNCTIONS: dict[str, Callable[..., Value]] = {
    "YEAR": _part("^([0-9]{4})", "dateTime", "date"),
    "MONTH": _part("^[0-9]{4}-([0-9]{2})", "dateTime", "date"),
    "DAY": _part("^[0-9]{4}-[0-9]{2}-([0-9]{2})", "dateTime", "date"),
    "HOURS": _part("T([0-9]{2})", "dateTime"),
    "MINUTES": _part("T[0-9]{2}:([0-9]{2})", "dateTime"),
    "SECONDS": _seconds,
    "TIMEZONE": _timezone,
    "TZ": lambda value: Text(_zone(value)),
}
