"""More comes than is evaluated: what waits is bounded, producers are slowed, and nothing is lost."""

from __future__ import annotations

import re
import socket
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Event

import pytest

from penstock.errors import OverloadError, PenstockError
from penstock.stream.ingest.backlog import Backlog
from penstock.stream.ingest.ingest import Ingest
from penstock.stream.ingest.sources.listen import ListenSource
from penstock.stream.ingest.stream_declaration import Declared, declare
from penstock.testing import ManualClock
from penstock.tuning import Tuning
from tests.support.arrivals import STREAM, text
from tests.unit.stream.log.test_stream_log import times

OTHER = "http://example.org/other"
LIMIT = 1 << 16
PUSH = 1 << 14  # bytes, about


class Overloaded:
    """Ingest with a backlog of 64 KiB; `full` is set when a producer finds its stream full."""

    def __init__(self, folder: Path) -> None:
        tuning = Tuning(backlog_bytes=LIMIT)
        streams = {STREAM: Declared(max_ahead=None), OTHER: Declared(max_ahead=None, when_full="refuse")}
        self.full = Event()
        self.ingest = Ingest(None, folder, ManualClock(), streams, tuning=tuning)  # type: ignore[arg-type]
        self.ingest.backlog.listen(self.full.set)
        self.pool = ThreadPoolExecutor(8)
        self._last = 0

    def elements(self) -> bytes:
        """The next elements of a stream: some 16 KiB."""
        start, self._last = self._last, self._last + PUSH // len(text([1]))
        return text(range(start, self._last))

    def fill(self, stream: str) -> int:
        """Push until the stream is full; how many pushes that took."""
        pushes = 0
        while self.ingest.backlog.waiting(stream) < LIMIT:
            self.ingest.push(stream, self.elements())
            pushes += 1
        return pushes

    def round(self) -> None:
        with self.ingest.backlog.round():
            pass

    def await_full(self) -> None:
        assert self.full.wait(60)
        self.full.clear()


@pytest.fixture
def overloaded(tmp_path: Path) -> Iterator[Overloaded]:
    made = Overloaded(tmp_path)
    yield made
    made.ingest.close()
    made.pool.shutdown()


