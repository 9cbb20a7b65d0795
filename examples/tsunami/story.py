"""A day at sea in words: hour by hour how far readings were off, and in between the warnings."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta
from itertools import groupby

from examples.tsunami.ocean import PLACES, QUAKE, START, Day, arrival
from examples.tsunami.watch import Warned, Watched

__all__ = ["first_warnings", "story"]

HOUR = timedelta(hours=1)


def story(day: Day, watched: Watched) -> Iterator[str]:
    """Lines in the order of time."""
    yield "The largest difference from the prediction in each hour, in mm:"
    yield "".join(["       ", *(f"{buoy.name:>6}" for buoy in day.buoys)])
    told = [*_hours(day, watched), *_alarms(day, watched), (START + day.quake * HOUR, _quake())]
    yield from (line for _, line in sorted(told))
    yield ""
    yield from _summary(day, watched)


def _hours(day: Day, watched: Watched) -> Iterator[tuple[datetime, str]]:
    """Each at its end."""
    for number in range(int(day.hours)):
        since = START + number * HOUR
        cells = [_largest(watched.deviations.get(buoy.name, {}), since) for buoy in day.buoys]
        yield since + HOUR, f"{since:%H:%M}  " + "".join(f"{cell:>6}" for cell in cells)


def _largest(deviations: dict[datetime, float], since: datetime) -> str:
    sizes = [abs(mm) for time, mm in deviations.items() if since <= time < since + HOUR]
    return f"{max(sizes):.0f}" if sizes else "–"


def _quake() -> str:
    return f"       {QUAKE.north}° N, {QUAKE.east}° E: the sea floor shakes; the buoys do not know"


def _alarms(day: Day, watched: Watched) -> Iterator[tuple[datetime, str]]:
    for (time, buoy), warned in groupby(watched.warnings, key=lambda one: (one.time, one.buoy)):
        lines = [f"{time:%H:%M:%S}  {buoy} is {watched.deviations[buoy][time]:+.0f} mm off its prediction. Warned:"]
        lines += [f"          {one.place}, {one.km} km away; {_ahead(day, one)}" for one in warned]
        yield time, "\n".join(lines)


def _ahead(day: Day, warned: Warned) -> str:
    """What that was good for."""
    minutes = round((_arrival(day, warned.place) - warned.time) / timedelta(minutes=1))
    return f"the wave comes in {minutes} min" if minutes > 0 else f"the wave came {-minutes} min ago"


def _arrival(day: Day, place: str) -> datetime:
    return next(arrival(day, site) for site in PLACES if site.name == place)


def first_warnings(watched: Watched) -> dict[str, Warned]:
    """Of each place the earliest."""
    found: dict[str, Warned] = {}
    for one in watched.warnings:
        found.setdefault(one.place, one)
    return found


def _summary(day: Day, watched: Watched) -> Iterator[str]:
    first = first_warnings(watched)
    in_time = sum(one.time < _arrival(day, place) for place, one in first.items())
    yield f"{len(first)} of {len(PLACES)} places were warned, {in_time} of them before the wave came."
