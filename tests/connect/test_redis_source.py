"""The source of Redis with a server: each entry is in the log once, whoever stops."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import pytest

from penstock.errors import PenstockWarning
from penstock.stream.ingest import sources
from penstock.stream.ingest.dead_letters import DeadLetters
from penstock.stream.ingest.sources.redis import RedisSource
from penstock.testing import ManualClock
from tests.connect.kills import KILLS, killed_at
from tests.connect.received import Recorder, ingesting, rows
from tests.connect.redis_server import RedisServer
from tests.connect.term_kinds import LINES, pushed
from tests.support.arrivals import SECOND, STREAM, text
from tests.unit.stream.log.test_stream_log import times


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RedisServer]:
    with RedisServer.running(tmp_path_factory) as running:
        yield running


@pytest.fixture
def key() -> str:
    return f"city:{uuid4().hex}"


@pytest.fixture
def recorder() -> Recorder:
    return Recorder()


def opened(address: str) -> RedisSource:
    source = sources.open(address)
    assert isinstance(source, RedisSource)
    return source


def attempted(source: RedisSource, recorder: Recorder, clock: ManualClock) -> None:
    """Start a source, and return when it waits for its next attempt."""
    source.start(recorder, clock)
    clock.await_waiter()


def stopped(server: RedisServer, clock: ManualClock) -> None:
    """Stop the server, and return when the source waits for its next attempt."""
    server.stop()
    clock.await_waiter()


def begun(source: RedisSource, recorder: Recorder) -> None:
    """Start a source, and return when it has said where it begins."""
    source.start(recorder, ManualClock())
    recorder.wait(lambda: len(recorder.positions) == 1)


def numbers(first: int, last: int) -> list[bytes]:
    return [text([number]) for number in range(first, last + 1)]


def test_terms_of_all_kinds(server: RedisServer, key: str, tmp_path: Path) -> None:
    server.add(key, LINES)
    with ingesting(tmp_path / "a", f"redis://{server.place}/{key}?field=payload") as ingest:
        ingest.wait_for(len(LINES))
    assert rows(ingest.log) == pushed(tmp_path / "b")


def test_fields_and_time(server: RedisServer, key: str, recorder: Recorder) -> None:
    with server.client() as client:
        client.xadd(key, {"payload": b"\xff1", "Unit": "km/h"}, "1700000000123-4")
    source = opened(f"redis://{server.place}/{key}?field=payload")
    source.start(recorder, ManualClock())
    recorder.wait(lambda: len(recorder.messages) == 1)
    source.stop()
    (message,) = recorder.messages
    assert (message.payload, message.headers, message.topic) == (b"\xff1", (("unit", b"km/h"),), key)
    assert (message.time, message.place) == (1_700_000_000_123_000, f"{key}@1700000000123-4")
    assert recorder.positions == [{"": "0-0"}, {"": "1700000000123-4"}]


def test_an_entry_as_an_object(server: RedisServer, key: str, recorder: Recorder) -> None:
    server.add(key, ["é".encode()], speed="50")
    source = opened(f"redis://{server.place}/{key}")
    source.start(recorder, ManualClock())
    recorder.wait(lambda: len(recorder.messages) == 1)
    source.stop()
    assert json.loads(recorder.payloads[0]) == {"payload": "é", "speed": "50"}


def test_a_source_continues_behind_what_is_in_the_log(server: RedisServer, key: str, tmp_path: Path) -> None:
    address = f"redis://{server.place}/{key}?field=payload&batch=3"
    server.add(key, numbers(1, 10))
    with ingesting(tmp_path, address) as ingest:
        ingest.wait_for(10)
        assert ingest.watermarks.combined([STREAM]) == 9
    server.add(key, numbers(11, 20))
    with ingesting(tmp_path, address) as ingest:
        ingest.wait_for(20)
    assert times(ingest.log) == list(range(1, 21))


def test_latest_begins_behind_all_that_is_there(server: RedisServer, key: str, tmp_path: Path) -> None:
    address = f"redis://{server.place}/{key}?field=payload&start=latest"
    server.add(key, numbers(1, 5))
    with ingesting(tmp_path, address) as ingest:
        ingest.wait(lambda: bool(ingest.log.reached(STREAM, f"redis:0:{key}")))
    server.add(key, numbers(6, 7))
    with ingesting(tmp_path, address) as ingest:
        ingest.wait_for(2)
    assert times(ingest.log) == [6, 7]


def test_a_server_that_restarts(server: RedisServer, key: str, tmp_path: Path) -> None:
    clock = ManualClock()
    server.add(key, numbers(1, 3))
    with ingesting(tmp_path, f"redis://{server.place}/{key}?field=payload", clock) as ingest:
        ingest.wait_for(3)
        with pytest.warns(PenstockWarning, match=rf"^redis://{server.place}/{key}: .*; trying again\.$"):
            stopped(server, clock)
        server.start()
        server.add(key, numbers(4, 6))
        clock.advance(10 * SECOND)
        ingest.wait_for(6)
        assert ingest.problems == {}
    assert times(ingest.log) == [1, 2, 3, 4, 5, 6]


def test_a_failing_disk_repeats_and_loses_nothing(server: RedisServer, key: str, recorder: Recorder) -> None:
    source, failing = opened(f"redis://{server.place}/{key}?field=payload"), Recorder()
    server.add(key, [b"1", b"2"])
    source.start(recorder, ManualClock())
    recorder.wait(lambda: len(recorder.messages) == 2)
    source.stop()
    server.add(key, [b"3"])
    failing.failure = OSError("disk full")
    source.start(failing, ManualClock(), recorder.positions[-1])
    failing.wait(lambda: failing.failed > 0)
    source.stop()
    assert source.message == "The source failed: OSError: disk full"
    source.start(recorder, ManualClock(), recorder.positions[-1])
    recorder.wait(lambda: len(recorder.messages) == 3)
    source.stop()
    assert recorder.payloads == [b"1", b"2", b"3"]


def test_removed_entries_are_told(server: RedisServer, key: str, tmp_path: Path) -> None:
    address = f"redis://{server.place}/{key}?field=payload"
    server.add(key, numbers(1, 3))
    with ingesting(tmp_path, address) as ingest:
        ingest.wait_for(3)
    server.add(key, numbers(4, 5))
    with server.client() as client:
        client.xtrim(key, 1, approximate=False)
    with (
        pytest.warns(PenstockWarning, match="entries behind it may be gone unread"),
        ingesting(tmp_path, address) as ingest,
    ):
        ingest.wait_for(4)
    assert times(ingest.log) == [1, 2, 3, 5]


def test_a_key_that_comes_later(server: RedisServer, key: str, recorder: Recorder) -> None:
    source = opened(f"redis://{server.place}/{key}?field=payload")
    with pytest.warns(PenstockWarning, match=rf"there is no key {key} yet\.$"):
        begun(source, recorder)
    server.add(key, [b"1"])
    recorder.wait(lambda: len(recorder.messages) == 1)
    source.stop()
    assert source.message is None


def test_tls_with_an_authority(server: RedisServer, key: str, recorder: Recorder) -> None:
    server.add(key, [b"1"])
    source = opened(f"rediss://127.0.0.1:{server.secured}/{key}?field=payload&ca_file={server.folder}/ca.pem")
    source.start(recorder, ManualClock())
    recorder.wait(lambda: len(recorder.messages) == 1)
    source.stop()


@pytest.mark.parametrize(
    ("address", "said"),
    [
        ("rediss://127.0.0.1:{secured}/{key}", r"its certificate is not trusted \(.*self.signed.*\)"),
        ("redis://127.0.0.1:1/{key}", r"it cannot be reached \(Connection refused\)"),
        ("redis://{place}/a-text", "the key a-text holds no stream"),
        ("redis://{place}/{key}?password=${{env:WRONG}}", r"the server refuses the connection \(.*\)"),
    ],
)
def test_a_bad_address_is_one_sentence(
    server: RedisServer, key: str, recorder: Recorder, monkeypatch: pytest.MonkeyPatch, address: str, said: str
) -> None:
    monkeypatch.setenv("WRONG", "hunter2")
    with server.client() as client:
        client.set("a-text", "no stream")
    source, clock = opened(address.format(key=key, place=server.place, secured=server.secured)), ManualClock()
    with pytest.warns(PenstockWarning, match=rf"^rediss?://\S+: ({said}); trying again\.$"):
        attempted(source, recorder, clock)
    source.stop()


def test_a_payload_of_another_format_is_a_dead_letter(server: RedisServer, key: str, tmp_path: Path) -> None:
    server.add(key, [b"no element"])
    with server.client() as client:
        client.xadd(key, {"other": "1"}, "*")
    server.add(key, numbers(1, 1))
    with ingesting(tmp_path, f"redis://{server.place}/{key}?field=payload") as ingest:
        ingest.wait_for(1)
    assert ingest.log.counts(STREAM).malformed == 2
    texts = [letter.text for letter in DeadLetters(tmp_path / "dead").read(STREAM)]
    assert texts[0] == "no element"
    assert "has no field payload" in texts[1]


def test_killed_in_the_middle(server: RedisServer, key: str, tmp_path: Path) -> None:
    source = f"redis://{server.place}/{key}?field=payload&batch=2"
    server.add(key, numbers(1, 200))
    for kill in range(KILLS):
        killed_at(tmp_path, source, "appended", 2 + kill % 3)
    with ingesting(tmp_path, source) as ingest:
        ingest.wait(lambda: ingest.log.newest(STREAM) == 200)
    assert times(ingest.log) == list(range(1, 201)), "none is lost, and none came twice"
