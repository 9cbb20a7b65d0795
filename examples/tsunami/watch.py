"""The queries of this folder over the readings of a day: how far each was off, and who was warned when."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from examples.tsunami.ocean import Day, elements, near
from penstock import Engine

__all__ = ["Warned", "Watched", "queries", "watch"]

READINGS = "http://example.org/readings"


@dataclass(frozen=True, slots=True, order=True)
class Warned:
    """A place, because of a buoy that is so far away."""

    time: datetime
    buoy: str
    place: str
    km: int


@dataclass(frozen=True, slots=True)
class Watched:
    """What the queries found: by buoy and time how many mm a reading was above what was predicted; and the warnings."""

    deviations: dict[str, dict[datetime, float]]
    warnings: list[Warned]


def queries() -> Iterator[str]:
    """In the order in which one needs the other."""
    for path in sorted(Path(__file__).parent.glob("*.rq")):
        yield path.read_text("utf-8")


def watch(engine: Engine, day: Day) -> Watched:
    engine.load(near(day.buoys))
    engine.stream(READINGS, elements(day))
    for text in queries():
        engine.register(text)
    engine.run()
    return Watched(_deviations(engine), sorted(_warnings(engine)))


def _deviations(engine: Engine) -> dict[str, dict[datetime, float]]:
    """An answer is the graph of all that ends at one time."""
    found: dict[str, dict[datetime, float]] = {}
    for answer in engine["deviations"].answers():
        assert answer.ends is not None
        for buoy, _, mm in answer.triples or ():
            found.setdefault(_local(buoy.value), {})[answer.ends] = float(mm.value)
    return found


def _warnings(engine: Engine) -> Iterator[Warned]:
    for answer in engine["warnings"].answers():
        assert answer.time is not None
        for row in answer.rows:
            yield Warned(answer.time, _local(row["buoy"].value), row["place"].value, int(row["km"].value))


def _local(iri: str) -> str:
    return iri.rpartition("#")[2]
