"""A shift in words: who asks for the way and gets it, who has to wait, whose road is blocked, who arrives."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from datetime import datetime

from examples.delivery.dispatch import Dispatched
from examples.delivery.shift import DEPOT, Trip
from examples.delivery.town import Closure

__all__ = ["story"]

Said = tuple[datetime, str]


def story(trips: list[Trip], closures: Collection[Closure], found: Dispatched) -> Iterator[str]:
    """Lines in the order of time, and a last one that counts."""
    told = [said for trip in trips for said in (*_asking(trip, found), *_arriving(trip))]
    told += _hindered(trips, closures, found)
    yield from (f"{time:%H:%M:%S}  {words}" for time, words in sorted(told))
    yield ""
    arrived = sum(_has_arrived(trip) for trip in trips)
    followed = sum({road.name for road in t.roads} <= found.ways.get((t.asked[-1], t.name), set()) for t in trips)
    yield f"{arrived} orders delivered; {len(found.hindrances)} times a road was blocked that someone was to take."
    yield f"{followed} of {len(trips)} trips went where the answers lead."


def _asking(trip: Trip, found: Dispatched) -> Iterator[Said]:
    """Where one asks again and again only the first time and the last matter."""
    what = "has an order for" if trip.here == DEPOT else f"at {trip.here} looks for another way to"
    for time in dict.fromkeys((trip.asked[0], trip.asked[-1])):
        roads = found.ways.get((time, trip.name), set())
        answer = f"{len(roads)} roads lead there" if roads else "no way is open: waits"
        yield time, f"{trip.courier:<5} {what} {trip.goal}; {answer}"


def _hindered(trips: list[Trip], closures: Collection[Closure], found: Dispatched) -> Iterator[Said]:
    by_name, reasons = {trip.name: trip for trip in trips}, {one.name: one for one in closures}
    for one in found.hindrances:
        closure = reasons[one.closure]
        yield one.time, f"{by_name[one.trip].courier:<5} was to take {closure.road}: blocked by {closure.reason}"


def _arriving(trip: Trip) -> Iterator[Said]:
    if trip.ended is not None and _has_arrived(trip):
        yield trip.ended, f"{trip.courier:<5} delivers at {trip.goal}"


def _has_arrived(trip: Trip) -> bool:
    return trip.ended is not None and trip.at == trip.goal
