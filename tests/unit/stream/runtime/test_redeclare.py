"""A stream of a live engine that is declared again, or removed: only its source is ended. No query, so no JVM."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast
from unittest.mock import MagicMock

import pytest

from penstock import Engine, PenstockError, SetupError
from penstock.stream.ingest.stream_declaration import Declared
from penstock.testing import ManualClock
from tests.support.arrivals import STREAM, text
from tests.support.positioned_source import PositionedSource

OTHER = "http://e/other"


class Source(PositionedSource):
    """Counts how often it was ended."""

    stops = 0

    def stop(self) -> None:
        self.stops += 1


@pytest.fixture
def engine() -> Iterator[Engine]:
    with Engine(spark=cast(Any, MagicMock()), clock=ManualClock(10**9)) as engine:
        yield engine


def payloads(*stamps: int) -> list[bytes]:
    return [text([stamp]) for stamp in stamps]


def source(name: str = "fake:topic") -> Source:
    return Source({"a": payloads(10, 20, 30, 15, 40)}, name)


def elements(engine: Engine, stream: str = STREAM) -> int:
    return engine._runtime._log.counts(stream).elements


def test_the_new_source_continues_and_the_other_stream_is_left_alone(engine: Engine) -> None:
    old, new, other = source(), source(), source("fake:other")
    engine.stream(STREAM, old)
    engine.stream(OTHER, other)
    engine.start()
    old.read(["a"], 2)
    engine._runtime.redeclare(STREAM, Declared(new, idle=5, origin="fake:topic"))
    assert (old.stops, other.stops) == (1, 0)
    assert new.started_at == {"a": 2}
    new.read(["a"])
    assert elements(engine) == 3


def test_an_element_that_was_late_stays_late(engine: Engine) -> None:
    old, new = source(), source()
    engine.stream(STREAM, old)
    engine.start()
    old.read(["a"], 3)  # 10, 20, 30: the watermark is 29
    engine._runtime.redeclare(STREAM, Declared(new, lateness=100, origin="fake:topic"))
    new.read(["a"], 2)  # 15 and 40
    assert elements(engine) == 4
    (letter,) = engine.dead_letters(STREAM)
    assert letter.reason == "the stream was complete before 1970-01-01T00:00:00.00003Z when it came"


def test_a_source_that_cannot_be_opened_leaves_the_old_one(engine: Engine) -> None:
    old = source()
    engine.stream(STREAM, old)
    engine.start()
    with socket.create_server(("127.0.0.1", 0)) as server:
        address = f"listen://127.0.0.1:{server.getsockname()[1]}"
        with pytest.raises(SetupError, match="is in use"):
            engine._runtime.redeclare(STREAM, Declared(address))
    old.read(["a"], 2)
    assert elements(engine) == 2


def test_a_stream_of_a_file_stays_as_it_is(engine: Engine, tmp_path: Path) -> None:
    old = source()
    engine.stream(STREAM, old)
    engine.start()
    with pytest.raises(PenstockError, match=r"is read from a file, which is read once"):
        engine._runtime.redeclare(STREAM, Declared(str(tmp_path / "a.nq")))
    assert old.stops == 0


def test_a_stream_is_removed_with_its_source(engine: Engine) -> None:
    old = source()
    engine.stream(STREAM, old)
    engine.start()
    old.read(["a"], 2)
    engine._runtime.undeclare(STREAM)
    assert old.stops == 1
    assert dict(engine.status.streams) == {}
    engine.stream(STREAM, source())
    assert elements(engine) == 0


def test_a_stream_that_a_query_reads_is_not_removed(engine: Engine) -> None:
    engine.stream(STREAM)
    engine.register(f"SELECT ?s FROM STREAM <{STREAM}> [RANGE 1m STEP 1m] WHERE {{ ?s ?p ?o }}", name="q")
    with pytest.raises(PenstockError, match=f"The query q reads the stream <{STREAM}>: drop it first"):
        engine._runtime.undeclare(STREAM)