def test_a_push_waits_until_a_round_has_looked_at_the_backlog(overloaded: Overloaded) -> None:
    pushes = overloaded.fill(STREAM)
    waiting = overloaded.pool.submit(overloaded.ingest.push, STREAM, overloaded.elements())
    overloaded.await_full()
    assert not waiting.done()
    overloaded.round()
    assert waiting.result(60) > 0
    assert 0 < overloaded.ingest.backlog.waiting(STREAM) < LIMIT
    assert times(overloaded.ingest.log) == list(range((pushes + 1) * (PUSH // len(text([1])))))


def test_what_comes_during_a_round_waits_for_the_next_one(overloaded: Overloaded) -> None:
    overloaded.ingest.push(STREAM, data := overloaded.elements())
    with overloaded.ingest.backlog.round():
        overloaded.ingest.push(STREAM, later := overloaded.elements())
        assert overloaded.ingest.backlog.waiting(STREAM) == len(data) + len(later)
    assert overloaded.ingest.backlog.waiting(STREAM) == len(later)
    overloaded.round()
    assert overloaded.ingest.backlog.waiting(STREAM) == 0


def test_a_push_is_refused_if_the_stream_says_so(overloaded: Overloaded) -> None:
    overloaded.fill(OTHER)
    kept = times(overloaded.ingest.log, OTHER)
    refused = overloaded.elements()
    with pytest.raises(OverloadError, match=re.escape(
        "The stream <http://example.org/other> is full: 65,536 bytes of its elements wait to be evaluated. Nothing of "
        'this push was kept: push it again later, or declare the stream with when_full="block".'
    )):  # fmt: skip
        overloaded.ingest.push(OTHER, refused)
    assert times(overloaded.ingest.log, OTHER) == kept
    assert (overloaded.ingest.backlog.refused[OTHER], overloaded.full.is_set()) == (1, True)
    overloaded.round()
    assert overloaded.ingest.push(OTHER, refused) > 0
    assert len(times(overloaded.ingest.log, OTHER)) == len(kept) + refused.count(b"\n")


def test_a_full_stream_does_not_hold_up_another(overloaded: Overloaded) -> None:
    overloaded.fill(STREAM)
    assert overloaded.ingest.push(OTHER, text([1])) == 1


def test_the_backlog_of_many_producers_is_bounded_and_all_elements_come(overloaded: Overloaded) -> None:
    data = [overloaded.elements() for _ in range(64)]
    pushes = [overloaded.pool.submit(overloaded.ingest.push, STREAM, one) for one in data]
    largest, total = 0, 0
    while not all(push.done() for push in pushes):
        largest = max(largest, overloaded.ingest.backlog.waiting(STREAM))
        overloaded.round()
    total = sum(push.result() for push in pushes)
    assert largest <= LIMIT + max(map(len, data))
    stamps = times(overloaded.ingest.log)
    dead = overloaded.ingest.log.counts(STREAM).late  # producers race, and no lateness is declared
    assert len(stamps) == len(set(stamps)) == total - dead


def test_a_failed_push_does_not_count(overloaded: Overloaded) -> None:
    overloaded.ingest.close()
    with pytest.raises(PenstockError, match="The engine has been stopped"):
        overloaded.ingest.push(STREAM, overloaded.elements())
    assert overloaded.ingest.backlog.waiting(STREAM) == 0


def test_the_thread_of_a_round_never_waits_for_itself(overloaded: Overloaded) -> None:
    overloaded.fill(STREAM)
    with overloaded.ingest.backlog.round():  # on_progress pushes, say
        assert overloaded.ingest.push(STREAM, overloaded.elements()) > 0


def test_an_end_lets_in_those_that_wait(overloaded: Overloaded) -> None:
    overloaded.fill(STREAM)
    waiting = overloaded.pool.submit(overloaded.ingest.push, STREAM, overloaded.elements())
    overloaded.await_full()
    overloaded.ingest.backlog.open()
    assert waiting.result(60) > 0


def test_a_socket_is_not_read_while_its_stream_is_full(overloaded: Overloaded) -> None:
    overloaded.ingest.add(STREAM, Declared("listen://127.0.0.1:0", max_ahead=None))
    overloaded.ingest.start()
    source = overloaded.ingest._sources[STREAM]
    assert isinstance(source, ListenSource)
    data = text(range(200_000))  # some 17 MB, more than sockets hold
    with socket.create_connection(("127.0.0.1", source.port or 0)) as producer:
        producer.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 16)
        sending = overloaded.pool.submit(producer.sendall, data)
        overloaded.await_full()
        assert not sending.done(), "the producer should have been slowed"
        largest = accepted = 0
        acknowledged = producer.makefile("rb")
        while accepted < 200_000:
            largest = max(largest, overloaded.ingest.backlog.waiting(STREAM))
            overloaded.round()
            accepted = int(acknowledged.readline().split()[1])
        sending.result(60)
        assert largest <= LIMIT + (1 << 18) + 200  # one piece of what a socket delivers
    assert times(overloaded.ingest.log) == list(range(200_000))


@pytest.mark.parametrize("size", [1, 100])
def test_a_backlog_is_full_at_its_limit(size: int) -> None:
    backlog = Backlog(100)
    for _ in range(100 // size):
        with backlog.entering(STREAM, size, "refuse"):
            pass
    with pytest.raises(OverloadError, match="is full: 100 bytes"), backlog.entering(STREAM, size, "refuse"):
        pass


def test_when_full_has_two_values() -> None:
    with pytest.raises(ValueError, match='when_full is "block" or "refuse", not \'drop\''):
        declare(None, None, None, False, None, when_full="drop")  # type: ignore[arg-type]
