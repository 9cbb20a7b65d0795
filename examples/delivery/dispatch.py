"""The queries of this folder over the streams of a shift: which ways were open, and whose road was blocked."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from examples.delivery.shift import Shift, elements, work
from examples.delivery.town import background
from penstock import Engine

__all__ = ["Dispatched", "Hindrance", "dispatch", "queries"]


@dataclass(frozen=True, slots=True, order=True)
class Hindrance:
    """A road that a trip was still to go over, and what blocked it."""

    time: datetime
    trip: str
    road: str
    closure: str


@dataclass(frozen=True, slots=True)
class Dispatched:
    """What the queries found: by time and trip the roads that lead to its goal; and the hindrances."""

    ways: dict[tuple[datetime, str], set[str]]
    hindrances: list[Hindrance]


def queries() -> Iterator[str]:
    """In the order in which one needs the other."""
    for path in sorted(Path(__file__).parent.glob("*.rq")):
        yield path.read_text("utf-8")


def dispatch(engine: Engine, shift: Shift) -> Dispatched:
    engine.load(background())
    for name, said in elements(work(shift), shift.closures).items():
        engine.stream(f"http://example.org/{name}", said)
    for text in queries():
        engine.register(text)
    engine.run()
    return Dispatched(_ways(engine), sorted(_hindrances(engine)))


def _ways(engine: Engine) -> dict[tuple[datetime, str], set[str]]:
    found: dict[tuple[datetime, str], set[str]] = {}
    for answer in engine["ways"].answers():
        assert answer.time is not None
        for row in answer.rows:
            found.setdefault((answer.time, _local(row["trip"].value)), set()).add(_local(row["road"].value))
    return found


def _hindrances(engine: Engine) -> Iterator[Hindrance]:
    for answer in engine["hindrances"].answers():
        assert answer.ends is not None
        for row in answer.rows:
            yield Hindrance(answer.ends, *(_local(row[name].value) for name in ("trip", "road", "why")))


def _local(iri: str) -> str:
    return iri.rpartition("#")[2]
