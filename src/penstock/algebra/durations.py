"""Lengths of time that a query is written with: https://www.w3.org/TR/xmlschema-2/#duration

A month has no one length. XML Schema compares durations by adding each to four given days; so a duration lies between
the shortest and the longest of its four sums.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import date

from pyoxigraph import Literal

from penstock.algebra.windows import UNITS

__all__ = ["in_one_unit", "lengths", "written"]

_TYPES = frozenset(
    f"http://www.w3.org/2001/XMLSchema#{name}" for name in ("duration", "dayTimeDuration", "yearMonthDuration")
)
_FORM = re.compile(
    r"(?P<minus>-?)P(?=.)(?:(?P<years>\d+)Y)?(?:(?P<months>\d+)M)?(?:(?P<d>\d+)D)?"
    r"(?:T(?=.)(?:(?P<h>\d+)H)?(?:(?P<m>\d+)M)?(?:(?P<s>\d+)(?:\.(?P<us>\d+))?S)?)?",
    re.ASCII,
)
_DAYS = tuple(date(*day) for day in ((1696, 9, 1), (1697, 2, 1), (1903, 3, 1), (1903, 7, 1)))
_MOST_MONTHS = 12 * 8_000  # the calendar ends soon after


def lengths(literal: Literal) -> tuple[int, int] | None:
    """The shortest and the longest that a duration may be, in microseconds; None if it is no duration."""
    match = _FORM.fullmatch(literal.value) if literal.datatype.value in _TYPES else None
    if match is None:
        return None
    parts = {name: int(text) for name, text in match.groupdict().items() if text and text.isdecimal()}
    parts["us"] = int((match["us"] or "")[:6].ljust(6, "0"))
    months = 12 * parts.get("years", 0) + parts.get("months", 0)
    if months > _MOST_MONTHS:
        return None
    exact = sum(parts.get(unit, 0) * size for unit, size in UNITS.items())
    sums = [exact + UNITS["d"] * _days_of_months(start, months) for start in _DAYS]
    return (-max(sums), -min(sums)) if match["minus"] else (min(sums), max(sums))


def _days_of_months(start: date, months: int) -> int:
    """The number of days in that many months from that day on."""
    years, month = divmod(start.month - 1 + months, 12)
    return (date(start.year + years, month + 1, start.day) - start).days


def in_one_unit(microseconds: int, units: Iterable[str] = tuple(UNITS)) -> str:
    """A length in the largest of the units that divides it: 90s, 2h."""
    unit = max((unit for unit in units if microseconds % UNITS[unit] == 0), key=lambda unit: UNITS[unit])
    return f"{microseconds // UNITS[unit]}{unit}"


def written(microseconds: int) -> str:
    """A length that is not negative as xsd:duration has it, without parts that are zero."""
    days, rest = divmod(microseconds, UNITS["d"])
    hours, rest = divmod(rest, UNITS["h"])
    minutes, rest = divmod(rest, UNITS["m"])
    seconds = f"{rest // UNITS['s']}.{rest % UNITS['s']:06}".rstrip("0").rstrip(".")
    clock = "".join(f"{n}{unit}" for n, unit in ((hours, "H"), (minutes, "M"), (seconds, "S")) if n not in (0, "0"))
    day = f"{days}D" if days else ""
    return f"P{day}{'T' + clock if clock else ''}" if day or clock else "PT0S"
