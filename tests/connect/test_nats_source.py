"""The source of NATS with a server: each message is in the log once, whoever stops."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import pytest

from penstock.errors import PenstockWarning
from penstock.stream.ingest import sources
from penstock.stream.ingest.sources.nats import NatsSource
from penstock.testing import ManualClock
from tests.connect.kills import KILLS, killed_at
from tests.connect.nats_server import NatsServer
from tests.connect.received import Recorder, ingesting, rows
from tests.connect.term_kinds import LINES, pushed
from tests.support.arrivals import SECOND, STREAM, text
from tests.unit.stream.log.test_stream_log import times


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[NatsServer]:
    with NatsServer.running(tmp_path_factory) as running:
        yield running


@pytest.fixture
def stream(server: NatsServer) -> str:
    name = uuid4().hex
    server.create(name)
    return name


@pytest.fixture
def recorder() -> Recorder:
    return Recorder()


def opened(address: str) -> NatsSource:
    source = sources.open(address)
    assert isinstance(source, NatsSource)
    return source


def attempted(source: NatsSource, recorder: Recorder, clock: ManualClock) -> None:
    """Start a source, and return when it waits for its next attempt."""
    source.start(recorder, clock)
    clock.await_waiter()


def stopped(server: NatsServer, clock: ManualClock) -> None:
    """Stop the server, and return when the source waits for its next attempt."""
    server.stop()
    clock.await_waiter()


def numbers(stream: str, first: int, last: int) -> list[tuple[str, bytes]]:
    return [(f"{stream}.a", text([number])) for number in range(first, last + 1)]


def test_terms_of_all_kinds(server: NatsServer, stream: str, tmp_path: Path) -> None:
    server.publish([(f"{stream}.{number}", line) for number, line in enumerate(LINES)])
    with ingesting(tmp_path / "a", f"nats://{server.place}/{stream}") as ingest:
        ingest.wait_for(len(LINES))
    assert rows(ingest.log) == pushed(tmp_path / "b")


def test_subject_headers_and_time(server: NatsServer, stream: str, recorder: Recorder) -> None:
    server.publish(
        [(f"{stream}.a.speed", b"1"), (f"{stream}.a.weight", b"2"), (f"{stream}.b.speed", b"3")], Unit="km/h"
    )
    source = opened(f"nats://{server.place}/{stream}?subject={stream}.*.speed")
    source.start(recorder, ManualClock())
    recorder.wait(lambda: len(recorder.messages) == 2)
    source.stop()
    first, second = recorder.messages
    assert (first.payload, first.topic, first.headers) == (b"1", f"{stream}.a.speed", (("unit", b"km/h"),))
    assert (second.payload, second.place, second.partition) == (b"3", f"{stream}@3", "")
    assert first.time is not None
    assert second.time is not None
    assert first.time <= second.time


def test_a_source_continues_behind_what_is_in_the_log(server: NatsServer, stream: str, tmp_path: Path) -> None:
    address = f"nats://{server.place}/{stream}?batch=3"
    server.publish(numbers(stream, 1, 10))
    with ingesting(tmp_path, address) as ingest:
        ingest.wait_for(10)
        assert ingest.watermarks.combined([STREAM]) == 9
    server.publish(numbers(stream, 11, 20))
    with ingesting(tmp_path, address) as ingest:
        ingest.wait_for(20)
    assert times(ingest.log) == list(range(1, 21))


def test_latest_begins_behind_all_that_is_there(server: NatsServer, stream: str, tmp_path: Path) -> None:
    address = f"nats://{server.place}/{stream}?start=latest"
    server.publish(numbers(stream, 1, 5))
    with ingesting(tmp_path, address) as ingest:
        ingest.wait(lambda: bool(ingest.log.reached(STREAM, f"nats:{stream}:>")))
    server.publish(numbers(stream, 6, 7))
    with ingesting(tmp_path, address) as ingest:
        ingest.wait_for(2)
    assert times(ingest.log) == [6, 7]


def test_a_server_that_restarts(server: NatsServer, stream: str, tmp_path: Path) -> None:
    clock = ManualClock()
    server.publish(numbers(stream, 1, 3))
    with ingesting(tmp_path, f"nats://{server.place}/{stream}", clock) as ingest:
        ingest.wait_for(3)
        with pytest.warns(PenstockWarning, match=rf"^nats://{server.place}/{stream}: .*; trying again\.$"):
            stopped(server, clock)
        server.start()
        server.publish(numbers(stream, 4, 6))
        clock.advance(10 * SECOND)
        ingest.wait_for(6)
        assert ingest.problems == {}
    assert times(ingest.log) == [1, 2, 3, 4, 5, 6]


def test_a_failing_disk_repeats_and_loses_nothing(server: NatsServer, stream: str, recorder: Recorder) -> None:
    source, failing = opened(f"nats://{server.place}/{stream}"), Recorder()
    server.publish([(f"{stream}.a", b"1"), (f"{stream}.a", b"2")])
    source.start(recorder, ManualClock())
    recorder.wait(lambda: len(recorder.messages) == 2)
    source.stop()
    server.publish([(f"{stream}.a", b"3")])
    failing.failure = OSError("disk full")
    source.start(failing, ManualClock(), recorder.positions[-1])
    failing.wait(lambda: failing.failed > 0)
    source.stop()
    assert source.message == "The source failed: OSError: disk full"
    source.start(recorder, ManualClock(), recorder.positions[-1])
    recorder.wait(lambda: len(recorder.messages) == 3)
    source.stop()
    assert recorder.payloads == [b"1", b"2", b"3"]


def test_a_stream_that_was_made_anew(server: NatsServer, stream: str, tmp_path: Path) -> None:
    address = f"nats://{server.place}/{stream}"
    server.publish(numbers(stream, 1, 3))
    with ingesting(tmp_path, address) as ingest:
        ingest.wait_for(3)
    server.delete(stream)
    server.create(stream)
    server.publish(numbers(stream, 4, 5))
    with pytest.warns(PenstockWarning, match="the stream is another one now"), ingesting(tmp_path, address) as ingest:
        ingest.wait_for(5)
    assert times(ingest.log) == [1, 2, 3, 4, 5]


def test_removed_messages_are_told(server: NatsServer, stream: str, tmp_path: Path) -> None:
    address = f"nats://{server.place}/{stream}"
    server.publish(numbers(stream, 1, 3))
    with ingesting(tmp_path, address) as ingest:
        ingest.wait_for(3)
    server.publish(numbers(stream, 4, 5))
    server.purge(stream)
    server.publish(numbers(stream, 6, 6))
    with pytest.warns(PenstockWarning, match="messages up to 5 were removed"), ingesting(tmp_path, address) as ingest:
        ingest.wait_for(4)
    assert times(ingest.log) == [1, 2, 3, 6]


@pytest.mark.parametrize(
    ("address", "said"),
    [
        ("nats://127.0.0.1:1/{stream}", r"it cannot be reached \(Connection refused\)"),
        ("nats://{place}/nosuch", "stream not found"),
        ("nats://{place}/{stream}?subject=other", "consumer filter subject is not a valid subset.*"),
    ],
)
def test_a_bad_address_is_one_sentence(
    server: NatsServer, stream: str, recorder: Recorder, address: str, said: str
) -> None:
    source, clock = opened(address.format(stream=stream, place=server.place)), ManualClock()
    with pytest.warns(PenstockWarning, match=rf"^nats://\S+: {said}; trying again\.$"):
        attempted(source, recorder, clock)
    source.stop()


def test_a_server_with_a_token(
    tmp_path_factory: pytest.TempPathFactory, recorder: Recorder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TOKEN", "hunter2")
    monkeypatch.setenv("WRONG", "hunter3")
    with NatsServer.running(tmp_path_factory, "--auth", "hunter2") as closed:
        for options in ("", "?token=${env:WRONG}"):
            source, clock = opened(f"nats://{closed.place}/S{options}"), ManualClock()
            with pytest.warns(PenstockWarning, match=r"the server refuses the connection \(authorization violation\)"):
                attempted(source, recorder, clock)
            source.stop()
        source, clock = opened(f"nats://{closed.place}/S?token=${{env:TOKEN}}"), ManualClock()
        with pytest.warns(PenstockWarning, match="stream not found"):
            attempted(source, recorder, clock)
        source.stop()


def test_a_payload_of_another_format_is_a_dead_letter(server: NatsServer, stream: str, tmp_path: Path) -> None:
    server.publish([(f"{stream}.a", b"no element"), *numbers(stream, 1, 1)])
    with ingesting(tmp_path, f"nats://{server.place}/{stream}") as ingest:
        ingest.wait_for(1)
    assert ingest.log.counts(STREAM).malformed == 1


def test_killed_in_the_middle(server: NatsServer, stream: str, tmp_path: Path) -> None:
    source = f"nats://{server.place}/{stream}?batch=2"
    server.publish(numbers(stream, 1, 200))
    for kill in range(KILLS):
        killed_at(tmp_path, source, "appended", 2 + kill % 3)
    with ingesting(tmp_path, source) as ingest:
        ingest.wait(lambda: ingest.log.newest(STREAM) == 200)
    assert times(ingest.log) == list(range(1, 201)), "none is lost, and none came twice"
