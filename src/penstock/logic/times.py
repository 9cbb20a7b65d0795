"""Times in logic tests: offsets from 1970 such as 0:30, 1:10:00 or 90, and full xsd:dateTime."""

from __future__ import annotations

import re
from datetime import datetime

from penstock.answer import Answer
from penstock.io.results import time_text
from penstock.logic.model import When
from penstock.stream.base.time_values import moment, to_datetime

__all__ = ["INTERVAL", "is_time", "read_time", "read_times", "when_of", "write_time", "write_when"]

_OFFSET = re.compile(r"(?:(?:(\d+):)?(\d+):)?(\d+(?:\.\d{1,6})?)")
_MOMENT = re.compile(r"\d{4}-\d\d-\d\dT\S+")
_DAY = 86_400_000_000
INTERVAL = ".."  # between its bounds


def is_time(text: str) -> bool:
    """Whether that is a time rather than a name."""
    return bool(_OFFSET.fullmatch(text) or _MOMENT.fullmatch(text))


def read_time(text: str) -> int:
    """Microseconds since 1970. ValueError if it is no time."""
    if offset := _OFFSET.fullmatch(text):
        hours, minutes, seconds = offset.groups()
        whole, _, fraction = seconds.partition(".")
        return ((int(hours or 0) * 60 + int(minutes or 0)) * 60 + int(whole)) * 1_000_000 + int(fraction.ljust(6, "0"))
    if not _MOMENT.fullmatch(text):
        raise ValueError(f"{text} is no time: write m:ss, h:mm:ss, seconds, or a full dateTime")
    return moment(datetime.fromisoformat(text))


def read_times(line: str) -> tuple[tuple[int, ...], str]:
    """The time that a line begins with, or a start and an end; and the rest of it. ValueError if there is none."""
    first, *words = line.split(maxsplit=3)
    if words[:1] != [INTERVAL]:
        return (read_time(first),), line.removeprefix(first)
    if len(words) < 2:
        raise ValueError(f"write an element with a duration as: 1:00 {INTERVAL} 2:00, with its end")
    start, end = read_time(first), read_time(words[1])
    if end < start:
        raise ValueError(f"an element does not end before it begins: {write_when(start, end)}")
    return (start, end), words[2] if len(words) > 2 else ""


def write_time(time: int | None) -> str:
    """The time as text: an offset on the first days of 1970, else a full dateTime."""
    if time is None:
        return "once"
    if not 0 <= time < 10 * _DAY:
        return time_text(to_datetime(time))
    seconds, fraction = divmod(time, 1_000_000)
    minutes, seconds = divmod(seconds, 60)
    hours, minutes = divmod(minutes, 60)
    tail = f"{seconds:02}" + (f".{fraction:06}".rstrip("0") if fraction else "")
    return f"{hours}:{minutes:02}:{tail}" if hours else f"{minutes}:{tail}"


def when_of(answer: Answer) -> When:
    """The answer's instant, or the bounds of its interval."""
    *since, end = [None if time is None else moment(time) for time in answer.when.values()] or [None]
    return next(iter(since), None), end


def write_when(since: int | None, time: int | None) -> str:
    """An instant, or an interval; one that is still open has no end."""
    if since is None:
        return write_time(time)
    return f"{write_time(since)} {INTERVAL}" + ("" if time is None else f" {write_time(time)}")
