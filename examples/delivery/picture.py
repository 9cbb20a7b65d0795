"""A way round as a picture: the road that was to be taken and is blocked, and what leads to the goal from there."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from datetime import datetime
from itertools import pairwise

from examples.delivery.dispatch import Dispatched
from examples.delivery.shift import Trip
from examples.delivery.town import HIGH, RIVER, Closure, Junction, Road, streets
from examples.svg import GREY, INK, circle, line, page, path, rect, text

__all__ = ["draw"]

WIDTH, HEIGHT, CELL, TOP = 900, 462, 46, 96
LEFTS = (16, 464)  # of the two maps
STREET, WATER, OPEN, CHOSEN, PLANNED, RED = "#cfd6da", "#d5e8f1", "#a9d3c0", "#1f7a54", "#e08e2b", "#c8402f"
LEGEND = (("driven", INK, 5), ("planned", PLANNED, 5), ("leads to the goal", OPEN, 9), ("chosen", CHOSEN, 4))
THICK = {"stroke_linecap": "round", "stroke_linejoin": "round"}


def draw(trips: list[Trip], closures: Collection[Closure], found: Dispatched) -> str:
    """The hindrance with the most ways round it, one of a bridge if there is any; before and after."""
    title = "A road is blocked, and the ways that are left"
    parts = [text(LEFTS[0], 30, title, font_size=18, font_weight=600)]
    turns = [turn for turn in pairwise(trips) if _hindered(turn[0], turn[1], found)]
    if turns:
        old, new = max(turns, key=lambda turn: _interest(turn[0], turn[1], closures, found))
        parts += [*_before(old, closures, found), *_after(new, closures, found), *_legend()]
    return page(WIDTH, HEIGHT, title, parts)


def _hindered(old: Trip, new: Trip, found: Dispatched) -> bool:
    return old.courier == new.courier and any(one.trip == old.name for one in found.hindrances)


def _interest(old: Trip, new: Trip, closures: Collection[Closure], found: Dispatched) -> tuple[bool, int]:
    roads = {one.road for one in found.hindrances if one.trip == old.name}
    bridge = any(one.road.is_bridge and one.road.name in roads for one in closures)
    return bridge and new.here != old.here, len(found.ways.get((new.asked[-1], new.name), ()))


def _before(trip: Trip, closures: Collection[Closure], found: Dispatched) -> Iterator[str]:
    hindrance = next(one for one in found.hindrances if one.trip == trip.name)
    taken = [time for time in trip.entered if time < hindrance.time]
    caption = f"{hindrance.time:%H:%M:%S}  {trip.courier} is bound for {trip.goal}; a road ahead is blocked"
    town = Town(LEFTS[0], caption)
    yield from town.base()
    yield town.roads(trip.roads[len(taken) :], stroke=PLANNED, stroke_width=5)
    yield town.roads(trip.roads[: len(taken)], stroke=INK, stroke_width=5)
    yield from town.blocked(_closed(closures, hindrance.time), hindrance.road)
    yield from town.ends(trip.roads[len(taken) - 1].b if taken else trip.here, trip.goal)


def _after(trip: Trip, closures: Collection[Closure], found: Dispatched) -> Iterator[str]:
    time = trip.asked[-1]
    ways = found.ways.get((time, trip.name), set())
    town = Town(LEFTS[1], f"{time:%H:%M:%S}  {len(ways)} open roads lead there; any turn into them arrives")
    yield from town.base()
    yield from (town.roads([road], stroke=OPEN, stroke_width=9) for road in streets() if road.name in ways)
    yield town.roads(trip.roads, stroke=CHOSEN, stroke_width=4)
    yield from town.blocked(_closed(closures, time))
    yield from town.ends(trip.here, trip.goal)


def _closed(closures: Iterable[Closure], time: datetime) -> list[Road]:
    return [one.road for one in closures if one.at(time)]


class Town:
    """The map of the town, its north-western corner at a place of the page."""

    def __init__(self, left: float, caption: str) -> None:
        self.left, self.caption = left, caption

    def place(self, junction: Junction) -> tuple[float, float]:
        return self.left + CELL / 2 + CELL * junction.x, TOP + CELL / 2 + CELL * junction.y

    def base(self) -> Iterator[str]:
        """The river, then the streets, each with an arrow that says where it leads."""
        yield text(self.left, TOP - 34, self.caption, font_size=12.5)
        shore, _ = self.place(Junction(RIVER - 1, 0))
        yield rect(shore + 10, TOP - 8, CELL - 20, CELL * HIGH + 16, fill=WATER)
        for road in streets():
            (x1, y1), (x2, y2) = self.place(road.a), self.place(road.b)
            yield line(x1, y1, x2, y2, stroke=STREET, stroke_width=3)
            yield _arrow((x1 + x2) / 2, (y1 + y2) / 2, (x2 - x1) / CELL, (y2 - y1) / CELL)

    def roads(self, roads: Collection[Road], **style: object) -> str:
        """One after the other."""
        points = [self.place(road.a) for road in roads] + [self.place(road.b) for road in list(roads)[-1:]]
        return path(points, **THICK, **style) if points else ""

    def blocked(self, roads: Iterable[Road], new: str = "") -> Iterator[str]:
        for road in roads:
            (x1, y1), (x2, y2) = self.place(road.a), self.place(road.b)
            x, y, size = (x1 + x2) / 2, (y1 + y2) / 2, 9 if road.name == new else 5.5
            if road.name == new:
                yield circle(x, y, 14, fill="#fff", stroke=RED, stroke_width=2)
            yield from _cross(x, y, size)

    def ends(self, here: Junction, goal: Junction) -> Iterator[str]:
        x, y = self.place(here)
        yield circle(x, y, 8, fill=INK, stroke="#fff", stroke_width=2)
        x, y = self.place(goal)
        yield path([(x, y), (x, y - 24), (x + 16, y - 18), (x, y - 12)], stroke=INK, stroke_width=2, fill=PLANNED)
        yield circle(x, y, 4, fill=INK)


def _cross(x: float, y: float, size: float) -> Iterator[str]:
    yield line(x - size, y - size, x + size, y + size, stroke=RED, stroke_width=3)
    yield line(x - size, y + size, x + size, y - size, stroke=RED, stroke_width=3)


def _arrow(x: float, y: float, east: float, south: float) -> str:
    """A small one in the middle of a street."""
    tip = (x + 5 * east, y + 5 * south)
    wings = [(x - 3 * east + 4 * side * south, y - 3 * south + 4 * side * east) for side in (1, -1)]
    return path([wings[0], tip, wings[1]], stroke="#aab4ba", stroke_width=1.5)


def _legend() -> Iterator[str]:
    y, x = TOP + CELL * HIGH + 36, float(LEFTS[0])
    for words, colour, width in LEGEND:
        yield line(x + 4, y - 4, x + 26, y - 4, stroke=colour, stroke_width=width, stroke_linecap="round")
        yield text(x + 36, y, words, fill=GREY)
        x += 62 + 7.5 * len(words)
    yield from _cross(x + 8, y - 5, 5.5)
    yield text(x + 22, y, "blocked; streets lead east, or south down the hill", fill=GREY)
