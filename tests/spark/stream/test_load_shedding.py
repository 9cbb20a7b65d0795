"""Evaluation that falls behind, on Spark: everything in one larger job, or less often, as was said at registration."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from penstock import Answer, Engine, PenstockWarning
from penstock.testing import ManualClock
from tests.support.feeding import COUNT, STREAM, Counts, counted, expected, lines

WHOLE = expected(0, 1_000, 0, 1_000)


def at(minutes: set[int]) -> Counts:
    return {60 * minute: WHOLE[60 * minute] for minute in minutes}


def started(engine: Engine) -> None:
    engine.start()
    engine.flush()


def pushed(engine: Engine, start: int, end: int) -> None:
    engine.push(STREAM, lines(start, end))
    engine.flush()


def test_one_is_evaluated_less_often_and_the_other_catches_up(spark: SparkSession) -> None:
    """Ten minutes are there when the engine starts; from then on they come one by one, and both keep up."""
    with Engine(spark=spark, clock=ManualClock()) as engine:
        engine.stream(STREAM)
        of_every: list[Answer] = []
        of_some: list[Answer] = []
        every = engine.register(COUNT, name="every", sink=of_every.append)
        some = engine.register(COUNT, name="some", sink=of_some.append, overload="stretch")
        engine.push(STREAM, lines(0, 605))
        assert (some.status.stretched, some.status.skipped) == (1, 0)
        with pytest.warns(PenstockWarning, match=r"some: evaluation is 0:10:0\d behind, 11 instants wait; .* one of 2"):
            started(engine)
        assert (some.status.stretched, some.status.skipped) == (2, 5)
        assert counted(of_some) == at({0, 2, 4, 6, 8, 10})
        assert counted(of_every) == at(set(range(11)))
        with pytest.warns(PenstockWarning, match="some: evaluation keeps up; it is at every instant from now on"):
            pushed(engine, 605, 725)
        pushed(engine, 725, 785)
        assert (some.status.stretched, some.status.skipped) == (1, 5)
        assert counted(of_some) == at({0, 2, 4, 6, 8, 10, 11, 12, 13})
        assert counted(of_every) == at(set(range(14)))
        assert some.status.due == every.status.due == 0


def test_skipped_instants_stay_skipped_after_a_restart(spark: SparkSession, tmp_path: Path) -> None:
    def answers() -> list[str]:
        return [json.loads(each)["time"] for each in (tmp_path / "some.ndjson").read_text().splitlines()]

    def engine() -> Engine:
        return Engine(spark=spark, clock=ManualClock(), checkpoint=tmp_path / "state")

    with engine() as first:
        first.stream(STREAM)
        first.register(COUNT, name="some", sink=tmp_path / "some.ndjson", overload="stretch")
        first.push(STREAM, lines(0, 425))
        with pytest.warns(PenstockWarning, match="at one of 2 instants"):
            started(first)
    assert [time[14:19] for time in answers()] == ["00:00", "02:00", "04:00", "06:00"]
    with engine() as second:
        second.start()
        status = second["some"].status
        assert (status.stretched, status.skipped) == (2, 3)  # 1, 3 and 5; 7 is not over
