"""Slow and dead sinks: they hold up their own query only, and get each answer once."""

from __future__ import annotations

import logging
from collections.abc import Callable
from pathlib import Path
from threading import Event, Thread, current_thread

import pytest

from penstock.io.sinks import Batch, Position
from penstock.stream.evaluation.rounds import Rounds
from penstock.stream.registry.metadata_store import GroupProgress
from penstock.stream.registry.registered_query import RegisteredQuery
from penstock.testing import ManualClock
from penstock.tuning import Tuning
from tests.support.runtime import FakeInputs, ListSink, groups, saved, segment, task

S, D = "http://e/s", "http://e/d"
LONG = 60.0  # seconds: a test that waits so long has failed


class SlowSink(ListSink):
    """Waits for `go` in each delivery."""

    def __init__(self) -> None:
        super().__init__()
        self.inside, self.go = Event(), Event()
        self.threads: set[Thread] = set()

    def deliver(self, batch: Batch) -> Position:
        self.threads.add(current_thread())
        self.inside.set()
        assert self.go.wait(LONG)
        return super().deliver(batch)


class Live:
    """Rounds that never wait for a sink; `woken` is set when a slow one has ended."""

    def __init__(self, *tasks: RegisteredQuery, patience: int = 0) -> None:
        self.inputs = FakeInputs({S: [segment(1, 25)]}, {S: 24})
        self.woken, self.groups, self.clock = Event(), groups(*tasks), ManualClock()
        self.rounds = Rounds(
            self.inputs,
            self.inputs.watermarks,
            self.groups,
            tuning=Tuning(sink_patience_us=patience),
            clock=self.clock,
            wake=self.woken.set,
        )

    def round(self, through: int) -> None:
        self.inputs.held[S].append(segment(self.inputs.ends[S] or 0, through + 1))
        self.inputs.ends[S] = through
        self.rounds.live()

    def until(self, reached: Callable[[], bool]) -> None:
        """Rounds until something holds, each after a sink has ended."""
        while not reached():
            assert self.woken.wait(LONG)
            self.woken.clear()
            self.rounds.live()


def test_a_slow_sink_holds_up_its_own_query_only_and_gets_each_answer_once() -> None:
    sink, quick = SlowSink(), ListSink()
    slow, other = task("slow", S, sink=sink), task("other", S, sink=quick)
    live = Live(slow, other, patience=10**8)
    other.entry.paused = True  # the slow one comes first, and is alone
    evaluating = Thread(target=live.rounds.live)
    live.rounds.deliveries._patience = 0
    evaluating.start()
    evaluating.join(LONG)
    assert not evaluating.is_alive()
    assert sink.inside.wait(LONG)
    assert (slow.state, slow.ready, live.groups.is_delivering, saved(slow)) == ("delivering", False, True, None)
    other.entry.paused, live.rounds.deliveries._patience = False, LONG
    for through in (34, 44, 54):
        live.round(through)
    assert (quick.times, sink.times) == ([10, 20, 30, 40, 50], [])
    assert (saved(other), saved(slow), live.inputs.discarded) == (54, None, [])
    sink.go.set()
    live.until(lambda: slow.progress == 54)
    assert (sink.times, sink.rewinds, slow.state) == ([10, 20, 30, 40, 50], [0], "running")
    assert (saved(slow), slow.entry.batches, slow.entry.position) == (54, 2, 5)
    assert current_thread() not in sink.threads


def test_the_round_waits_for_a_sink_that_is_quick_enough() -> None:
    sink = ListSink()
    quick = task("quick", S, sink=sink)
    live = Live(quick, patience=int(LONG * 1e6))
    live.rounds.live()
    assert (sink.times, quick.state, saved(quick)) == ([10, 20], "running", 24)
    live.rounds.deliveries.close()


def test_a_sink_is_slow_until_it_is_quick_again() -> None:
    sink = SlowSink()
    slow = task("slow", S, sink=sink)
    live = Live(slow)
    live.rounds.live()
    assert sink.inside.wait(LONG)
    live.rounds.deliveries._patience = 1e-9
    sink.go.set()
    live.until(lambda: not slow.is_delivering)
    assert slow.is_slow
    live.rounds.deliveries._patience = LONG
    live.round(34)
    live.until(lambda: slow.progress == 34)
    assert not slow.is_slow
    assert sink.times == [10, 20, 30]


