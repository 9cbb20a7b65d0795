"""Tsunami detection without Penstock: the same numbers from the readings by plain arithmetic, exactly."""

from __future__ import annotations

from datetime import datetime, timedelta
from fractions import Fraction

from examples.tsunami.ocean import PLACES, Day, Site, distance, readings
from examples.tsunami.watch import Warned, Watched

WEIGHTS = [
    Fraction(text) for text in ("1.16818457031250", "-0.28197558593750", "0.14689746093750", "-0.03310644531250")
]
MINUTES_10, HOUR = 40, 240  # in readings
THRESHOLD, RADIUS, QUIET = 30, 1200, timedelta(hours=3)


def watched(day: Day) -> Watched:
    heights: dict[str, list[tuple[datetime, int]]] = {}
    for time, buoy, height in readings(day):
        heights.setdefault(buoy.name, []).append((time, height))
    deviations = {name: _deviations(series) for name, series in heights.items()}
    warned = [one for buoy in day.buoys for time in _alarms(deviations[buoy.name]) for one in _near(buoy, time)]
    shown = {name: {time: float(mm) for time, mm in found.items()} for name, found in deviations.items() if found}
    return Watched(shown, sorted(warned))


def _deviations(series: list[tuple[datetime, int]]) -> dict[datetime, Fraction]:
    """Each reading that has ten minutes of readings before it, and before the three times an hour earlier."""
    sums = [0]
    for _, height in series:
        sums.append(sums[-1] + height)

    def mean(last: int) -> Fraction:
        return Fraction(sums[last + 1] - sums[last - MINUTES_10], MINUTES_10 + 1)

    return {
        time: height - sum((w * mean(number - 1 - hours * HOUR) for hours, w in enumerate(WEIGHTS)), Fraction())
        for number, (time, height) in enumerate(series)
        if number - 1 - 3 * HOUR >= MINUTES_10
    }


def _alarms(deviations: dict[datetime, Fraction]) -> list[datetime]:
    """When the threshold is passed, and had not been for three hours."""
    passed = [time for time, mm in deviations.items() if abs(mm) > THRESHOLD]
    return [time for number, time in enumerate(passed) if number == 0 or time - passed[number - 1] >= QUIET]


def _near(buoy: Site, time: datetime) -> list[Warned]:
    ways = ((place, round(distance(buoy, place))) for place in PLACES)
    return [Warned(time, buoy.name, place.name, km) for place, km in ways if km <= RADIUS]
