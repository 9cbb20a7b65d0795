"""The living city: its traffic, its board and its plot, with an engine that only pretends."""

from __future__ import annotations

import re
from collections import Counter
from datetime import datetime, timedelta
from io import StringIO
from types import SimpleNamespace
from typing import Any

import pytest
from pyoxigraph import Literal, NamedNode, Triple
from rich.console import Console

from penstock.algebra.build import translate
from penstock.answer import Answer, Row
from penstock.demo import city
from penstock.demo.board import Board
from penstock.demo.chart import chart
from penstock.demo.traffic import CAMERAS, GATES, START, morning
from penstock.errors import PenstockError

SECOND = 1_000_000


def test_the_same_seed_is_the_same_morning() -> None:
    assert morning(10, 1) == morning(10, 1)
    assert morning(10, 1) != morning(10, 2)


def test_a_morning_is_in_order_and_in_time() -> None:
    passages = morning(20, 2009)
    start = int(START.timestamp()) * SECOND
    assert passages == sorted(passages)
    assert start <= passages[0].time
    assert passages[-1].time < start + 20 * 60 * SECOND
    assert {passage.stream for passage in passages} == {GATES, CAMERAS}


def test_some_cars_turn() -> None:
    """From Palm Street, which camera2 monitors, into Oak Avenue, which camera1 does."""
    ways = Counter[tuple[str, ...]]()
    seen: dict[str, tuple[str, ...]] = {}
    for passage in morning(20, 2009):
        if passage.stream == CAMERAS:
            seen[passage.car] = (*seen.get(passage.car, ()), passage.sensor)
    ways.update(seen.values())
    assert ways["camera2", "camera1"] > 5
    assert ways["camera1", "camera2"] > 5


@pytest.mark.parametrize(("title", "text"), list(city.queries()))
def test_the_queries_can_be_read(title: str, text: str) -> None:
    query = translate(text, None)
    assert query.registration is not None
    assert {stream.iri.value for stream in query.streams} <= {GATES, CAMERAS}
    assert title.startswith("Cars")


@pytest.mark.parametrize(("text", "speed"), [("60x", 60.0), ("1.5 ×", 1.5), ("600", 600.0)])
def test_speeds(text: str, speed: float) -> None:
    assert city.read_speed(text) == speed


@pytest.mark.parametrize("text", ["fast", "0x", "-1x", ""])
def test_speeds_that_are_none(text: str) -> None:
    with pytest.raises(PenstockError, match="write it as 60x"):
        city.read_speed(text)


class FakeEngine:
    """Takes what is pushed, and answers with the number of cars by gate whenever time is advanced."""

    def __init__(self) -> None:
        self.pushed: list[tuple[str, Triple, int]] = []
        self.advanced: list[datetime] = []
        self.sinks: dict[str, Any] = {}
        self.calls: list[str] = []

    def __enter__(self) -> FakeEngine:
        return self

    def __exit__(self, *_: object) -> None:
        self.calls.append("close")

    def load(self, path: str) -> None:
        self.calls.append("load")

    def stream(self, iri: str) -> None:
        self.calls.append(f"stream {iri}")

    def register(self, text: str, sink: Any) -> Any:
        registration = translate(text, None).registration
        assert registration is not None
        assert registration.name is not None
        self.sinks[registration.name] = sink
        return SimpleNamespace(name=registration.name)

    def start(self) -> None:
        self.calls.append("start")

    def push(self, iri: str, elements: list[tuple[Triple, int]]) -> None:
        self.pushed += [(iri, *element) for element in elements]

    def advance(self, iri: str, time: datetime) -> None:
        assert all(at <= time.timestamp() * SECOND for _, _, at in self.pushed)
        self.advanced.append(time)
        cars = Counter(triple.subject for stream, triple, _ in self.pushed if stream == GATES)
        rows: list[Row] = [
            {"gate": gate, "n": Literal(number)} for gate, number in cars.items() if isinstance(gate, NamedNode)
        ]
        answer = Answer(("gate", "n"), rows, time=time.replace(microsecond=0), query="CarsPerGate")
        self.sinks["CarsPerGate"](answer)

    def flush(self) -> None:
        self.calls.append("flush")

    def stop(self) -> None:
        self.calls.append("stop")


class Wall:
    """A clock on the wall that goes on by what is slept."""

    def __init__(self) -> None:
        self.time = 0.0

    def now(self) -> float:
        return self.time

    def sleep(self, seconds: float) -> None:
        self.time += seconds


@pytest.mark.parametrize("terminal", [False, True])
def test_the_show(terminal: bool) -> None:
    engine, screen, wall = FakeEngine(), StringIO(), Wall()
    console = Console(file=screen, width=140, force_terminal=terminal)
    city.play(city.Options(60.0, 8, 2009), lambda: engine, console, wall)  # type: ignore[arg-type, return-value]
    shown = screen.getvalue()
    assert [(stream, time) for stream, _, time in engine.pushed] == [
        (passage.stream, passage.time)
        for passage in sorted(morning(8, 2009), key=lambda one: (beat(one.time), one.stream))
    ]
    assert engine.calls[-3:] == ["flush", "stop", "close"]
    assert engine.advanced[-1] == START + timedelta(minutes=8, microseconds=1)
    assert wall.time == pytest.approx(3, abs=0.6)  # the first five minutes pass at once
    assert [title for title, _ in city.queries() if title[:20] not in shown] == []
    assert "Cars in the last 10 minutes, by gate" in shown
    assert "● gate1" in re.sub(r"\x1b\[\d*m", "", shown)
    assert ("\x1b" in shown) is terminal


def beat(time: int) -> int:
    """The push that an element of that time belongs to: the first is at 5:00, the others every 30 s after it."""
    passed = time - int(START.timestamp()) * SECOND
    return max(0, -(-(passed - 300 * SECOND) // (30 * SECOND)))


def test_a_chart() -> None:
    drawn = chart("Title", ["a", "b", "c"], {"up": [0, 5, 10], "down": [10, None, 0]}, height=4).plain
    assert drawn.splitlines() == [
        "Title",
        "   10 ┤■   ● ",
        "      │  ●   ",
        "      │      ",
        "    0 ┤●   ■ ",
        "      └──────",
        "       a",
        "       ● up   ■ down   ",
    ]


def test_a_chart_of_nothing() -> None:
    assert chart("Title", [], {}).plain.startswith("Title\n")


@pytest.mark.parametrize("width", [110, 80, 50, 30])
def test_a_chart_is_never_wider_than_the_terminal(width: int) -> None:
    labels = [f"{8 + minute // 60:02}:{minute % 60:02}" for minute in range(90)]
    drawn = chart("Title", labels, {"gate": [float(minute) for minute in range(90)]}, height=4, width=width).plain
    assert max(map(len, drawn.splitlines())) <= width
    assert drawn.count("●") > 10
    assert "08:00" in drawn


def test_three_tables_fit_beside_each_other_into_80_columns() -> None:
    out = StringIO()
    board = Board(Console(width=80, file=out))
    for query in ("one", "two", "three"):
        board.announce(query, query)
    board.__exit__(None, None, None)
    assert any("one" in line and "two" in line and "three" in line for line in out.getvalue().splitlines())
