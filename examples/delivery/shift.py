"""A shift of couriers: who has to go where, asks for the way when, and is on which road. The same seed, the same shift.

A road takes a minute. On the full minute a courier is at a junction, and asks for the way at the depot, or if the road
was blocked on which they were to go on. They take any way of those that lead to the goal; if there is none, they wait
and ask again. Here the couriers find their ways themselves, so that the streams are complete before any query is
asked; what the queries answer is then compared with what they did.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import cache
from random import Random

from pyoxigraph import Triple

from examples.delivery.town import START, Closure, Junction, Road, closures, iri, streets

__all__ = ["Shift", "Trip", "elements", "ways", "work"]

COURIERS = ("Ann", "Bob", "Cem", "Dora", "Emil", "Fay", "Gus", "Hana", "Ines", "Jan", "Kim", "Lou")
DEPOT = Junction(0, 0)
NEAREST = 5  # a goal is at least so many roads away from the depot
REST = (2, 8)  # minutes between two orders
MINUTE = timedelta(minutes=1)
PLANNED, ENTERED = timedelta(seconds=1), timedelta(seconds=2)  # after the full minute


@dataclass(frozen=True, slots=True)
class Shift:
    """How many minutes are worked, by how many couriers, and how many roads a minute are blocked."""

    minutes: int = 120
    couriers: int = len(COURIERS)
    blocked: float = 0.7
    seed: int = 4

    @property
    def closures(self) -> tuple[Closure, ...]:
        return closures(self.minutes, self.blocked, self.seed)


@dataclass(slots=True)
class Trip:
    """A way from somewhere to a goal: when it was asked for, the roads that were chosen, and how many were taken."""

    name: str
    courier: str
    here: Junction
    goal: Junction
    asked: list[datetime] = field(default_factory=list)
    roads: list[Road] = field(default_factory=list)
    entered: list[datetime] = field(default_factory=list)
    ended: datetime | None = None

    @property
    def at(self) -> Junction:
        return self.roads[len(self.entered) - 1].b if self.entered else self.here

    @property
    def ahead(self) -> list[Road]:
        return self.roads[len(self.entered) :]


def ways(here: Junction, goal: Junction, closed: Collection[Road]) -> list[Road]:
    """The roads that lie on some way from here to there. No road leads back, so one pass each way finds all."""
    roads = [road for road in sorted(streets(), key=lambda road: road.a.x + road.a.y) if road not in closed]
    forward, backward = {here}, {goal}
    for road in roads:
        forward |= {road.b} if road.a in forward else set()
    for road in reversed(roads):
        backward |= {road.a} if road.b in backward else set()
    return [road for road in roads if road.a in forward and road.b in backward]


def work(shift: Shift) -> list[Trip]:
    """All trips of the shift, courier by courier."""
    blocked = shift.closures
    couriers = [_Courier(name, blocked, Random(f"{name} {shift.seed}")) for name in COURIERS[: shift.couriers]]
    for minute in range(shift.minutes):
        for courier in couriers:
            courier.minute(START + minute * MINUTE)
    return [trip for courier in couriers for trip in courier.trips]


class _Courier:
    """What one of them does, minute by minute."""

    def __init__(self, name: str, blocked: Collection[Closure], random: Random) -> None:
        self.name, self.trips = name, list[Trip]()
        self._blocked, self._random = blocked, random
        self._here, self._goal = DEPOT, self._order()
        self._free = START + random.randint(*REST) * MINUTE
        self._trip: Trip | None = None

    def minute(self, now: datetime) -> None:
        if self._trip and self._trip.roads and (not self._trip.ahead or self._hindered(self._trip, now)):
            self._end(self._trip, now)
        if self._trip is None and now >= self._free:
            self._trip = Trip(f"{self.name}-{len(self.trips) + 1}", self.name, self._here, self._goal)
            self.trips.append(self._trip)
        if self._trip and not self._trip.roads:
            self._ask(self._trip, now)
        if self._trip and self._trip.roads:
            self._trip.entered.append(now + ENTERED)

    def _hindered(self, trip: Trip, now: datetime) -> bool:
        """Whether a road ahead has been blocked since it was chosen, even if it is free again."""
        return any(one.road in trip.ahead and trip.asked[-1] < one.since <= now for one in self._blocked)

    def _ask(self, trip: Trip, now: datetime) -> None:
        trip.asked.append(now)
        found = ways(trip.here, trip.goal, [one.road for one in self._blocked if one.at(now)])
        here = trip.here
        while found and here != trip.goal:
            trip.roads.append(self._random.choice([road for road in found if road.a == here]))
            here = trip.roads[-1].b

    def _end(self, trip: Trip, now: datetime) -> None:
        trip.ended, self._trip = now, None
        if trip.ahead:
            self._here = trip.at
        else:
            self._here, self._goal = DEPOT, self._order()
            self._free = now + self._random.randint(*REST) * MINUTE

    def _order(self) -> Junction:
        return self._random.choice(_goals())


@cache
def _goals() -> list[Junction]:
    return sorted({road.b for road in streets() if road.b.x + road.b.y >= NEAREST and ways(DEPOT, road.b, ())})


def elements(trips: Collection[Trip], blocked: Collection[Closure]) -> dict[str, list[tuple[Triple, datetime]]]:
    """What each stream says, in the order of time."""
    streams = {"traffic": [*_traffic(blocked)], "couriers": [one for trip in trips for one in _told(trip)]}
    return {name: sorted(said, key=lambda one: one[1]) for name, said in streams.items()}


def _traffic(blocked: Collection[Closure]) -> Iterator[tuple[Triple, datetime]]:
    """`:r00e :blocked :i7`, and later `:r00e :freed :i7`"""
    for one in blocked:
        yield _triple(one.road.name, "blocked", one.name), one.since
        yield _triple(one.road.name, "freed", one.name), one.until


def _told(trip: Trip) -> Iterator[tuple[Triple, datetime]]:
    """`:Ann-1 :leaves :j00 ; :goal :j53`, the roads it is to go `:over`, those it `:enters`, where it `:ends`."""
    for asked in trip.asked:
        yield _triple(trip.name, "leaves", trip.here.name), asked
        yield _triple(trip.name, "goal", trip.goal.name), asked
    for road in trip.roads:
        yield _triple(trip.name, "over", road.name), trip.asked[-1] + PLANNED
    for road, time in zip(trip.roads, trip.entered, strict=False):
        yield _triple(trip.name, "enters", road.name), time
    if trip.ended is not None:
        yield _triple(trip.name, "ends", trip.at.name), trip.ended


def _triple(*names: str) -> Triple:
    return Triple(*map(iri, names))
