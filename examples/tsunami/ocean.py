"""A made-up earthquake in the North Pacific: what buoys measure of it, and which places lie near which buoy.

Tides are two harmonics, readings have noise, and the wave spreads in circles at one speed. The same seed gives the same
day. Places are where they are, to a tenth of a degree; the buoys are invented.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from random import Random

from pyoxigraph import Literal, NamedNode, Triple

__all__ = ["BUOYS", "PLACES", "QUAKE", "START", "STEP", "Day", "Site", "arrival", "distance", "iri", "near", "readings"]

START = datetime(2024, 6, 1, tzinfo=UTC)
STEP = timedelta(seconds=15)
NAMESPACE = "http://example.org/ocean#"

EARTH, SPEED = 6371.0, 800.0  # km, and km an hour: a wave where the ocean is 5 km deep
TIDES = ((12.42, 550.0), (23.93, 280.0))  # hours from high water to high water, and mm
NOISE = 3.0  # mm
HEIGHT, PERIOD, CALM = 3_600.0, 0.35, 1.2  # of the wave: mm × √km, hours between crests, hours to a third of it


@dataclass(frozen=True, slots=True)
class Site:
    """A name and degrees north and east; of a buoy also how deep the ocean is there, in mm."""

    name: str
    north: float
    east: float
    depth: int = 0


QUAKE = Site("earthquake", 48.5, 157.5)
BUOYS = (
    Site("B1", 47.0, 159.5, 5_274_000),
    Site("B2", 50.0, 171.0, 5_512_000),
    Site("B3", 36.5, 148.5, 5_690_000),
    Site("B4", 49.5, -173.0, 4_760_000),
    Site("B5", 24.5, -163.0, 4_830_000),
)
PLACES = (
    Site("Severo-Kurilsk", 50.7, 156.1),
    Site("Petropavlovsk", 53.0, 158.7),
    Site("Nemuro", 43.3, 145.6),
    Site("Hachinohe", 40.5, 141.5),
    Site("Sendai", 38.3, 141.0),
    Site("Choshi", 35.7, 140.8),
    Site("Attu", 52.9, 173.2),
    Site("Adak", 51.9, -176.6),
    Site("Unalaska", 53.9, -166.5),
    Site("Sand Point", 55.3, -160.5),
    Site("Kodiak", 57.8, -152.4),
    Site("Midway", 28.2, -177.4),
    Site("Lihue", 22.0, -159.4),
    Site("Honolulu", 21.3, -157.9),
    Site("Hilo", 19.7, -155.1),
    Site("Sitka", 57.1, -135.3),
    Site("Crescent City", 41.8, -124.2),
)


@dataclass(frozen=True, slots=True)
class Day:
    """How many hours are measured, when the earth quakes (in hours from the start), by which buoys."""

    hours: float = 12
    quake: float = 4.5
    seed: int = 2024
    buoys: tuple[Site, ...] = BUOYS


def readings(day: Day) -> Iterator[tuple[datetime, Site, int]]:
    """Each buoy's water column in whole mm, every 15 seconds, in the order of time."""
    random = Random(day.seed)
    phases = {buoy: [random.uniform(0, math.tau) for _ in TIDES] for buoy in day.buoys}
    for number in range(round(day.hours * 3600 / STEP.total_seconds())):
        time = START + number * STEP
        for buoy in day.buoys:
            hour = (time - START) / timedelta(hours=1)
            level = _tide(hour, phases[buoy]) + _wave(hour - day.quake, buoy) + random.gauss(0, NOISE)
            yield time, buoy, buoy.depth + round(level)


def _tide(hour: float, phases: list[float]) -> float:
    tides = zip(TIDES, phases, strict=True)
    return sum(high * math.sin(math.tau * hour / length + phase) for (length, high), phase in tides)


def _wave(hours: float, buoy: Site) -> float:
    """It rises within half a period, then swings out; energy spreads on a circle, so height falls with √distance."""
    away = distance(QUAKE, buoy)
    since = hours - away / SPEED
    if since < 0:
        return 0.0
    swing = math.sin(math.tau * since / PERIOD) * math.exp(-since / CALM) * min(1.0, 2 * since / PERIOD)
    return HEIGHT / math.sqrt(away) * swing


def arrival(day: Day, site: Site) -> datetime:
    """When the wave is there."""
    return START + timedelta(hours=day.quake + distance(QUAKE, site) / SPEED)


def distance(one: Site, other: Site) -> float:
    """Kilometres along a great circle."""
    first, second = math.radians(one.north), math.radians(other.north)
    turn = math.radians(one.east - other.east)
    chord = math.sin((first - second) / 2) ** 2 + math.cos(first) * math.cos(second) * math.sin(turn / 2) ** 2
    return 2 * EARTH * math.asin(math.sqrt(chord))


def iri(name: str) -> NamedNode:
    return NamedNode(NAMESPACE + name.replace(" ", "_"))


def near(buoys: tuple[Site, ...] = BUOYS) -> Iterator[Triple]:
    """Background knowledge: how many kilometres, whole, each place is away from each buoy."""
    for buoy in buoys:
        for place in PLACES:
            way = iri(f"{buoy.name}-{place.name}")
            yield Triple(way, iri("buoy"), iri(buoy.name))
            yield Triple(way, iri("place"), iri(place.name))
            yield Triple(way, iri("km"), Literal(round(distance(buoy, place))))
    for place in PLACES:
        yield Triple(iri(place.name), iri("name"), Literal(place.name))


def elements(day: Day) -> Iterator[tuple[Triple, datetime]]:
    """The stream: `:B1 :height 5274321` and its time."""
    for time, buoy, height in readings(day):
        yield Triple(iri(buoy.name), iri("height"), Literal(height)), time
