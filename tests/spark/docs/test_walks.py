"""The two walks of the architecture page, hop by hop: each function is called for the first time in that order."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import reduce
from importlib import import_module
from inspect import unwrap
from pathlib import Path
from types import CodeType, FrameType, FunctionType
from typing import Any, cast

import pytest
from pyoxigraph import NamedNode, Triple

from penstock import Engine
from penstock.testing import ManualClock
from tests.unit.docs.test_architecture import HOP, section

STREAM = "http://e/s"
EARLY, LATE = (datetime(1970, 1, 1, 0, minute, tzinfo=UTC) for minute in (1, 20))
ELEMENT = Triple(NamedNode("http://e/car"), NamedNode("http://e/at"), NamedNode("http://e/gate"))
CARS = f"SELECT ?x FROM STREAM <{STREAM}> [RANGE 10m STEP 5m] {{ ?x <http://e/at> ?y }}"


def hops(walk: str) -> dict[CodeType, str]:
    """The code of each function of a walk, in the order of the page."""
    named = {f"{module}.{name}": (import_module(module), name) for module, name in HOP.findall(section(f"## {walk}"))}
    functions = {path: reduce(getattr, name.split("."), module) for path, (module, name) in named.items()}
    return {cast(FunctionType, unwrap(cast(Any, function))).__code__: path for path, function in functions.items()}


@contextmanager
def first_calls(codes: dict[CodeType, str]) -> Iterator[list[str]]:
    """The functions that are called in the block, in threads that begin there too, by their first call."""
    called: list[str] = []

    def note(frame: FrameType, event: str, _: Any) -> None:
        path = codes.get(frame.f_code)
        if event == "call" and path is not None and path not in called:
            called.append(path)

    threading.setprofile(note)
    sys.setprofile(note)
    try:
        yield called
    finally:
        sys.setprofile(None)
        threading.setprofile(None)


@pytest.fixture
def engine(spark: Any, tmp_path: Path) -> Iterator[Engine]:
    with Engine(spark=spark, clock=ManualClock(), checkpoint=tmp_path / "state") as made:
        made.stream(STREAM)
        yield made


def test_a_push_goes_to_the_log(engine: Engine) -> None:
    walk = hops("From push to the log")
    engine.register(CARS, name="cars", sink=lambda answer: None)
    engine.start()
    with first_calls(walk) as called:
        engine.push(STREAM, [ELEMENT], EARLY)
    assert called == list(walk.values())


def test_a_due_instant_goes_to_the_sink(engine: Engine, tmp_path: Path) -> None:
    walk, answers = hops("From a due instant to the sink"), tmp_path / "cars.ndjson"
    engine.register(CARS, name="cars", sink=answers)
    with first_calls(walk) as called:
        engine.start()
        engine.push(STREAM, [ELEMENT], EARLY)
        engine.advance(STREAM, LATE)
        engine.stop()
    assert answers.read_text()
    assert called == list(walk.values())
