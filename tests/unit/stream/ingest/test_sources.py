"""Receivers, on the loopback and by a clock that is moved by hand."""

from __future__ import annotations

import re
import socket
import warnings
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from threading import Condition

import pytest

from penstock.errors import PenstockError, PenstockWarning, SetupError
from penstock.stream.ingest import sources
from penstock.stream.ingest.sources.iterable import IterableSource
from penstock.stream.ingest.sources.lines import Lines
from penstock.stream.ingest.sources.listen import ListenSource
from penstock.stream.ingest.sources.receiver import BEGINNING, Message, Positions, Receiver, address_of
from penstock.stream.ingest.sources.tcp import TcpSource
from penstock.testing import ManualClock


class Taker:
    """Accepts lines, and can be waited for."""

    def __init__(self) -> None:
        self.data = b""
        self._changed = Condition()

    is_full = False

    def __call__(self, messages: Sequence[Message], position: Positions = BEGINNING) -> int:
        data = b"".join(message.payload for message in messages)
        with self._changed:
            self.data += data
            self._changed.notify_all()
        return data.count(b"\n")

    def expect(self, data: bytes) -> None:
        with self._changed:
            assert self._changed.wait_for(lambda: self.data == data, 20), self.data


@contextmanager
def started(source: Receiver, taker: Taker, clock: ManualClock) -> Iterator[None]:
    source.start(taker, clock)
    try:
        yield
    finally:
        source.stop()


def test_lines_are_put_together() -> None:
    lines = Lines()
    assert [lines.add(piece) for piece in (b"on", b"e\ntw", b"o\nthree\nfo", b"ur")] == [
        b"",
        b"one\n",
        b"two\nthree\n",
        b"",
    ]
    assert lines.end() == b"four\n"
    assert lines.end() == b""


def test_a_line_without_an_end_does_not_fill_the_memory() -> None:
    lines = Lines(longest=10)
    assert [lines.add(b"x" * 7) for _ in range(1_000)] == [b""] * 1_000
    assert sum(map(len, lines._open)) == 11
    assert lines.add(b"xx\nnext\nla") == b"x" * 11 + b"\nnext\n", "it is too long still, and the next one is whole"
    assert lines.add(b"st\n" + b"y" * 50) == b"last\n"
    assert lines.end() == b"y" * 11 + b"\n"


@pytest.mark.parametrize(
    ("spec", "kind"),
    [
        ("tcp://localhost:80", TcpSource),
        ("listen://localhost:0", ListenSource),
        ([b"x"], IterableSource),
        ("drops/", sources.Folder),
        (Path("drops"), sources.Folder),
        ("hdfs://host/drops", sources.Folder),
    ],
)
def test_specifications(spec: object, kind: type) -> None:
    assert isinstance(sources.open(spec), kind)


def test_invalid_source_is_an_error() -> None:
    with pytest.raises(PenstockError, match="3 is not a source"):
        sources.open(3)
    with pytest.raises(PenstockError, match="HOST:PORT"):
        sources.open("tcp://nowhere")
    assert address_of("[::1]:80") == ("::1", 80)


def test_iterable_is_read_on_when_the_last_item_is_durable() -> None:
    taker = Taker()
    seen = []

    def items() -> Iterator[str | bytes]:
        for item in ("a\n", b"b\n", "c\nd\n"):
            seen.append(taker.data)
            yield item

    with started(IterableSource(items()), taker, ManualClock()):
        taker.expect(b"a\nb\nc\nd\n")
    assert seen == [b"", b"a\n", b"a\nb\n"]


def test_failure_of_a_source_is_a_message_and_logged(caplog: pytest.LogCaptureFixture) -> None:
    def items() -> Iterator[str]:
        raise RuntimeError("the sensor is on fire")
        yield ""

    source = IterableSource(items())
    with started(source, Taker(), ManualClock()):
        pass
    assert source.message == "The source failed: RuntimeError: the sensor is on fire"
    (record,) = caplog.records
    assert (record.name, record.getMessage()) == (
        "penstock.ingest",
        "a source failed: RuntimeError: the sensor is on fire",
    )
    assert record.exc_info is not None


def test_lost_connection_is_restored_without_loss() -> None:
    taker, clock = Taker(), ManualClock()
    with (
        socket.create_server(("127.0.0.1", 0)) as server,
        warnings.catch_warnings(record=True) as told,
        ExitStack() as until_the_source_has_stopped,  # or it warns once more
    ):
        warnings.simplefilter("always")
        source = TcpSource(f"127.0.0.1:{server.getsockname()[1]}")
        with started(source, taker, clock):
            first, _ = server.accept()
            with first:
                first.sendall(b"one\ntwo\nthr")
            taker.expect(b"one\ntwo\nthr\n")  # whoever parses it will say what is wrong with the last
            clock.await_waiter()
            assert source.message is not None
            assert "closed the connection; connecting again" in source.message
            clock.advance(100_000)
            second = until_the_source_has_stopped.enter_context(server.accept()[0])
            second.sendall(b"four\n")
            taker.expect(b"one\ntwo\nthr\nfour\n")
            assert source.message is None
    assert [item.category for item in told if item.category is not ResourceWarning] == [PenstockWarning]


def test_reconnects_back_off_and_warn_once() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    clock = ManualClock()
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        source = TcpSource(f"127.0.0.1:{port}")
        with started(source, Taker(), clock):
            for pause in (100_000, 200_000, 400_000):
                clock.await_waiter()
                clock.advance(pause - 1)
                clock.await_waiter()  # not yet
                clock.advance(1)
            clock.await_waiter()
    assert source.message == f"tcp://127.0.0.1:{port} cannot be reached (Connection refused); trying again."
    assert len(told) == 1


def test_producer_gets_the_number_of_its_durable_lines() -> None:
    taker, source = Taker(), ListenSource("127.0.0.1:0")
    with started(source, taker, ManualClock()):
        assert source.port is not None
        with socket.create_connection(("127.0.0.1", source.port)) as producer, producer.makefile("rb") as answers:
            producer.sendall(b"one\ntwo\n")
            while (answer := answers.readline()) != b"ok 2\n":  # the first may have come on its own
                assert answer == b"ok 1\n"
            assert taker.data == b"one\ntwo\n"
            producer.sendall(b"three")
            producer.shutdown(socket.SHUT_WR)
            assert answers.readline() == b"ok 3\n"
        taker.expect(b"one\ntwo\nthree\n")


def test_lines_of_a_producer_are_read_before_the_end() -> None:
    taker, source = Taker(), ListenSource("127.0.0.1:0")
    source.start(taker, ManualClock())
    assert source.port is not None
    with socket.create_connection(("127.0.0.1", source.port)) as producer, producer.makefile("rb") as answers:
        producer.sendall(b"one\n")
        assert answers.readline() == b"ok 1\n"
        producer.sendall(b"two\n")
        source.stop()
        assert answers.read() in (b"ok 2\n", b"")
        assert taker.data in (b"one\ntwo\n", b"one\n")
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.1", source.port))


def test_an_address_that_is_taken() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        text = f"Port {port} of 127.0.0.1 is in use: end the program that listens there, or give another port."
        with pytest.raises(SetupError, match=f"^{re.escape(text)}$"):
            ListenSource(f"127.0.0.1:{port}").start(Taker(), ManualClock())


def test_an_address_that_is_of_another_machine() -> None:
    with pytest.raises(SetupError, match=r"^Cannot listen on 192\.0\.2\.1:7007: Cannot assign requested address\.$"):
        ListenSource("192.0.2.1:7007").start(Taker(), ManualClock())
