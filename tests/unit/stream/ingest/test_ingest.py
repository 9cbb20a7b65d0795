"""Pushes and sockets without Spark: committed where they arrive, in order, in groups, or refused without a trace."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Event

import pytest

from penstock.errors import PenstockError
from penstock.stream.base import failpoints
from penstock.stream.ingest.dead_letters import DeadLetters
from penstock.stream.ingest.ingest import Ingest
from penstock.stream.ingest.stream_declaration import Declared
from penstock.stream.log.journal import Journal
from penstock.stream.log.stream_log import Counts
from penstock.testing import ManualClock
from penstock.tuning import DEFAULT, Tuning
from tests.support.arrivals import SECOND, STREAM, text
from tests.unit.stream.log.test_stream_log import times

OTHER = "http://example.org/other"
Opener = Callable[..., Ingest]


@pytest.fixture
def open_ingest(tmp_path: Path) -> Iterator[Opener]:
    """Ingest on one checkpoint, without a Spark session, closed when the test is over."""
    opened: list[Ingest] = []

    def opener(
        source: object = None, clock: ManualClock | None = None, tuning: Tuning = DEFAULT, **options: object
    ) -> Ingest:
        streams = {STREAM: Declared(source, **options)}  # type: ignore[arg-type]
        opened.append(Ingest(None, tmp_path, clock or ManualClock(), streams, tuning=tuning))  # type: ignore[arg-type]
        return opened[-1]

    yield opener
    for ingest in opened:
        ingest.close()


def test_pushes_are_in_the_log_when_they_return(open_ingest: Opener) -> None:
    ingest, heard = open_ingest(lateness=SECOND), list[str]()
    ingest.log.listen(heard.append)
    assert ingest.push(STREAM, text([5 * SECOND, 2 * SECOND]) + b"\n# comment\nbad\n") == 3
    assert heard == [STREAM]
    assert ingest.log.counts(STREAM) == Counts(1, late=1, malformed=1)
    assert ingest.push(STREAM, text([6 * SECOND])) == 1
    assert ingest.push(OTHER, text([1])) == 1
    assert ingest.push(STREAM, b" \n") == 0
    assert heard == [STREAM, STREAM, OTHER]
    assert (ingest.log.newest(STREAM), ingest.watermarks.of(STREAM)) == (6 * SECOND, 5 * SECOND - 1)
    assert ingest.watermarks.combined([STREAM]) == 5 * SECOND - 1
    assert times(ingest.log) == [5 * SECOND, 6 * SECOND]
    assert times(ingest.log, OTHER) == [1]


def test_lines_without_an_element_wake_no_query(open_ingest: Opener) -> None:
    ingest, heard = open_ingest(), list[str]()
    ingest.log.listen(heard.append)
    assert ingest.push(STREAM, b"# a comment\n") == 0
    assert (heard, ingest.log.next_batch(STREAM)) == ([], 0)


def test_another_engine_on_the_folder_has_all_pushes(open_ingest: Opener) -> None:
    first = open_ingest(lateness=5)
    first.push(STREAM, text([1]))
    first.start()
    first.push(STREAM, text([9, 2]))
    first.stop()
    first.push(STREAM, text([3]))
    first.close()
    second = open_ingest(lateness=5)
    second.push(STREAM, text([4]))
    assert times(second.log) == [1, 9, 4]
    assert second.log.counts(STREAM) == Counts(3, late=2, malformed=0)
    with pytest.raises(PenstockError, match="has been stopped: it takes no more elements"):
        first.push(STREAM, text([5]))


def test_advance_applies_after_earlier_pushes(open_ingest: Opener) -> None:
    ingest = open_ingest()
    ingest.push(STREAM, text([5]))
    ingest.advance(STREAM, 100)
    assert ingest.push(STREAM, text([50, 100])) == 2
    assert ingest.watermarks.combined([STREAM]) == 99
    again = open_ingest()
    assert (times(again.log), again.log.advanced_to(STREAM)) == ([5, 100], 99)
    assert again.log.counts(STREAM).late == 1


def test_the_clock_does_not_overtake_a_push(open_ingest: Opener, monkeypatch: pytest.MonkeyPatch) -> None:
    """The clock moves while the push is on its way to the log."""
    clock = ManualClock(10)
    ingest, at_the_disk, moved = open_ingest(clock=clock, advance=True), Event(), Event()
    read = ingest._log_writer.push

    def slow(*arguments: object) -> None:
        at_the_disk.set()
        assert moved.wait(20)
        read(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(ingest._log_writer, "push", slow)
    with ThreadPoolExecutor(1) as pool:
        push = pool.submit(ingest.push, STREAM, text([10]))
        assert at_the_disk.wait(20)
        clock.advance(90)
        assert ingest.watermarks.combined([STREAM]) == 9
        moved.set()
        push.result(20)
    assert ingest.watermarks.combined([STREAM]) == 99
    assert times(ingest.log) == [10]


def test_lines_get_the_time_of_their_arrival(open_ingest: Opener) -> None:
    clock = ManualClock(7)
    ingest = open_ingest(clock=clock, format="nt")
    ingest.push(STREAM, b"<http://e/s> <http://e/p> <http://e/o> .\n")
    clock.advance(5)
    assert times(ingest.log) == [7]


def test_a_large_push_is_written_in_pieces(open_ingest: Opener) -> None:
    ingest = open_ingest(tuning=Tuning(push_bytes=1_000, journal_bytes=5_000))
    assert ingest.push(STREAM, text(range(500))) == 500
    assert ingest.log.next_batch(STREAM) > 10
    assert times(ingest.log) == list(range(500))


def test_threads_share_a_sync(open_ingest: Opener, monkeypatch: pytest.MonkeyPatch) -> None:
    """Eight threads wait while the disk works for the first: one sync more is enough for all of them."""
    ingest, fsync, syncs = open_ingest(lateness=100), os.fsync, list[int]()
    ingest.push(STREAM, text([0]))
    arrived, go = Event(), Event()

    def slow(descriptor: int) -> None:
        syncs.append(descriptor)
        if len(syncs) == 1:
            arrived.set()
            assert go.wait(20)
        fsync(descriptor)

    monkeypatch.setattr(os, "fsync", slow)
    with ThreadPoolExecutor(9) as pool:
        first = pool.submit(ingest.push, STREAM, text([1]))
        assert arrived.wait(20)
        others = [pool.submit(ingest.push, STREAM, text([number]) + b"bad\n") for number in range(2, 10)]
        while len(ingest._commits[STREAM]._waiting) < 8:
            pass
        assert not first.done()
        go.set()
        assert [first.result(20), *(other.result(20) for other in others)] == [1] + [2] * 8
    monkeypatch.undo()
    assert len(syncs) == 2 + 2 + 2  # two records, and the dead letters of the second in two new folders
    assert sorted(times(ingest.log)) == list(range(10))
    letters = list(DeadLetters(ingest._root / "dead").read(STREAM))
    assert [(letter.text, letter.line) for letter in letters] == [("bad", 2)] * 8  # numbered in its own push


_FAILED = (
    r"^Elements could not be written to the log: \S+/journal cannot be written: Input/output error; "
    r"look after its disk, and try again\.$"
)


def test_a_push_that_fails_leaves_no_trace(open_ingest: Opener, monkeypatch: pytest.MonkeyPatch) -> None:
    ingest, heard, write = open_ingest(), list[str](), Journal._write
    ingest.push(STREAM, text([5]))
    ingest.log.listen(heard.append)

    def fails(self: Journal, data: bytes) -> None:
        write(self, data)
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(Journal, "_write", fails)
    with pytest.raises(PenstockError, match=_FAILED):
        ingest.push(STREAM, text([6, 3]) + b"bad\n")
    with pytest.raises(PenstockError, match="Input/output error"):
        ingest.advance(STREAM, 50)
    monkeypatch.undo()
    assert heard == []
    assert list(DeadLetters(ingest._root / "dead").read(STREAM)) == []
    again = open_ingest()
    for each in (ingest, again):
        assert each.log.counts(STREAM) == Counts(1, 0, 0)
        assert each.watermarks.of(STREAM) == 4
    ingest.push(STREAM, text([7]))
    assert times(ingest.log) == [5, 7]


def test_a_push_that_is_not_acknowledged_is_whole_after_a_crash(
    open_ingest: Opener, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Crash(BaseException):
        pass

    def crash(place: str) -> None:
        if place == "appended":
            raise Crash

    first = open_ingest()
    monkeypatch.setattr(failpoints, "handler", crash)
    with pytest.raises(Crash):
        first.push(STREAM, text([5, 4, 6]) + b"bad\n")
    monkeypatch.undo()
    second = open_ingest()
    assert second.log.counts(STREAM) == Counts(2, late=1, malformed=1)
    assert [letter.kind for letter in DeadLetters(second._root / "dead").read(STREAM)] == ["late", "malformed"]
    second.push(STREAM, text([7]))
    assert times(second.log) == [5, 6, 7]


def test_a_producer_on_a_socket(open_ingest: Opener) -> None:
    ingest = open_ingest("listen://127.0.0.1:0")
    ingest.start()
    port = ingest._sources[STREAM].port  # type: ignore[union-attr]
    with socket.create_connection(("127.0.0.1", port)) as producer, producer.makefile("rb") as answers:
        producer.sendall(text([1, 2]))
        while answers.readline() != b"ok 2\n":
            pass
        assert ingest.log.counts(STREAM).elements == 2
    ingest.drain()
    assert times(ingest.log) == [1, 2]
