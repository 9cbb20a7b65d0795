"""Sinks that do not return: the engine stops all the same, and no answer is lost or comes twice."""

from __future__ import annotations

from pathlib import Path
from threading import Event

import pytest
from pyspark.sql import SparkSession

from penstock import Answer, Engine, Tuning
from tests.support.feeding import COUNT, STREAM, counted, expected, lines

LONG = 60.0  # seconds: a test that waits so long has failed
TUNING = Tuning(sink_patience_us=0, stop_patience_us=0)
WARNING = "dead: stopped without its sink, which has not taken its answers in 0 s; they come again"


class Blocked:
    """A sink that waits for `go` before it takes an answer."""

    def __init__(self) -> None:
        self.inside, self.go, self.seen = Event(), Event(), list[Answer]()

    def __call__(self, answer: Answer) -> None:
        self.inside.set()
        assert self.go.wait(LONG)
        self.seen.append(answer)


def due(last: int) -> dict[int, dict[str, int]]:
    return {now: gates for now, gates in expected(0, last, 0, last).items() if now < last - 4}


def test_an_engine_stops_without_a_dead_sink_and_goes_on_with_it_later(
    spark: SparkSession, caplog: pytest.LogCaptureFixture
) -> None:
    blocked = Blocked()
    with Engine(spark=spark, tuning=TUNING) as engine:
        engine.stream(STREAM)
        dead, good = engine.register(COUNT, name="dead", sink=blocked), engine.register(COUNT, name="good")
        engine.start()
        engine.push(STREAM, lines(0, 200))
        assert blocked.inside.wait(LONG)
        engine.stop()
        assert (dead.status.state, good.status.state) == ("delivering", "running")
        assert counted(good.answers()) == due(200)
        assert [record.getMessage() for record in caplog.records if record.name == "penstock.sinks"] == [WARNING]
        engine.start()
        engine.push(STREAM, lines(200, 300))
        blocked.go.set()
        engine.flush()
        engine.stop()
        assert counted(blocked.seen) == counted(good.answers()) == due(300)
        assert [answer.time for answer in blocked.seen] == [answer.time for answer in good.answers()]


def test_a_sink_that_returns_after_the_stop_does_not_get_its_answers_again(spark: SparkSession, tmp_path: Path) -> None:
    blocked = Blocked()
    engine = Engine(spark=spark, checkpoint=tmp_path, tuning=TUNING)
    engine.stream(STREAM)
    query = engine.register(COUNT, name="dead", sink=blocked)
    engine.start()
    engine.push(STREAM, lines(0, 200))
    assert blocked.inside.wait(LONG)
    engine.stop()
    blocked.go.set()
    (delivering,) = engine._runtime._rounds.deliveries._inside
    delivering.join(LONG)
    engine.close()
    assert query.status.answers == len(due(200))
    with Engine(spark=spark, checkpoint=tmp_path) as again:
        later = list[Answer]()
        again.register(COUNT, name="dead", sink=later.append)
        again.start()
        again.push(STREAM, lines(200, 300))
        again.stop()
    assert [answer.time for answer in [*blocked.seen, *later]] == sorted({a.time for a in [*blocked.seen, *later]})  # type: ignore[type-var]
    assert counted([*blocked.seen, *later]) == due(300)


def test_answers_that_a_dead_sink_has_not_taken_come_with_the_next_engine(spark: SparkSession, tmp_path: Path) -> None:
    blocked, later = Blocked(), list[Answer]()
    with Engine(spark=spark, checkpoint=tmp_path, tuning=TUNING) as engine:
        engine.stream(STREAM)
        engine.register(COUNT, name="dead", sink=blocked)
        engine.start()
        engine.push(STREAM, lines(0, 200))
        assert blocked.inside.wait(LONG)
        engine.stop()
    with Engine(spark=spark, checkpoint=tmp_path) as again:
        again.register(COUNT, name="dead", sink=later.append)
        again.start()
        again.stop()
    assert (blocked.seen, counted(later)) == ([], due(200))
    blocked.go.set()
