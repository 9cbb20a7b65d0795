"""A town on a slope: its streets as background knowledge, and what is blocked when. The same seed gives the same day.

Streets are one-way: east, or down the hill to the south. So no way leads back, all ways to a place are equally long,
and whoever turns south too early may never get to the bridge: what matters is whether the goal can still be reached.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cache
from random import Random

from pyoxigraph import NamedNode, Triple

__all__ = ["START", "Closure", "Junction", "Road", "background", "closures", "iri", "streets"]

START = datetime(2024, 6, 3, 8, tzinfo=UTC)
NAMESPACE = "http://example.org/town#"

WIDE, HIGH = 9, 7  # junctions
RIVER, BRIDGES = 4, (1, 4, 6)  # the river flows west of this column, and these rows cross it
ROWS = ("Upper Row", "Church Street", "Mill Street", "Market Street", "Bridge Street", "Rope Walk", "Quay")
REASONS = ("an accident", "roadworks", "a parade", "a burst pipe", "a fallen tree", "a film crew")
SHORTEST, LONGEST = 4, 25  # minutes that something is in the way


@dataclass(frozen=True, slots=True, order=True)
class Junction:
    """Counted from the north-western corner, to the east and to the south."""

    x: int
    y: int

    @property
    def name(self) -> str:
        return f"j{self.x}{self.y}"

    def __str__(self) -> str:
        return f"{ROWS[self.y]}/{self.x + 1}"


@dataclass(frozen=True, slots=True, order=True)
class Road:
    """From a junction to the next."""

    a: Junction
    b: Junction

    @property
    def name(self) -> str:
        return f"r{self.a.x}{self.a.y}{'e' if self.b.x > self.a.x else 's'}"

    @property
    def is_bridge(self) -> bool:
        return self.b.x == RIVER > self.a.x

    def __str__(self) -> str:
        return f"{'the bridge of ' * self.is_bridge}{self.a}→{self.b}"


@dataclass(frozen=True, slots=True)
class Closure:
    """A road that cannot be passed from a moment until another."""

    road: Road
    since: datetime
    until: datetime
    number: int
    reason: str

    @property
    def name(self) -> str:
        return f"i{self.number}"

    def at(self, time: datetime) -> bool:
        return self.since <= time < self.until


@cache
def streets() -> tuple[Road, ...]:
    """All roads of the town."""
    junctions = [Junction(x, y) for x in range(WIDE) for y in range(HIGH)]
    east = (Road(j, Junction(j.x + 1, j.y)) for j in junctions if j.x + 1 < WIDE)
    south = (Road(j, Junction(j.x, j.y + 1)) for j in junctions if j.y + 1 < HIGH)
    return (*(road for road in east if not road.is_bridge or road.a.y in BRIDGES), *south)


@cache
def closures(minutes: int, each: float, seed: int) -> tuple[Closure, ...]:
    """So many a minute, none of a road that is closed already. The first one is there before work begins."""
    random, roads, found = Random(seed), streets(), list[Closure]()
    for number in range(round(minutes * each)):
        second = -30 if number == 0 else random.randrange(minutes) * 60 + random.randint(5, 55)
        since = START + timedelta(seconds=second)
        until = since + timedelta(minutes=random.randint(SHORTEST, LONGEST))
        road, reason = random.choice(roads), random.choice(REASONS)
        if not any(one.road == road and one.since <= until and since <= one.until for one in found):
            found.append(Closure(road, since, until, number, reason))
    return tuple(sorted(found, key=lambda closure: closure.since))


def iri(name: str) -> NamedNode:
    return NamedNode(NAMESPACE + name)


def background() -> Iterator[Triple]:
    """`:r00e :from :j00 ; :to :j10`"""
    for road in streets():
        yield Triple(iri(road.name), iri("from"), iri(road.a.name))
        yield Triple(iri(road.name), iri("to"), iri(road.b.name))
