"""Simulated traffic: which gates and cameras register which cars, when. The same seed gives the same morning."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from random import Random

from pyoxigraph import NamedNode, Triple

__all__ = ["CAMERAS", "GATES", "START", "Passage", "morning"]

START = datetime(2009, 7, 20, 8, 0, tzinfo=UTC)
GATES, CAMERAS = "http://streams.org/citytollgates.trdf", "http://streams.org/citycameras.trdf"

_CITY, _TRAFFIC, _CARS = (f"http://linkedurbandata.org/{name}#" for name in ("city", "traffic", "cars"))
_REGISTERS = NamedNode(f"{_TRAFFIC}registers")
_SECOND = 1_000_000

# Cars a minute at each gate when it is quiet, and the minute at which most come.
_GATES = {
    "gate1": (2.0, 12),
    "gate2": (6.0, 20),
    "gate3": (4.0, 24),
    "gate4": (1.0, 8),
    "gate5": (5.0, 30),
    "gate6": (1.5, 16),
}
# What cameras see of a car on its way: the cameras in order, and how many of a hundred cars take that way.
_WAYS: dict[tuple[str, ...], int] = {
    ("camera2", "camera1"): 12,
    ("camera1", "camera2"): 10,
    ("camera4", "camera2"): 15,
    ("camera3", "camera1"): 20,
    (): 43,
}
_RUSH, _WIDTH = 2.5, 8.0  # at its peak a gate has so many times more cars; minutes from the peak to half of that


@dataclass(frozen=True, slots=True, order=True)
class Passage:
    """A car registered: at a time in microseconds since 1970, by something that reports on a stream."""

    time: int
    stream: str
    sensor: str
    car: str

    @property
    def triple(self) -> Triple:
        return Triple(NamedNode(_CITY + self.sensor), _REGISTERS, NamedNode(_CARS + self.car))


def morning(minutes: int, seed: int) -> list[Passage]:
    """All passages in that many minutes from START on, in the order of time."""
    random = Random(seed)
    start, length = int(START.timestamp()) * _SECOND, timedelta(minutes=minutes) // timedelta(microseconds=1)
    passages = [one for gate in _GATES for one in _through(gate, minutes, random)]
    return sorted(Passage(start + one.time, one.stream, one.sensor, one.car) for one in passages if one.time < length)


def _through(gate: str, minutes: int, random: Random) -> Iterator[Passage]:
    """The cars that come through a gate, and what cameras see of each later."""
    quiet, peak = _GATES[gate]
    minute = 0.0
    while (minute := minute + random.expovariate(_rate(quiet, peak, minute))) < minutes:
        car, time = _plate(random), int(minute * 60 * _SECOND)
        yield Passage(time, GATES, gate, car)
        yield from _on_its_way(car, time, random)


def _rate(quiet: float, peak: int, minute: float) -> float:
    return quiet * (1 + _RUSH * math.exp(-(((minute - peak) / _WIDTH) ** 2)))


def _on_its_way(car: str, time: int, random: Random) -> Iterator[Passage]:
    (cameras,) = random.choices(list(_WAYS), list(_WAYS.values()))
    for camera in cameras:
        time += random.randint(20, 150) * _SECOND
        yield Passage(time, CAMERAS, camera, car)


def _plate(random: Random) -> str:
    letters = "".join(random.choices("ABCDEFGHKLMNPRSTVXZ", k=2))
    return f"{letters}{random.randint(100, 999)}{random.choice('ABCDEFGHKLMNPRSTVXZ')}"
