"""The text of a moment (xsd:dateTime) as microseconds since 1970; without a zone it is UTC."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime

from penstock.io.nquads_reasons import clip

__all__ = ["microseconds"]

_DATE_TIME = re.compile(
    r"(-?[0-9]{4,9})-([0-9]{2})-([0-9]{2})T([0-9]{2}):([0-9]{2}):([0-9]{2})(?:\.([0-9]+))?(Z|[+-][0-9]{2}:[0-9]{2})?"
)
_EPOCH_DAY = date(1970, 1, 1).toordinal()
_SECOND = 1_000_000
_FIRST, _LAST = (
    int(datetime(year, month, day, tzinfo=UTC).timestamp()) * _SECOND
    for year, month, day in ((1, 1, 1), (9999, 12, 31))
)
_END = _LAST + 86_400 * _SECOND


def microseconds(text: str) -> int:
    """The moment; a `ValueError` says why it is none. Digits beyond the microsecond are cut off."""
    match = _DATE_TIME.fullmatch(text)
    if match is None:
        raise ValueError(f'the timestamp "{clip(text, 60)}" is not written like 2009-07-20T22:48:52Z')
    year, month, day, hour, minute, second = (int(group) for group in match.groups()[:6])
    if not 1 <= year <= 9999:
        raise ValueError(f'the timestamp "{text}" is not in the years 1 to 9999')
    if not _is_clock(hour, minute, second, match[7]):
        raise ValueError(f'the timestamp "{text}" has an invalid time of day')
    moment = (_days(text, year, month, day) * 86_400 + hour * 3_600 + minute * 60 + second) * _SECOND
    moment += int(((match[7] or "") + "000000")[:6]) - _offset(text, match[8])
    if not _FIRST <= moment < _END:
        raise ValueError(f'the timestamp "{text}" is not in the years 1 to 9999')
    return moment


def _is_clock(hour: int, minute: int, second: int, fraction: str | None) -> bool:
    """24:00:00 is midnight at the end of the day. XML Schema has no leap seconds."""
    if hour == 24:
        return minute == second == 0 and not (fraction or "").strip("0")
    return hour < 24 and minute < 60 and second < 60


def _days(text: str, year: int, month: int, day: int) -> int:
    try:
        return date(year, month, day).toordinal() - _EPOCH_DAY
    except ValueError:
        raise ValueError(f'the timestamp "{text}" has an invalid date') from None


def _offset(text: str, zone: str | None) -> int:
    if zone is None or zone == "Z":
        return 0
    hours, minutes = int(zone[1:3]), int(zone[4:])
    if minutes > 59 or hours * 60 + minutes > 14 * 60:
        raise ValueError(f'the timestamp "{text}" has an invalid time zone')
    return (hours * 60 + minutes) * 60 * _SECOND * (-1 if zone[0] == "-" else 1)
