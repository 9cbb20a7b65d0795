"""`penstock demo`: three of the C-SPARQL paper's queries over a simulated stream of gates and cameras, live, at any
speed."""

from __future__ import annotations

import re
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console

from penstock.demo.board import Board
from penstock.demo.static_city import CITY
from penstock.demo.traffic import CAMERAS, GATES, START, Passage, morning
from penstock.errors import OptionError

if TYPE_CHECKING:
    from penstock.engine import Engine

__all__ = ["Options", "play", "queries", "read_speed"]

_STREAMS = (GATES, CAMERAS)
_QUERIES = Path(__file__).parents[1] / "data" / "streams"
_BEAT = 0.5  # seconds between two pushes
_MOMENT = timedelta(microseconds=1)
_HEAD_START = timedelta(minutes=5)  # passes at once: Spark's first answers take long, and would be late for long


@dataclass(frozen=True, slots=True)
class Options:
    """The speed of the city's clock, the length of the run, and the seed of its traffic."""

    speed: float = 60.0
    minutes: int = 40
    seed: int = 2009

    @property
    def end(self) -> datetime:
        return START + timedelta(minutes=self.minutes)


@dataclass(slots=True)
class Wall:
    """The wall clock; tests pass a clock that does not wait."""

    now: Callable[[], float] = time.monotonic
    sleep: Callable[[float], None] = time.sleep


def read_speed(text: str) -> float:
    """`60x` or `60`: the speed relative to the wall clock."""
    match = re.fullmatch(r"(\d+(?:\.\d+)?)\s*[x×]?", text.strip())
    if not match or not float(match[1]):
        raise OptionError(f"--speed {text}: write it as 60x")
    return float(match[1])


def queries() -> Iterator[tuple[str, str]]:
    """Each query with its title, which is its first line."""
    for path in sorted(_QUERIES.glob("*.rq")):
        title, _, text = path.read_text("utf-8").partition("\n")
        yield title.removeprefix("# "), text.strip()


def play(
    options: Options,
    open_engine: Callable[[], AbstractContextManager[Engine]],
    console: Console | None = None,
    wall: Wall | None = None,
) -> None:
    """Run the simulation for its minutes, and plot the cars per gate at the end."""
    console = console or Console(width=None if sys.stdout.isatty() else 110)
    board, city = Board(console), City(options)
    started = time.perf_counter()
    with open_engine() as engine:
        with console.status("Starting Spark and answering for the first minutes…"):
            _prepare(engine, board)
            city.pass_on(engine, START + _HEAD_START)
            engine.flush()
        seconds = time.perf_counter() - started
        console.print(f"Spark is up, {len(list(queries()))} queries are registered ({seconds:.1f} s).", highlight=False)
        with board:
            _live(engine, city, board, wall or Wall())
    console.print(board.plot())
    console.print("\nNow yours: penstock run QUERY.rq --background FILE.ttl --stream IRI=FILE.nq", highlight=False)


def _prepare(engine: Engine, board: Board) -> None:
    engine.load(str(CITY))
    for stream in _STREAMS:
        engine.stream(stream)
    for title, text in queries():
        query = engine.register(text, sink=board.show)
        board.announce(query.name, title)
    engine.start()


class City:
    """The simulated events, and how many of them were pushed to the engine."""

    def __init__(self, options: Options) -> None:
        self.options = options
        self.done = 0
        self._passages = morning(options.minutes, options.seed)

    def pass_on(self, engine: Engine, clock: datetime) -> None:
        """Push the events up to that time to their streams, and advance the watermark of all streams."""
        happened = _until(self._passages, self.done, clock)
        self.done += len(happened)
        in_streams = sorted(happened, key=lambda passage: passage.stream)
        for stream, passages in groupby(in_streams, key=lambda passage: passage.stream):
            engine.push(stream, [(passage.triple, passage.time) for passage in passages])
        for stream in _STREAMS:
            engine.advance(stream, clock + _MOMENT)


def _live(engine: Engine, city: City, board: Board, wall: Wall) -> None:
    """Push events in real time, step by step, and wait at the end for the last answers."""
    began, clock = wall.now(), START + _HEAD_START
    while clock < city.options.end:
        wall.sleep(_BEAT)
        passed = timedelta(seconds=(wall.now() - began) * city.options.speed)
        clock = min(START + _HEAD_START + passed, city.options.end)
        city.pass_on(engine, clock)
        board.tick(clock, city.done, city.options.speed)
    engine.flush()
    engine.stop()


def _until(passages: list[Passage], done: int, clock: datetime) -> list[Passage]:
    limit = int(clock.timestamp() * 1_000_000)
    end = next((place for place in range(done, len(passages)) if passages[place].time > limit), len(passages))
    return passages[done:end]
