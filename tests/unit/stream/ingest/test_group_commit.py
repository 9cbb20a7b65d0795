"""Group commit: waiting pushes share a commit, each returns after it, and all of a group share its failure."""

from __future__ import annotations

import signal
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from threading import Event, Thread, main_thread

import pytest

from penstock.errors import PenstockError
from penstock.stream.ingest.elements import Block
from penstock.stream.ingest.group_commit import GroupCommit, InFlight, _Waiting, pieces
from penstock.testing import ManualClock
from tests.support.arrivals import STREAM


def block(text: str) -> Block:
    return Block(STREAM, text.encode())


class Disk:
    """Notes the groups that are committed; the first is held up until `go`."""

    def __init__(self, fails: BaseException | None = None) -> None:
        self.groups: list[list[str]] = []
        self.arrived, self.go = Event(), Event()
        self._fails = fails

    def commit(self, blocks: Sequence[Block]) -> None:
        self.groups.append([block.data.decode() for block in blocks])
        if len(self.groups) == 1:
            self.arrived.set()
            assert self.go.wait(20)
        elif self._fails is not None:
            raise self._fails


@pytest.fixture
def pool() -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor(10) as made:
        yield made


def held_up(disk: Disk, commits: GroupCommit, pool: ThreadPoolExecutor, others: int) -> list[Future[None]]:
    """The first push, which is at the disk, and others that wait behind it, in order."""
    pushes = [pool.submit(commits.append, block("0"))]
    assert disk.arrived.wait(20)
    for number in range(1, others + 1):
        pushes.append(pool.submit(commits.append, block(str(number))))
        while len(commits._waiting) < number:
            pass
    assert not any(push.done() for push in pushes)
    return pushes


def test_waiting_pushes_share_a_commit_in_the_order_of_arrival(pool: ThreadPoolExecutor) -> None:
    disk = Disk()
    pushes = held_up(disk, GroupCommit(disk.commit), pool, others=9)
    disk.go.set()
    for push in pushes:
        push.result(20)
    assert disk.groups == [["0"], [str(number) for number in range(1, 10)]]


def test_a_group_is_not_too_large(pool: ThreadPoolExecutor) -> None:
    disk = Disk()
    pushes = held_up(disk, GroupCommit(disk.commit, max_bytes=3), pool, others=7)
    disk.go.set()
    for push in pushes:
        push.result(20)
    assert disk.groups == [["0"], ["1", "2", "3"], ["4", "5", "6"], ["7"]]


def test_a_failure_is_that_of_the_whole_group_and_of_no_other(pool: ThreadPoolExecutor) -> None:
    disk = Disk(OSError(28, "No space left on device"))
    commits = GroupCommit(disk.commit)
    first, *others = held_up(disk, commits, pool, others=3)
    disk.go.set()
    first.result(20)
    errors = [other.exception(20) for other in others]
    assert {str(error) for error in errors} == {"Elements could not be written to the log: No space left on device"}
    assert {type(error) for error in errors} == {PenstockError}
    assert len({id(error) for error in errors}) == 3  # each thread has its own traceback
    disk._fails = None
    commits.append(block("again"))
    assert disk.groups[-1] == ["again"]


def test_an_interrupted_thread_acknowledges_no_push(pool: ThreadPoolExecutor) -> None:
    disk = Disk(KeyboardInterrupt())
    first, *others = held_up(disk, GroupCommit(disk.commit), pool, others=3)
    disk.go.set()
    first.result(20)
    errors = [type(other.exception(20)) for other in others]
    assert sorted(error.__name__ for error in errors) == ["KeyboardInterrupt", "PenstockError", "PenstockError"]


def test_a_thread_that_is_interrupted_while_it_waits_takes_back_its_block(pool: ThreadPoolExecutor) -> None:
    disk = Disk()
    commits = GroupCommit(disk.commit)
    (first,) = held_up(disk, commits, pool, others=0)

    def interrupt() -> None:
        while not commits._waiting:
            pass
        signal.pthread_kill(main_thread().ident or 0, signal.SIGINT)

    interruption = pool.submit(interrupt)
    with pytest.raises(KeyboardInterrupt):
        commits.append(block("1"))
    interruption.result(20)
    disk.go.set()
    first.result(20)
    commits.append(block("2"))
    assert disk.groups == [["0"], ["2"]]


def test_a_thread_that_is_interrupted_when_it_is_its_turn_hands_over(pool: ThreadPoolExecutor) -> None:
    disk = Disk()
    disk.go.set()
    commits, interrupted = GroupCommit(disk.commit), _Waiting(block("1"))
    commits._waiting.append(interrupted)
    commits._hand_over()
    push = pool.submit(commits.append, block("2"))
    while len(commits._waiting) < 2:
        pass
    commits._withdraw(interrupted)
    push.result(20)
    assert disk.groups == [["2"]]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (b"123456\n12345678901234567\n12\n34\n", [b"123456\n", b"12345678901234567\n", b"12\n34\n"]),
        (b"1\n2", [b"1\n2\n"]),
        (b"12345678901", [b"12345678901\n"]),
    ],
)
def test_pieces_are_whole_lines(text: bytes, expected: list[bytes]) -> None:
    assert list(pieces(text, 10)) == expected


# Pushes in flight.


def test_clock_does_not_overtake_pushes_in_flight() -> None:
    clock = ManualClock(100)
    flight = InFlight(clock)
    assert flight.logged_until() == 100
    with flight.accepting():
        clock.advance(10)
        assert flight.logged_until() == 100
        with flight.accepting():
            clock.advance(5)
            assert flight.logged_until() == 100
    assert flight.logged_until() == 115


def test_closing_waits_for_pushes_in_flight_and_refuses_others() -> None:
    flight = InFlight(ManualClock())
    closer = Thread(target=flight.close)
    with flight.accepting():
        closer.start()
        while not flight._is_closed:
            pass
        with pytest.raises(PenstockError, match="The engine has been stopped: it takes no more elements"):
            flight.accepting().__enter__()
        assert closer.is_alive()
    closer.join(20)
    assert not closer.is_alive()
