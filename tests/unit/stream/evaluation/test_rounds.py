"""Rounds with a stand-in for Spark: due instants, dependency order, and failures."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import pytest

from penstock import log
from penstock.answer import Answer
from penstock.errors import StoreError
from penstock.io.sinks import Batch, Position
from penstock.io.sinks.function import FunctionSink
from penstock.log import TextFormatter
from penstock.model.span import Span
from penstock.model.stretches import Stretch
from penstock.spark.query.evaluation import Evaluation
from penstock.spark.session.cancellation import ResultTooLarge
from penstock.stream.evaluation.rounds import Rounds
from penstock.stream.registry.evaluation_groups import EvaluationGroups
from penstock.stream.registry.metadata_store import QueryProgress
from penstock.stream.registry.registered_query import RegisteredQuery
from penstock.testing import ManualClock
from penstock.tuning import Tuning
from tests.support.runtime import FakeInputs, FakePlan, ListSink, groups, range_of, rounds, saved, segment, task

S, T, D, E = "http://e/s", "http://e/t", "http://e/d", "http://e/e"


def times(one: RegisteredQuery) -> list[int]:
    assert isinstance(one.sink, ListSink)
    return one.sink.times


def plan(one: RegisteredQuery) -> FakePlan:
    assert isinstance(one.plan, FakePlan)
    return one.plan


def test_all_due_instants_are_one_evaluation() -> None:
    q = task("q", S)
    inputs = FakeInputs({S: [segment(3, 47)]}, {S: 46})
    assert rounds(inputs, q).live()
    assert times(q) == [10, 20, 30, 40]
    assert [span for _, span in plan(q).seen] == [Span(2, 46)]
    assert (saved(q), q.entry.batches, q.entry.position) == (46, 1, 4)


def test_the_second_round_continues_and_a_round_without_news_does_nothing() -> None:
    q = task("q", S)
    inputs = FakeInputs({S: [segment(3, 47)]}, {S: 46})
    round = rounds(inputs, q)
    round.live()
    assert not round.live()
    inputs.held[S].append(segment(48, 61))
    inputs.ends[S] = 60
    assert round.live()
    assert times(q) == [10, 20, 30, 40, 50, 60]
    assert len(plan(q).seen) == 2


def test_an_instant_waits_for_the_slowest_stream() -> None:
    q = task("q", S, T)
    inputs = FakeInputs({S: [segment(1, 99)], T: [segment(5, 25)]}, {S: 98, T: 24})
    round = rounds(inputs, q)
    round.live()
    assert times(q) == [10, 20]
    inputs.ends[T] = None
    assert not round.live()


def test_empty_windows_need_no_job_and_no_transaction() -> None:
    q = task("q", S)
    inputs = FakeInputs({S: [segment(3, 5)]}, {S: 12})
    round = rounds(inputs, q)
    round.live()
    inputs.ends[S] = 1000
    assert not round.live()
    assert (q.progress, saved(q), times(q)) == (1000, 12, [10])


def test_only_segments_that_can_be_seen_are_read() -> None:
    q = task("q", S)
    inputs = FakeInputs({S: [segment(1, 9), segment(11, 19), segment(21, 29), segment(31, 39)]}, {S: 30})
    round = rounds(inputs, q)
    q.group.pass_over(Span(0, 20))
    round.live()
    streams, span = plan(q).seen[0]
    assert (streams[S].paths, span) == (("21-29",), Span(20, 30))
    assert streams[S].predicates == frozenset({"<http://e/p>"})


def test_a_derived_stream_is_consumed_in_the_same_round() -> None:
    consumer, producer = task("consumer", D), task("producer", S, output=D)
    inputs = FakeInputs({S: [segment(1, 25)]}, {S: 24})
    rounds(inputs, consumer, producer).live()
    assert inputs.derived == [(D, 0, [10, 20])]
    assert (times(producer), times(consumer)) == ([10, 20], [10, 20])


def test_failure_stops_one_query_and_retains_its_segments() -> None:
    bad, good = task("bad", S, fails=True), task("good", S)
    inputs = FakeInputs({S: [segment(1, 25)]}, {S: 24})
    round = rounds(inputs, bad, good)
    round.live()
    assert (bad.state, bad.error, saved(bad)) == ("failed", "RuntimeError: boom", None)
    assert times(good) == [10, 20]
    assert inputs.discarded == []
    plan(bad).fails = False
    bad.resume()
    round.live()
    assert times(bad) == [10, 20]


def test_sink_is_rewound_after_an_interrupted_delivery() -> None:
    sink = ListSink()
    q = task("q", S, sink=sink)
    inputs = FakeInputs({S: [segment(1, 25)]}, {S: 14})
    round = rounds(inputs, q)
    round.live()
    inputs.ends[S], sink.fails = 34, True
    round.live()
    assert (q.error, sink.times, q.entry.position) == ("OSError: disk full", [10, 20], 1)
    sink.fails = False
    q.resume()
    round.live()
    assert (sink.times, sink.rewinds) == ([10, 20, 30], [0, 1])


def test_derived_elements_of_a_failed_delivery_are_removed() -> None:
    sink = ListSink()
    producer, consumer = task("producer", S, output=D, sink=sink), task("consumer", D)
    inputs = FakeInputs({S: [segment(1, 25)]}, {S: 24})
    sink.fails = True
    round = rounds(inputs, producer, consumer)
    round.live()
    assert (inputs.undone, inputs.held[D], times(consumer)) == ([(D, 0)], [], [])
    sink.fails = False
    producer.resume()
    round.live()
    assert (sink.times, times(consumer)) == ([10, 20], [10, 20])


def test_paused_query_continues_without_a_gap() -> None:
    q = task("q", S)
    inputs = FakeInputs({S: [segment(1, 45)]}, {S: 14})
    round = rounds(inputs, q)
    round.live()
    q.pause()
    inputs.ends[S] = 44
    assert not round.live()
    assert inputs.discarded[-1] == (S, 10, 0)
    q.resume()
    round.live()
    assert times(q) == [10, 20, 30, 40]


def test_a_query_dropped_by_its_own_sink_gets_nothing_more() -> None:
    q = task("q", S)
    inputs = FakeInputs({S: [segment(1, 25)]}, {S: 24})
    q.drop()
    assert not rounds(inputs, q).live()
    assert (q.state, times(q)) == ("dropped", [])


def test_log_retains_segments_of_the_slowest_reader() -> None:
    slow, fast = task("slow", S, range=100), task("fast", S)
    inputs = FakeInputs({S: [segment(1, 245)]}, {S: 244})
    rounds(inputs, slow, fast).live()
    assert inputs.discarded == [(S, 150, 0)]


def test_windows_that_count_keep_elements_by_number() -> None:
    q = task("q", S, counting=True)
    inputs = FakeInputs({S: [segment(1, 15, rows=7), segment(11, 30, rows=5)]}, {S: 24})
    rounds(inputs, q).live()
    assert inputs.discarded == [(S, 24, 3)]


def test_counting_query_is_not_evaluated_without_new_elements() -> None:
    q = task("q", S, counting=True)
    inputs = FakeInputs({S: [segment(1, 15)]}, {S: 24})
    round = rounds(inputs, q)
    assert round.live()
    inputs.ends[S] = 99
    assert not round.live()
    assert len(plan(q).seen) == 1


def test_segments_of_an_unread_stream_are_dropped() -> None:
    inputs = FakeInputs({S: [segment(1, 15)], T: [segment(1, 15)]}, {S: 14, T: None})
    rounds(inputs).live()
    assert inputs.discarded == [(S, 14, 0)]


def test_bounded_run_ends_with_the_instant_after_the_last_element() -> None:
    q = task("q", S, T)
    inputs = FakeInputs({S: [segment(3, 41)], T: [segment(2, 12)]})
    round = rounds(inputs, q)
    round.bounded()
    assert times(q) == [10, 20, 30, 40, 50]
    round.bounded()
    assert len(plan(q).seen) == 1


def test_a_bounded_run_follows_derived_streams() -> None:
    chain = [task("c", E), task("b", D, output=E), task("a", S, output=D)]
    inputs = FakeInputs({S: [segment(3, 21)]})
    rounds(inputs, *chain).bounded()
    assert [times(one) for one in chain] == [[10, 20, 30]] * 3


def test_reader_of_a_failed_derived_stream_fails_in_a_bounded_run() -> None:
    a, b = task("a", S, output=D, fails=True), task("b", D)
    rounds(FakeInputs({S: [segment(3, 21)]}), a, b).bounded()
    assert (a.error, b.error) == ("RuntimeError: boom", "the query a, whose stream it reads, failed")


def test_deliveries_are_reported() -> None:
    told: list[int] = []
    q = task("q", S)
    inputs = FakeInputs({S: [segment(1, 25)]}, {S: 24})
    rounds(inputs, q, answered=lambda: told.append(q.answers)).live()
    assert told == [2]


def transactions(one: RegisteredQuery, monkeypatch: pytest.MonkeyPatch) -> list[list[QueryProgress]]:
    """What the metadata store saves from now on, a list each time."""
    made: list[list[QueryProgress]] = []
    save_all = one._registry.save_all

    def noted(moved: Iterable[QueryProgress], *others: Any) -> None:
        made.append(list(moved))
        save_all(made[-1], *others)

    monkeypatch.setattr(one._registry, "save_all", noted)
    return made


def test_groups_that_are_evaluated_together_are_saved_in_one_transaction(monkeypatch: pytest.MonkeyPatch) -> None:
    queries = [task(name, S) for name in ("a", "b", "c")]
    reader, producer = task("reader", D), task("producer", S, output=D)
    inputs = FakeInputs({S: [segment(1, 25)]}, {S: 24})
    round = rounds(inputs, *queries, producer, reader)
    made = transactions(reader, monkeypatch)
    round.live()
    assert [len(moved) for moved in made] == [4, 1]  # the reader waits for the elements that are derived
    assert [saved(one) for one in (*queries, producer, reader)] == [24] * 5


def test_a_transaction_that_fails_is_repeated_by_all_its_queries(monkeypatch: pytest.MonkeyPatch) -> None:
    one, other = task("one", S), task("other", S, output=D)
    inputs = FakeInputs({S: [segment(1, 25)]}, {S: 24})
    round = rounds(inputs, one, other)
    with monkeypatch.context() as patch:
        patch.setattr(one._registry, "save_all", failing)
        round.live()
    assert [(query.error, query.progress, saved(query)) for query in (one, other)] == [("disk full", None, None)] * 2
    assert inputs.undone == [(D, 0)]
    one.resume()
    other.resume()
    round.live()
    assert (times(one), times(other), inputs.derived[-1]) == ([10, 20], [10, 20], (D, 0, [10, 20]))
    assert [saved(query) for query in (one, other)] == [24, 24]


def failing(*_: object) -> None:
    raise StoreError("disk full")


def test_derived_stream_of_an_idle_stream_holds_back_no_query() -> None:
    """T has no element, but `advance` has completed it."""
    producer, consumer = task("producer", T, output=D), task("consumer", D, S)
    inputs = FakeInputs({S: [segment(3, 25)]}, {S: 24, T: 30})
    rounds(inputs, producer, consumer).live()
    assert (producer.progress, plan(producer).seen, times(consumer)) == (30, [], [10, 20])


class Interrupting(ListSink):
    """Pauses its query when it has been delivered to."""

    query: RegisteredQuery

    def deliver(self, batch: Batch) -> Position:
        position = super().deliver(batch)
        self.query.pause()
        return position


def test_a_query_that_is_paused_between_the_pieces_of_a_span_continues_without_a_gap() -> None:
    sink = Interrupting()
    q = sink.query = task("q", S, sink=sink)
    inputs = FakeInputs({S: [segment(1, 19, rows=20), segment(121, 129, rows=20)]}, {S: 140})
    round = rounds(inputs, q, tuning=Tuning(job_instants=1, job_elements=1))
    for _ in range(4):
        round.live()
        q.resume()
    assert sink.times == [10, 20, 130]


def test_thousands_of_quiet_years_are_passed_over() -> None:
    q, far = task("q", S), 10**15
    stretches = Stretch(3, 5, 1), Stretch(far + 1, far + 9, 40)
    inputs = FakeInputs({S: [replace(segment(3, far + 9, rows=41), stretches=stretches)]}, {S: far + 10})
    rounds(inputs, q, tuning=Tuning(job_elements=1, pause_us=1_000)).live()
    assert [span for _, span in plan(q).seen] == [Span(2, 30), Span(far, far + 10)]
    assert times(q) == [10, 20, 30, far + 10]
    assert q.progress == far + 10


@dataclass
class LargePlan(FakePlan):
    """Has answers of which only so many instants can be collected at once."""

    most: int = 3

    def result(self, evaluation: Evaluation) -> Any:
        if len(range_of(evaluation.span, self.step)) > self.most:
            raise ResultTooLarge("Total size of serialized results is bigger than spark.driver.maxResultSize")
        return super().result(evaluation)


def test_answers_that_are_too_large_together_are_collected_in_smaller_pieces() -> None:
    q = task("q", S)
    q.plan = LargePlan()
    inputs = FakeInputs({S: [segment(1, 199)]}, {S: 200})
    rounds(inputs, q, tuning=Tuning(smaller_pieces=4)).live()
    assert times(q) == list(range(10, 201, 10))
    assert [span for _, span in plan(q).seen][:3] == [Span(0, 200), Span(0, 50), Span(0, 13)]
    assert (q.progress, q.error) == (200, None)


def test_an_instant_whose_answer_is_too_large_fails_its_query() -> None:
    q = task("q", S)
    q.plan = LargePlan(most=0)
    inputs = FakeInputs({S: [segment(1, 99)]}, {S: 100})
    rounds(inputs, q).live()
    assert q.error is not None
    assert "spark.driver.maxResultSize" in q.error
    assert times(q) == []


class Registering(ListSink):
    """Registers another query when it has been delivered to."""

    def __init__(self, other: RegisteredQuery, progress: int) -> None:
        super().__init__()
        self._other, self._progress = other, progress
        self.groups: EvaluationGroups

    def deliver(self, batch: Batch) -> Position:
        self.groups.begin(self._other, self._progress)
        return super().deliver(batch)


def test_query_registered_during_a_round_keeps_its_elements() -> None:
    """The round knows one query when it begins, and two when it comes to let go of elements."""
    second = task("second", S)
    first = task("first", S, sink=(sink := Registering(second, 24)))
    sink.groups = groups(first)
    inputs = FakeInputs({S: [segment(1, 45)]}, {S: 44})
    Rounds(inputs, inputs.watermarks, sink.groups).live()
    assert inputs.discarded == [(S, 20, 0)]


# Sinks that fail and are tried again


def retried(name: str, retry: int, sink: ListSink, output: str | None = None) -> RegisteredQuery:
    made = task(name, S, sink=sink, output=output)
    made.entry.retry = retry
    return made


def test_a_failing_sink_is_tried_again_later_and_holds_up_no_other_query() -> None:
    clock, sink = ManualClock(), ListSink()
    bad, good = retried("bad", 2, sink), task("good", S)
    inputs = FakeInputs({S: [segment(1, 25)]}, {S: 24})
    round = rounds(inputs, bad, good, clock=clock)
    sink.fails = True
    round.live()
    assert (bad.state, bad.sink_error, bad.error, sink.times) == ("retrying", "OSError: disk full", None, [10])
    assert (bad.retry_at, times(good), inputs.discarded) == (100_000, [10, 20], [])
    inputs.held[S].append(segment(26, 39))
    inputs.ends[S], sink.fails = 34, False
    clock.advance(99_999)
    round.live()
    assert (sink.times, times(good)) == ([10], [10, 20, 30])
    clock.advance(1)
    round.live()
    assert (sink.times, sink.rewinds) == ([10, 20, 30], [0, 0])
    assert (bad.state, bad.sink_error, bad.entry.batches, saved(bad)) == ("running", None, 1, 34)


def test_the_waits_double_and_then_the_query_fails_with_its_traceback(caplog: pytest.LogCaptureFixture) -> None:
    clock, sink = ManualClock(), ListSink()
    q = retried("cars", 3, sink)
    round = rounds(FakeInputs({S: [segment(1, 25)]}, {S: 24}), q, clock=clock, tuning=Tuning(retry_longest_us=150_000))
    sink.fails = True
    for wait in (100_000, 150_000, 150_000):
        round.live()
        assert q.retry_at == clock.now() + wait
        clock.advance(wait)
    assert round.live()
    assert (q.state, q.error, q.retry_at, q.entry.batches) == ("failed", "OSError: disk full", None, 0)
    assert caplog.messages == [
        "cars: the sink failed, retry 1 of 3 in 0.1 s: OSError: disk full",
        "cars: the sink failed, retry 2 of 3 in 0.15 s: OSError: disk full",
        "cars: the sink failed, retry 3 of 3 in 0.15 s: OSError: disk full",
        "cars: the query failed: OSError: disk full",
    ]
    assert [(each.name, each.levelname) for each in caplog.records[2:]] == [
        ("penstock.sinks", "WARNING"),
        ("penstock.rounds", "ERROR"),
    ]
    for each in caplog.records:
        text = "\n".join(TextFormatter().format(each).splitlines()[-3:])
        assert text.endswith('raise OSError("disk full")\nOSError: disk full')
    fields = {"query": "cars", "batch": 0, "attempt": 3, "retries": 3, "wait_s": 0.15, "error": "OSError: disk full"}
    assert log.fields(caplog.records[2]) == fields
    q.resume()
    round.live()
    assert (q.state, q.failures) == ("retrying", 1)


def test_errors_of_the_query_itself_are_not_tried_again(caplog: pytest.LogCaptureFixture) -> None:
    q = task("cars", S, fails=True)
    q.entry.retry = 5
    rounds(FakeInputs({S: [segment(1, 25)]}, {S: 24}), q, clock=ManualClock()).live()
    assert (q.state, caplog.messages) == ("failed", ["cars: the query failed: RuntimeError: boom"])


def test_derived_elements_of_a_postponed_delivery_are_removed() -> None:
    clock, sink = ManualClock(), ListSink()
    producer, consumer = retried("producer", 1, sink, output=D), task("consumer", D)
    inputs = FakeInputs({S: [segment(1, 25)]}, {S: 24})
    sink.fails = True
    round = rounds(inputs, producer, consumer, clock=clock)
    round.live()
    assert (inputs.undone, inputs.held[D], times(consumer)) == ([(D, 0)], [], [])
    sink.fails = False
    clock.advance(100_000)
    round.live()
    assert (sink.times, times(consumer), inputs.derived[-1]) == ([10, 20], [10, 20], (D, 0, [10, 20]))


def test_a_bounded_round_continues_with_the_postponed_query() -> None:
    clock, sink = ManualClock(), ListSink()
    producer, consumer = retried("producer", 1, sink, output=D), task("consumer", D)
    inputs = FakeInputs({S: [segment(1, 25)]})
    sink.fails = True
    made = groups(producer, consumer)
    round = Rounds(inputs, inputs.watermarks, made, clock=clock)
    round.bounded()
    assert (producer.state, consumer.state, times(consumer), made.next_retry()) == ("retrying", "running", [], 100_000)
    sink.fails = False
    clock.advance(100_000)
    round.bounded()
    assert (sink.times, times(consumer), made.next_retry()) == ([10, 20, 30], [10, 20, 30], None)


def test_a_dropped_query_is_not_waited_for() -> None:
    sink = ListSink()
    q = retried("cars", 1, sink)
    made = groups(q)
    inputs = FakeInputs({S: [segment(1, 25)]}, {S: 24})
    sink.fails = True
    Rounds(inputs, inputs.watermarks, made, clock=ManualClock()).live()
    assert made.next_retry() == 100_000
    q.drop()
    assert made.next_retry() is None


def test_a_function_that_exits_stops_only_its_query() -> None:
    def leave(_: Answer) -> None:
        sys.exit("enough")

    bad, good = task("bad", S, sink=FunctionSink(leave)), task("good", S)
    rounds(FakeInputs({S: [segment(1, 25)]}, {S: 24}), bad, good).live()
    assert (bad.state, bad.error, times(good)) == ("failed", "SystemExit: enough", [10, 20])
