"""The clock that stands still, the source that can be interrupted, answers as text."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from threading import Condition, Thread

import pytest
from pyoxigraph import BlankNode, Literal, NamedNode, Triple

from penstock.answer import Answer
from penstock.testing import ABORT, PAUSE, Aborted, ManualClock, TestSource, line, snapshots

A, V = NamedNode("http://e/a"), NamedNode("http://e/v")


def test_the_clock_moves_only_when_it_is_moved() -> None:
    clock = ManualClock(5)
    assert clock.now() == clock.now() == 5
    clock.advance(10)
    clock.advance(timedelta(seconds=1))
    assert clock.now() == 1_000_015
    with pytest.raises(ValueError, match="does not go back"):
        clock.advance(-1)


def test_a_moment_that_has_come_is_not_waited_for() -> None:
    clock, condition = ManualClock(100), Condition()
    with condition:
        clock.wait(condition, 100)
    assert clock.now() == 100


class Waiter(Thread):
    """Waits for a moment, again and again as those who use a condition do."""

    def __init__(self, clock: ManualClock, until: int | None) -> None:
        super().__init__(daemon=True)
        self.clock, self.until = clock, until
        self.condition = Condition()
        self.waits, self.told = 0, False
        self.changed = Condition()

    def run(self) -> None:
        with self.condition:
            while not self.told and (self.until is None or self.clock.now() < self.until):
                with self.changed:
                    self.waits += 1
                    self.changed.notify_all()
                self.clock.wait(self.condition, self.until)

    def has_waited(self, times: int) -> None:
        with self.changed:
            assert self.changed.wait_for(lambda: self.waits >= times, timeout=30)
        with self.condition:  # free again only when it really waits
            pass


def test_a_waiting_thread_wakes_when_the_clock_reaches_its_time() -> None:
    clock = ManualClock()
    waiter = Waiter(clock, 100)
    waiter.start()
    waiter.has_waited(1)
    clock.advance(99)
    waiter.has_waited(2)
    assert waiter.is_alive()
    clock.advance(1)
    waiter.join(30)
    assert not waiter.is_alive()


def test_a_thread_waiting_without_a_time_wakes_when_notified() -> None:
    waiter = Waiter(ManualClock(), None)
    waiter.start()
    waiter.has_waited(1)
    with waiter.condition:
        waiter.told = True
        waiter.condition.notify_all()
    waiter.join(30)
    assert not waiter.is_alive()


def test_a_source_pauses_and_goes_on() -> None:
    source = TestSource(["a", "b", PAUSE, "c"])
    assert list(source) == ["a", "b"]
    assert not source.done
    assert list(source) == ["c"]
    assert source.done
    assert list(source) == []


def test_waiting_for_more_halts_than_a_source_has_times_out() -> None:
    source = TestSource(["a", PAUSE, "b"])
    reader = Thread(target=lambda: [list(source), list(source)], daemon=True)
    reader.start()
    source.wait(2)
    assert source.done
    with pytest.raises(TimeoutError, match="2 halts, not to 3"):
        source.wait(3, timeout=0)


def test_a_source_fails_once_and_goes_on() -> None:
    source = TestSource(["a", ABORT, "b"])
    with pytest.raises(Aborted):
        list(source)
    assert list(source) == ["b"]


def test_an_element_that_was_not_confirmed_is_given_again() -> None:
    source = TestSource(["a", "b", "c"])
    reader = iter(source)
    assert [next(reader), next(reader)] == ["a", "b"]  # "a" is durable, since somebody asked beyond it; "b" is not
    assert list(source) == ["b", "c"]


def test_a_line() -> None:
    written = line(90.5, Triple(A, V, Literal('say "hi"')))
    stamp = '"1970-01-01T00:01:30.5Z"^^<http://www.w3.org/2001/XMLSchema#dateTime>'
    assert written == f'<http://e/a> <http://e/v> "say \\"hi\\"" {stamp} .\n'


def at(seconds: int, answer: Answer) -> Answer:
    return replace(answer, time=datetime(1970, 1, 1, tzinfo=UTC) + timedelta(seconds=seconds))


def test_snapshots() -> None:
    rows = Answer.solutions(["x", "n"], [{"x": A, "n": Literal("b")}, {"x": BlankNode("k")}, {"n": Literal("a")}])
    graph = Answer.graph([Triple(A, V, BlankNode("z"))])
    assert snapshots([at(60, rows), at(120, Answer.ask(True)), at(180, graph), Answer.ask(False)]) == {
        "1:00": ['- "a"', '<http://e/a> "b"', "[] -"],
        "2:00": ["true"],
        "3:00": ["<http://e/a> <http://e/v> []"],
        "once": ["false"],
    }
    held = replace(at(60, Answer.ask(True)), valid_from=at(30, rows).time)
    assert snapshots([replace(held, valid_to=held.time), held]) == {"0:30 .. 1:00": ["true"], "0:30 ..": ["true"]}
