"""Times, lengths and numbers as the sentences of `why` have them."""

from __future__ import annotations

from penstock.algebra.durations import in_one_unit
from penstock.algebra.windows import UNITS
from penstock.io.results import time_text
from penstock.stream.base.time_values import to_datetime

__all__ = ["at", "counted", "length", "roughly", "share"]


def at(time: int) -> str:
    """A moment: 2009-07-20T08:00:00Z."""
    return time_text(to_datetime(time))


def length(microseconds: int) -> str:
    """A length of time that can be given as an option: 90s."""
    return in_one_unit(microseconds) if microseconds else "0s"


def roughly(microseconds: int) -> str:
    """A length of time in whole units, two at most: 2h 5m, 37s, 250ms."""
    if microseconds < UNITS["ms"]:
        return f"{microseconds}us"
    if microseconds < UNITS["s"]:
        return f"{microseconds // UNITS['ms']}ms"
    parts, rest = [], microseconds
    for unit in ("d", "h", "m", "s"):
        whole, rest = divmod(rest, UNITS[unit])
        parts.append(f"{whole}{unit}" if whole else "")
    first = next(place for place, part in enumerate(parts) if part)
    return " ".join(filter(None, parts[first : first + 2]))


def counted(number: int, what: str) -> str:
    """1 element, 2,000 elements."""
    return f"{number:,} {what}{'' if number == 1 else 's'}"


def share(part: int, total: int, what: str) -> str:
    """A number out of all, in words: the only element, all 40 elements, 3 of 40 elements."""
    if part < total:
        return f"{part:,} of {total:,} {what}s"
    return f"The only {what}" if total == 1 else f"All {total:,} {what}s"
