"""Rounds are logged, and slow ones say which part took the time. The clock is moved by the parts themselves."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import pytest

from penstock import log
from penstock.io.sinks import Batch, Position
from penstock.spark.query.evaluation import Evaluation
from penstock.stream.registry.registered_query import RegisteredQuery
from penstock.testing import ManualClock
from penstock.tuning import Tuning
from tests.support.runtime import FakeInputs, FakePlan, Frame, ListSink, rounds, segment, task

S = "http://e/s"
SECOND = 1_000_000


@dataclass(frozen=True)
class SlowFrame(Frame):
    clock: ManualClock
    job: int

    def collect(self) -> Any:
        self.clock.advance(self.job)
        return super().collect()


@dataclass
class SlowPlan(FakePlan):
    """Planning and the job take their time."""

    clock: ManualClock = field(default_factory=ManualClock)
    planning: int = 0
    job: int = 0

    def result(self, evaluation: Evaluation) -> Any:
        self.clock.advance(self.planning)
        return SlowFrame(super().result(evaluation).table, self.clock, self.job)


class SlowSink(ListSink):
    def __init__(self, clock: ManualClock, delivery: int) -> None:
        super().__init__()
        self._clock, self._delivery = clock, delivery

    def deliver(self, batch: Batch) -> Position:
        self._clock.advance(self._delivery)
        return super().deliver(batch)


def slow(name: str, clock: ManualClock, planning: int, job: int, delivery: int, step: int = SECOND) -> RegisteredQuery:
    made = task(name, S, sink=SlowSink(clock, delivery))
    made.plan = SlowPlan(step=step, range=step, clock=clock, planning=planning, job=job)
    return made


INPUTS = FakeInputs({S: [segment(1, 2 * SECOND, rows=4_000)]}, {S: 1_500_000})


@pytest.fixture
def records(caplog: pytest.LogCaptureFixture) -> pytest.LogCaptureFixture:
    caplog.set_level("DEBUG", "penstock")
    return caplog


def test_a_round_that_takes_longer_than_a_step(records: pytest.LogCaptureFixture) -> None:
    clock = ManualClock()
    quick, late = slow("quick", clock, 0, 1_000, 0), slow("late", clock, 200_000, SECOND, 50_000)
    rounds(INPUTS, quick, late, clock=clock).live()
    assert records.messages == [
        "a slow round took 1.25 s, longer than a step of quick (1 s); "
        "late took 1.25 s (the Spark job 1 s, planning 0.2 s, delivery 0.05 s), with 4,000 elements"
    ]
    (record,) = records.records
    assert (record.name, record.levelname) == ("penstock.rounds", "WARNING")
    assert log.fields(record) == {
        "took_s": 1.251,
        "groups": 2,
        "queries": 2,
        "instants": 2,
        "elements": 8_000,
        "query": "late",
        "reason": "longer than a step of quick (1 s)",
        "parts_s": {"planning": 0.2, "the Spark job": 1.0, "delivery": 0.05},
    }


def test_several_instants_may_take_several_steps(records: pytest.LogCaptureFixture) -> None:
    clock = ManualClock()
    inputs = FakeInputs({S: [segment(1, 9 * SECOND)]}, {S: 4 * SECOND})
    rounds(inputs, slow("cars", clock, 0, 3 * SECOND, 0), clock=clock).live()
    assert records.messages == ["a round took 3 s: cars"]
    records.clear()
    rounds(inputs, slow("cars", clock, 0, 5 * SECOND, 0), clock=clock).live()
    assert records.messages == [
        "a slow round took 5 s, longer than 4 steps of cars (4 s); "
        "cars took 5 s (the Spark job 5 s, planning 0 s, delivery 0 s), with 1 element"
    ]


def test_a_bounded_round_has_no_step_but_the_threshold(records: pytest.LogCaptureFixture) -> None:
    clock = ManualClock()
    q = slow("cars", clock, 0, 0, 3 * SECOND)
    rounds(INPUTS, q, clock=clock, tuning=Tuning(slow_round_us=2 * SECOND, job_instants=10**9)).bounded()
    assert records.messages == [
        "a slow round took 3 s, longer than slow_round_us (2 s); "
        "cars took 3 s (delivery 3 s, planning 0 s, the Spark job 0 s), with 4,000 elements"
    ]
    records.clear()
    rounds(INPUTS, slow("cars", clock, 0, 0, 3 * SECOND), clock=clock, tuning=Tuning(job_instants=10**9)).bounded()
    assert [(record.levelname, record.getMessage()) for record in records.records] == [
        ("DEBUG", "a round took 3 s: cars")
    ]


def test_a_round_without_evaluation_is_not_logged(records: pytest.LogCaptureFixture) -> None:
    clock = ManualClock()
    round = rounds(INPUTS, slow("cars", clock, 0, 0, 0), clock=clock)
    round.live()
    records.clear()
    round.live()
    assert records.messages == []