def test_a_slow_sink_that_fails_is_tried_again_and_then_fails(caplog: pytest.LogCaptureFixture) -> None:
    sink = SlowSink()
    sink.fails = True
    slow = task("slow", S, sink=sink)
    slow.entry.retry = 1
    live = Live(slow)
    live.rounds.live()
    sink.go.set()
    live.until(lambda: slow.state == "retrying")
    live.clock.advance(100_000)
    live.rounds.live()
    live.until(lambda: slow.state == "failed")
    assert (slow.error, sink.times, sink.rewinds, saved(slow)) == ("OSError: disk full", [10], [0, 0], None)
    assert caplog.messages == [
        "slow: the sink failed, retry 1 of 1 in 0.1 s: OSError: disk full",
        "slow: the query failed: OSError: disk full",
    ]
    sink.fails = False
    slow.resume()
    live.rounds.live()
    live.until(lambda: slow.progress == 24)
    assert sink.times == [10, 20]


def test_queries_with_a_dead_sink_can_be_paused_dropped_and_closed() -> None:
    sinks = [SlowSink() for _ in range(3)]
    dead = [task(f"dead{number}", S, sink=sink) for number, sink in enumerate(sinks)]
    live = Live(*dead)
    live.rounds.live()
    dead[0].pause()
    live.groups.drop(dead[1])
    dead[1].drop()
    dead[2].close()
    assert [one.state for one in dead] == ["paused", "dropped", "delivering"]
    assert [sink.closed for sink in sinks] == [False, False, False], "a sink at work is not closed"
    for sink in sinks:
        sink.go.set()
    live.until(lambda: not live.groups.is_delivering)
    assert sinks[1].closed
    assert (saved(dead[0]), sinks[0].times) == (24, [10, 20]), "what the sink has taken is saved"


def test_a_reader_of_its_derived_stream_waits_for_the_slow_sink() -> None:
    sink = SlowSink()
    deriving, reader = task("deriving", S, output=D, sink=sink), task("reader", D)
    live = Live(deriving, reader)
    live.rounds.live()
    assert live.inputs.derived == [(D, 0, [10, 20])]
    assert reader.progress is None
    sink.go.set()
    live.until(lambda: reader.progress == 24)
    assert live.inputs.derived == [(D, 0, [10, 20])]


def test_operator_state_is_kept_while_a_slow_sink_is_at_work() -> None:
    slow, other = task("slow", S, sink=SlowSink()), task("other", S)
    made = groups(slow, other)
    made.begin_delivery(slow, GroupProgress(24, (("state-1", None),)))
    made._left_files = {"state-1", "state-0"}
    assert made.files() == {"state-1"}
    assert made.unused_files() == {"state-0"}
    made.end_delivery(slow, True)
    assert (made.files(), slow.progress, other.progress) == ({"state-1"}, 24, None)


def test_a_killed_engine_delivers_the_batch_of_a_slow_sink_again() -> None:
    sink = SlowSink()
    slow = task("slow", S, sink=sink)
    live = Live(slow)
    live.rounds.live()
    sink.go.set()
    assert live.woken.wait(LONG)  # the sink has the answers, and no round has saved that
    assert (sink.times, saved(slow)) == ([10, 20], None)
    again = task("slow", S, sink=(second := ListSink()))
    second.times = list(sink.times)
    Live(again, patience=int(LONG * 1e6)).rounds.live()
    assert (second.times, second.rewinds) == ([10, 20], [0])


def test_records_of_a_sink_are_about_its_query(caplog: pytest.LogCaptureFixture, tmp_path: Path) -> None:
    from penstock import log

    class Falling(ListSink):
        def deliver(self, batch: Batch) -> Position:
            log.fallback(None, "speed", "it is a test")
            return super().deliver(batch)

    with caplog.at_level(logging.INFO, "penstock.optimiser"):
        Live(task("cars", S, sink=Falling()), patience=int(LONG * 1e6)).rounds.live()
    assert caplog.messages == ["cars: speed is not used: it is a test"]
