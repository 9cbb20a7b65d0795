"""Goods delivery without Penstock: all ways by trying them, and hindrances from what the streams say."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime

from pyoxigraph import Triple

from examples.delivery.dispatch import Hindrance
from examples.delivery.shift import Shift, elements, ways, work
from examples.delivery.town import Junction, Road, streets


def routes(here: Junction, goal: Junction, roads: Sequence[Road]) -> Iterator[tuple[Road, ...]]:
    """All of them, by trying."""
    if here == goal:
        yield ()
    for road in roads:
        if road.a == here:
            yield from ((road, *rest) for rest in routes(road.b, goal, roads))


def _closed(shift: Shift, time: datetime) -> set[Road]:
    return {one.road for one in shift.closures if one.since <= time < one.until}


def all_ways(shift: Shift) -> dict[tuple[datetime, str], set[str]]:
    found = {}
    for trip in work(shift):
        for time in trip.asked:
            open = [road for road in streets() if road not in _closed(shift, time)]
            found[time, trip.name] = {road.name for route in routes(trip.here, trip.goal, open) for road in route}
    return {asked: roads for asked, roads in found.items() if roads}


def hindrances(shift: Shift) -> list[Hindrance]:
    """From what the streams say alone: planned before, and neither entered nor over in between."""
    said = elements(work(shift), shift.closures)
    told, traffic = ([_said(*element) for element in said[stream]] for stream in ("couriers", "traffic"))
    return sorted(
        Hindrance(now, trip, road, why)
        for road, predicate, why, now in traffic
        if predicate == "blocked"
        for trip, does, what, then in told
        if (does, what) == ("over", road) and then < now
        if not any(
            one == trip and then < time < now and ((p, o) == ("enters", road) or p == "ends")
            for one, p, o, time in told
        )
    )


def _said(triple: Triple, time: datetime) -> tuple[str, str, str, datetime]:
    subject, predicate, object = (term.value.rpartition("#")[2] for term in triple)
    return subject, predicate, object, time


def quick_ways(shift: Shift) -> dict[tuple[datetime, str], set[str]]:
    """As the couriers find them, which takes less time than to try all."""
    return {
        (time, trip.name): {road.name for road in ways(trip.here, trip.goal, _closed(shift, time))}
        for trip in work(shift)
        for time in trip.asked
    }
