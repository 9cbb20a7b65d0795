"""A day at sea as a picture: one buoy's tide, how far all buoys were off, and a map of who was warned."""

from __future__ import annotations

import math
from collections.abc import Iterator
from datetime import datetime, timedelta
from itertools import groupby

from examples.svg import GREY, INK, Scale, circle, line, page, path, rect, text
from examples.tsunami.coast import COASTS
from examples.tsunami.ocean import EARTH, PLACES, QUAKE, SPEED, START, Day, Site, arrival, readings
from examples.tsunami.story import first_warnings
from examples.tsunami.watch import Warned, Watched

__all__ = ["draw"]

WIDTH, HEIGHT, LEFT, RIGHT = 900, 1040, 64, 150
SEA, ORANGE, RED, BAND, LAND = "#1f6f8b", "#e08e2b", "#c8402f", "#e6edf0", "#ece7d8"
EVERY = timedelta(minutes=1)  # a point in a line
TIDE, ROWS, ROW, MAP = (66, 200), 262, 54, (610, 1024)
WEST, EAST, SOUTH, NORTH = 124.0, 244.0, 15.0, 63.0
LABELLED_WEST = {
    "Attu",
    "Nemuro",
    "Hachinohe",
    "Sendai",
    "Choshi",
    "Severo-Kurilsk",
    "Petropavlovsk",
    "Crescent City",
    "Sitka",
    "Lihue",
    "Hilo",
    "Unalaska",
}
MARKS: dict[str, tuple[dict[str, object], str]] = {
    "in time": ({"fill": RED}, "warned in time"),
    "late": ({"fill": "#fff", "stroke": RED, "stroke_width": 2}, "too late"),
    "not": ({"fill": GREY}, "no buoy near"),
}


def draw(day: Day, watched: Watched) -> str:
    """All three, one below the other."""
    title = "A tsunami, seen by five buoys that know the tide"
    hours = Scale(0, day.hours, LEFT, WIDTH - RIGHT)
    parts = [text(LEFT - 48, 28, title, font_size=18, font_weight=600)]
    parts += [*_tide(day, watched, hours), *_deviations(day, watched, hours), *_clock(day, hours), *_map(day, watched)]
    return page(WIDTH, HEIGHT, title, parts)


def _hour(time: datetime) -> float:
    return (time - START) / timedelta(hours=1)


def _tide(day: Day, watched: Watched, x: Scale) -> Iterator[str]:
    """The first buoy's readings, and over them what was predicted."""
    buoy, found = day.buoys[0], watched.deviations.get(day.buoys[0].name, {})
    seen = {time: height for time, at, height in readings(day) if at == buoy and _drawn(time)}
    middle = sum(seen.values()) / len(seen)
    most = max(abs(height - middle) for height in seen.values())
    y = Scale(-most / 1000, most / 1000, TIDE[1], TIDE[0])
    yield text(LEFT - 48, 50, f"Water above the mean at {buoy.name}, in m", fill=GREY)
    for level in (-0.5, 0, 0.5):
        yield line(x.start, y(level), x.end, y(level), stroke="#e3e8ea")
        yield text(x.start - 8, y(level) + 4, f"{level:+g}" if level else "0", text_anchor="end", fill=GREY)
    points = [(x(_hour(time)), y((height - middle) / 1000)) for time, height in seen.items()]
    predicted = [(x(_hour(t)), y((h - found[t] - middle) / 1000)) for t, h in seen.items() if t in found]
    yield path(points, stroke=SEA, stroke_width=3, stroke_opacity=0.45, stroke_linejoin="round")
    if predicted:
        yield path(predicted, stroke=ORANGE, stroke_width=1.4, stroke_linejoin="round")
    yield text(x.end + 12, TIDE[0] + 30, "measured", fill=SEA)
    yield text(x.end + 12, TIDE[0] + 50, "predicted", fill=ORANGE)


def _drawn(time: datetime) -> bool:
    return (time - START) % EVERY == timedelta(0)


def _deviations(day: Day, watched: Watched, x: Scale) -> Iterator[str]:
    """A row a buoy: the band within which nothing is said, and the first reading outside of it."""
    yield text(LEFT - 48, ROWS - 22, "Measured less predicted, in mm (band: ±30)", fill=GREY)
    alarms = {one.buoy: one.time for one in reversed(watched.warnings)}
    for number, buoy in enumerate(day.buoys):
        middle = ROWS + ROW * number + ROW / 2
        y = Scale(-230, 230, middle + ROW / 2, middle - ROW / 2)
        yield rect(x.start, y(30), x.end - x.start, y(-30) - y(30), fill=BAND)
        yield text(x.start - 48, middle + 4, buoy.name, font_weight=600)
        found = watched.deviations.get(buoy.name, {})
        points = [(x(_hour(time)), y(mm)) for time, mm in sorted(found.items()) if _drawn(time)]
        if points:
            yield path(points, stroke=SEA, stroke_width=1.1, stroke_linejoin="round")
        if buoy.name in alarms:
            time = alarms[buoy.name]
            yield circle(x(_hour(time)), y(found[time]), 4.5, fill=RED)
            yield text(x.end + 12, middle + 4, f"alarm at {time:%H:%M:%S}", fill=RED)


