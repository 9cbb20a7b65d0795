"""Timestamps and durations of users as microseconds (since 1970), and back."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import Any, TypeAlias, overload

import numpy as np
from pyoxigraph import Literal, NamedNode

from penstock.algebra.durations import lengths
from penstock.algebra.windows import UNITS
from penstock.errors import OptionError
from penstock.io.results import time_literal, time_text
from penstock.syntax.units import UNITS as WORDS

__all__ = ["Duration", "Moment", "duration_option", "microseconds", "moment", "stamp", "to_datetime"]

Duration: TypeAlias = str | int | timedelta
Moment: TypeAlias = datetime | int | np.datetime64 | np.integer[Any]

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
_FIRST = (datetime.min.replace(tzinfo=UTC) - _EPOCH) // _MICROSECOND
_LAST = (datetime.max.replace(tzinfo=UTC) - _EPOCH) // _MICROSECOND

_COARSER = {"seconds": (1_000_000, 100_000), "milliseconds": (1_000, 10_000_000)}  # with the step of a made-up stream
_EARLY, _LATE = ((datetime(year, 1, 1, tzinfo=UTC) - _EPOCH) // _MICROSECOND for year in (2000, 2100))

_XSD_DURATION = NamedNode("http://www.w3.org/2001/XMLSchema#duration")
_FINER = dict.fromkeys(("us", "µs", "microsecond", "microseconds"), "us")  # finer than a query can be
_UNIT_OF = {word: UNITS[unit] for word, unit in (WORDS | _FINER).items()}
_DURATION = re.compile(r"\s*(\d+(?:\.\d+)?)\s*([a-zµ]+)\s*", re.IGNORECASE)


def microseconds(duration: Duration) -> int:
    """A duration as microseconds: "10s", "500 ms", "2 minutes", "PT1H", a timedelta, or a number of microseconds."""
    if isinstance(duration, str):
        value = _parse_duration(duration)
    elif isinstance(duration, timedelta):
        value = duration // _MICROSECOND
    elif isinstance(duration, int):
        value = duration
    else:
        raise OptionError(f"{duration!r} is not a duration: give a text such as 10s, a timedelta, or microseconds")
    if value < 0:
        raise OptionError(f"a duration must not be negative: {duration}")
    return value


def duration_option(name: str, duration: Duration | None) -> int | None:
    """A duration that may be left out as microseconds; an error says which option it is of."""
    try:
        return None if duration is None else microseconds(duration)
    except OptionError as error:
        raise OptionError(f"{name}: {error}") from None


def _parse_duration(text: str) -> int:
    least, most = lengths(Literal(text.strip(), datatype=_XSD_DURATION)) or (0, 1)
    if least == most:  # a month may be longer or shorter
        return least
    match = _DURATION.fullmatch(text)
    unit = _UNIT_OF.get(match[2].lower()) if match else None
    if match is None or unit is None:
        raise OptionError(f'"{text}" is not a duration: write one as 10s, 500ms, 5m, 2h, 1d, "2 minutes" or PT1H')
    whole, _, fraction = match[1].partition(".")
    return int(whole) * unit + int(fraction or 0) * unit // int("1" + "0" * len(fraction))


def moment(time: Moment) -> int:
    """A moment as microseconds since 1970; a datetime without a zone is in UTC, as timestamps in streams are.

    Times of pandas are datetimes; those of numpy are taken too, whatever their unit."""
    if isinstance(time, int | np.integer):
        return _microseconds_meant(int(time))
    if isinstance(time, datetime) and time == time:  # pandas' NaT is a datetime that is not even equal to itself
        return ((time if time.tzinfo else time.replace(tzinfo=UTC)) - _EPOCH) // _MICROSECOND
    if isinstance(time, np.datetime64) and not np.isnat(time):
        return int(time.astype("datetime64[us]").astype(np.int64))
    raise OptionError(f"{time!r} is not a time: give a datetime, or microseconds since 1970")


def _microseconds_meant(time: int) -> int:
    """The number itself. One that is early in 1970, and as seconds or milliseconds in our days, is refused, unless it
    is round as microseconds: times of made-up streams, which count from 1970, mostly are."""
    for unit, (factor, step) in _COARSER.items():
        if time % step and _EARLY <= time * factor < _LATE:
            readings = f"{_text(time)} as microseconds and {_text(time * factor)} as {unit}"
            raise OptionError(f"{time} is {readings}: give microseconds ({time * factor}) or a datetime")
    return time


def _text(time: int) -> str:
    return time_text(to_datetime(time))


@overload
def to_datetime(time: int) -> datetime: ...
@overload
def to_datetime(time: int | None) -> datetime | None: ...
def to_datetime(time: int | None) -> datetime | None:
    """The moment for people, in UTC; what lies outside Python's calendar becomes its first or last moment."""
    return None if time is None else _EPOCH + timedelta(microseconds=min(max(time, _FIRST), _LAST))


def stamp(time: int, start: int | None = None) -> str:
    """The moment as the fourth term of timestamped N-Quads, or if there is a start, the interval that it ends."""
    return time_literal(to_datetime(time), to_datetime(start))
