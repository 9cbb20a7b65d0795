"""A live engine that is asked too much: full streams, slow and dead sinks, a clock that jumps."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Event

import pytest
from pyspark.sql import SparkSession

from penstock import Answer, Engine, OverloadError, Tuning
from penstock.options import Emit
from penstock.testing import ManualClock
from tests.support.feeding import COUNT, STREAM, counted, expected, lines

LONG = 120  # seconds: a test that waits so long has failed
SOON = Tuning(sink_patience_us=1_000)


class Slow:
    """A function that waits for `go` when it is called for the first time."""

    def __init__(self) -> None:
        self.answers: list[Answer] = []
        self.inside, self.go = Event(), Event()

    def __call__(self, answer: Answer) -> None:
        self.inside.set()
        assert self.go.wait(LONG)
        self.answers.append(answer)


@pytest.mark.parametrize("emit", [None, "istream"])
def test_a_slow_sink_holds_up_its_own_query_only(spark: SparkSession, tmp_path: Path, emit: Emit | None) -> None:
    """Two of a family, of which one is slow; in the end both have the same answers."""
    slow, file = Slow(), tmp_path / "quick.ndjson"
    with Engine(spark=spark, rounds="auto", tuning=SOON) as engine:
        engine.stream(STREAM)
        held = engine.register(COUNT, name="held", sink=slow, emit=emit)
        quick = engine.register(COUNT, name="quick", sink=str(file), emit=emit)
        alone = engine.register(COUNT, name="alone", emit=emit)
        engine.start()
        for start in range(0, 600, 100):
            engine.push(STREAM, lines(start, start + 100))
        assert slow.inside.wait(LONG)
        while quick.status.answered is None or quick.status.due or alone.status.due:
            next(alone.answers(timeout=0.05), None)
        assert held.status.state == "delivering"
        assert slow.answers == []
        slow.go.set()
        engine.flush()
        assert held.status.state == "running"
        engine.stop()
        answers = list(alone.answers())
    shown = [(answer.time, sorted(map(str, answer.rows))) for answer in answers]
    assert [(answer.time, sorted(map(str, answer.rows))) for answer in slow.answers] == shown
    assert len(file.read_text().splitlines()) == len(shown)
    if emit is None:
        whole = {now: gates for now, gates in expected(0, 600, 0, 600).items() if now < 596}
        assert counted(slow.answers) == whole


def test_an_engine_with_a_dead_sink_can_be_closed_and_continues_elsewhere(spark: SparkSession, tmp_path: Path) -> None:
    slow, again = Slow(), list[Answer]()
    with Engine(spark=spark, rounds="auto", tuning=SOON, checkpoint=tmp_path / "state") as engine:
        engine.stream(STREAM)
        engine.register(COUNT, name="dead", sink=slow)
        engine.start()
        engine.push(STREAM, lines(0, 300))
        assert slow.inside.wait(LONG)
    with Engine(spark=spark, rounds="auto", checkpoint=tmp_path / "state") as engine:
        engine.register(COUNT, name="dead", sink=again.append)
        engine.start()
        engine.push(STREAM, lines(300, 600))
        engine.flush()
    slow.go.set()
    assert counted(again) == {now: gates for now, gates in expected(0, 600, 0, 600).items() if now < 596}


def test_a_sink_cannot_wait_for_itself(spark: SparkSession) -> None:
    with Engine(spark=spark, rounds="auto") as engine:
        engine.stream(STREAM)
        query = engine.register(COUNT, name="count", sink=lambda _: engine.flush())
        engine.start()
        engine.push(STREAM, lines(0, 200))
        engine.flush()
        assert "A sink cannot wait for the answers: it would wait for itself." in (query.status.error or "")


def test_pushes_to_a_full_stream_wait_for_rounds_and_nothing_is_lost(spark: SparkSession) -> None:
    with Engine(spark=spark, rounds="auto", tuning=Tuning(backlog_bytes=1_000)) as engine:
        engine.stream(STREAM)
        count = engine.register(COUNT, name="count")
        engine.start()
        for start in range(0, 600, 20):
            engine.push(STREAM, lines(start, start + 20))
        engine.flush()
        assert engine.status.streams[STREAM].waiting == 0
        engine.stop()
        answers = counted(count.answers())
    assert answers == {now: gates for now, gates in expected(0, 600, 0, 600).items() if now < 596}


def test_a_push_to_a_full_stream_waits_or_is_refused_until_the_round_has_ended(spark: SparkSession) -> None:
    """The round is held up by `on_progress`, which the thread that evaluates calls."""
    inside, go = Event(), Event()

    def hold(_: object) -> None:
        inside.set()
        assert go.wait(LONG)

    with Engine(spark=spark, rounds="auto", tuning=Tuning(backlog_bytes=100), on_progress=hold) as engine:
        engine.stream(STREAM)
        engine.stream("http://e/refusing", when_full="refuse")
        engine.register(COUNT, name="count")
        engine.start()
        engine.push(STREAM, lines(0, 200))
        assert inside.wait(LONG)
        engine.push("http://e/refusing", lines(0, 200))
        with pytest.raises(OverloadError, match="<http://e/refusing> is full"):
            engine.push("http://e/refusing", lines(200, 300))
        status = engine.status.streams["http://e/refusing"]
        assert (status.refused, status.waiting > 100) == (1, True)
        with ThreadPoolExecutor(1) as pool:
            waiting = pool.submit(engine.push, STREAM, lines(200, 300))
            assert not waiting.done()
            go.set()
            assert waiting.result(LONG) > 0
        engine.flush()
        assert engine.push("http://e/refusing", lines(200, 300)) > 0


@pytest.mark.parametrize("jump", [-3_600_000_000, 3_600_000_000])
def test_a_clock_that_jumps_loses_nothing_and_holds_nothing_up(spark: SparkSession, jump: int) -> None:
    clock = ManualClock(1_000_000_000_000)
    triple = "<http://e/gate1> <http://e/registers> <http://e/car1> ."
    with Engine(spark=spark, rounds="auto", clock=clock) as engine:
        engine.stream(STREAM, format="nt", advance=True)
        text = f"SELECT (COUNT(*) AS ?n) FROM STREAM <{STREAM}> [RANGE 10s STEP 10s] {{ ?g <http://e/registers> ?c }}"
        query = engine.register(text, name="count")
        engine.start()
        for moved in (0, jump, 0, -jump, 0):
            clock.jump(moved)
            engine.push(STREAM, triple)
            clock.advance(20_000_000)
            engine.flush()
        status = engine.status.streams[STREAM]
        engine.stop()
        answers = list(query.answers())
    assert (status.elements, status.late, status.ahead) == (5, 0, 0)
    assert sum(int(row["n"].value) for answer in answers for row in answer.rows) == 5
    times = [answer.time for answer in answers if answer.time is not None]
    assert times == sorted(times)