def _clock(day: Day, x: Scale) -> Iterator[str]:
    """Hours below the rows, and when the earth quakes through all of them."""
    bottom = ROWS + ROW * len(day.buoys)
    step = max(1, round(day.hours / 12))
    for hour in range(0, int(day.hours) + 1, step):
        yield line(x(hour), bottom + 2, x(hour), bottom + 7, stroke=GREY)
        yield text(x(hour), bottom + 21, f"{hour % 24:02}:00", text_anchor="middle", fill=GREY, font_size=11)
    yield line(x(day.quake), TIDE[0], x(day.quake), bottom + 2, stroke=INK, stroke_dasharray="3 3")
    yield text(x(day.quake) + 6, TIDE[0] + 4, "earthquake", fill=INK, font_size=12)


# The map: degrees are places on the page, so that circles on the globe are none here.


def _place(site: Site) -> tuple[float, float]:
    x = Scale(WEST, EAST, LEFT - 48, WIDTH - 16)
    y = Scale(SOUTH, NORTH, MAP[1], MAP[0])
    return x(site.east % 360), y(site.north)


def _map(day: Day, watched: Watched) -> Iterator[str]:
    left, right = LEFT - 48, WIDTH - 16
    yield text(left, MAP[0] - 14, "Where the wave is hour by hour, and when places were warned", fill=GREY)
    for across, (style, words) in zip((500, 640, 730), MARKS.values(), strict=True):
        yield circle(across, MAP[0] - 18, 4, **style)
        yield text(across + 9, MAP[0] - 14, words, fill=GREY)
    yield rect(left, MAP[0], right - left, MAP[1] - MAP[0], fill="#f4f8fa")
    yield from (path([_place(Site("", *point)) for point in coast], fill=LAND, stroke="#c9c2ac") for coast in COASTS)
    for hours in range(1, 9):
        yield from _front(hours)
    for buoy in day.buoys:
        yield from _buoy(buoy)
    x, y = _place(QUAKE)
    yield text(x, y + 9, "✱", text_anchor="middle", font_size=26, fill=INK)
    first = first_warnings(watched)
    for place in PLACES:
        yield from _town(place, day, first.get(place.name))


def _front(hours: int) -> Iterator[str]:
    """Where the wave is so long after the earthquake: a circle on the globe, in the pieces that are on the map."""
    circle = [_away(hours * SPEED, math.radians(degree)) for degree in range(0, 361, 2)]
    for shown, piece in groupby(circle, key=_on_map):
        if shown:
            yield path([_place(site) for site in piece], stroke="#8fadba", stroke_dasharray="2 4")
    south = _away(hours * SPEED, math.radians(150))
    if _on_map(south):
        x, y = _place(south)
        yield text(x, y - 4, f"{hours} h", text_anchor="middle", fill="#6f91a0", font_size=11)


def _on_map(site: Site) -> bool:
    return WEST < site.east % 360 < EAST and SOUTH < site.north < NORTH


def _away(km: float, course: float) -> Site:
    """So far from the earthquake, in that direction."""
    angle, north = km / EARTH, math.radians(QUAKE.north)
    there = math.asin(math.sin(north) * math.cos(angle) + math.cos(north) * math.sin(angle) * math.cos(course))
    across = math.sin(course) * math.sin(angle) * math.cos(north)
    turn = math.atan2(across, math.cos(angle) - math.sin(north) * math.sin(there))
    return Site("", math.degrees(there), QUAKE.east + math.degrees(turn))


def _buoy(buoy: Site) -> Iterator[str]:
    x, y = _place(buoy)
    yield path([(x, y - 7), (x + 7, y + 5), (x - 7, y + 5), (x, y - 7)], stroke=SEA, fill=ORANGE)
    yield text(x + 10, y + 5, buoy.name, font_weight=600, font_size=12)


def _town(place: Site, day: Day, warned: Warned | None) -> Iterator[str]:
    mark = "not" if warned is None else "late" if warned.time >= arrival(day, place) else "in time"
    x, y = _place(place)
    yield circle(x, y, 4, **MARKS[mark][0])
    side, anchor = (-8, "end") if place.name in LABELLED_WEST else (8, "start")
    words = place.name if warned is None else f"{place.name} {warned.time:%H:%M}"
    yield text(x + side, y + 4, words, text_anchor=anchor, font_size=11.5)
