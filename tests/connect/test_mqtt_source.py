"""The source of MQTT with a broker: nothing is lost, whoever stops, and each mistake is one sentence."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import pytest

from penstock.errors import PenstockWarning
from penstock.stream.ingest import sources
from penstock.stream.ingest.sources.mqtt import MqttSource
from penstock.testing import ManualClock
from tests.connect.kills import KILLS, killed_at
from tests.connect.mosquitto import PASSWORD, Mosquitto, begin_session, publish
from tests.connect.received import Recorder, ingesting, rows
from tests.connect.term_kinds import LINES, pushed
from tests.support.arrivals import SECOND, STREAM, text
from tests.unit.stream.log.test_stream_log import times

VERSIONS = pytest.mark.parametrize("version", ["5", "3.1.1"])


@pytest.fixture(scope="module")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Mosquitto]:
    with Mosquitto.running(tmp_path_factory) as running:
        yield running


@pytest.fixture
def topic() -> str:
    return f"city/{uuid4().hex}"


@pytest.fixture
def recorder() -> Recorder:
    return Recorder()


def opened(address: str) -> MqttSource:
    source = sources.open(address)
    assert isinstance(source, MqttSource)
    return source


def subscribed(broker: Mosquitto, address: str) -> MqttSource:
    """A source for whose session the broker keeps messages from now on."""
    source = opened(address)
    begin_session(broker, source.client_id, source.address.path, source.options.version)
    return source


def stopped(broker: Mosquitto, clock: ManualClock) -> None:
    """Stop the broker, and return when the source waits for its next attempt."""
    broker.stop()
    clock.await_waiter()


def attempted(source: MqttSource, recorder: Recorder, clock: ManualClock) -> None:
    """Start a source, and return when it waits for its next attempt."""
    source.start(recorder, clock)
    clock.await_waiter()


@VERSIONS
def test_terms_of_all_kinds(broker: Mosquitto, topic: str, tmp_path: Path, version: str) -> None:
    source = f"mqtt://{broker.place}/{topic}/#?version={version}"
    publish(broker, [(f"{topic}/r{number}", line) for number, line in enumerate(LINES)], retain=True)
    with ingesting(tmp_path / "a", source, lateness=60 * SECOND) as ingest:
        ingest.wait_for(len(LINES))
    assert sorted(rows(ingest.log)) == sorted(pushed(tmp_path / "b"))


def test_topic_and_user_properties(broker: Mosquitto, topic: str, recorder: Recorder) -> None:
    source = opened(f"mqtt://{broker.place}/{topic}/+/speed")
    source.start(recorder, ManualClock())
    publish(broker, [(f"{topic}/a/speed", b"1"), (f"{topic}/a/weight", b"2")], retain=True, Unit="km/h")
    recorder.wait(lambda: len(recorder.messages) == 1)
    source.stop()
    (message,) = recorder.messages
    assert (message.payload, message.topic, message.headers) == (b"1", f"{topic}/a/speed", (("unit", b"km/h"),))


@VERSIONS
def test_messages_wait_for_the_next_start(broker: Mosquitto, topic: str, tmp_path: Path, version: str) -> None:
    source = f"mqtt://{broker.place}/{topic}/#?version={version}"
    publish(broker, [(f"{topic}/a", text([1]))], retain=True)
    with ingesting(tmp_path, source) as ingest:
        ingest.wait_for(1)
    publish(broker, [(f"{topic}/b", text([2])), (f"{topic}/b", text([3]))])
    with ingesting(tmp_path, source) as ingest:
        ingest.wait(lambda: ingest.log.newest(STREAM) == 3)
        assert ingest.watermarks.combined([STREAM]) == 2
    assert set(times(ingest.log)) == {1, 2, 3}
    if version == "5":
        assert times(ingest.log) == [1, 2, 3], "a retained message comes with a new subscription only"


@VERSIONS
def test_a_message_that_was_not_durable_comes_again(
    broker: Mosquitto, topic: str, recorder: Recorder, version: str
) -> None:
    address = f"mqtt://{broker.place}/{topic}?version={version}"
    source = subscribed(broker, address)
    failing = Recorder()
    failing.failure = OSError("disk full")
    source.start(failing, ManualClock())
    publish(broker, [(topic, b"1"), (topic, b"2")])
    failing.wait(lambda: failing.failed > 0)
    source.stop()
    assert source.message == "The source failed: OSError: disk full"
    source.start(recorder, ManualClock())
    recorder.wait(lambda: len(recorder.messages) == 2)
    source.stop()
    assert recorder.payloads == [b"1", b"2"]


@VERSIONS
def test_a_broker_that_restarts(broker: Mosquitto, topic: str, tmp_path: Path, version: str) -> None:
    clock, source = ManualClock(), f"mqtt://{broker.place}/{topic}?version={version}"
    publish(broker, [(topic, text([1]))], retain=True)
    with ingesting(tmp_path, source, clock, lateness=SECOND) as ingest:
        ingest.wait_for(1)
        with pytest.warns(PenstockWarning, match=rf"^mqtt://{broker.place}/{topic}: .*; trying again\.$"):
            stopped(broker, clock)
        assert STREAM in ingest.problems
        broker.start()
        publish(broker, [(topic, text([2]))])
        clock.advance(10 * SECOND)
        ingest.wait(lambda: ingest.log.newest(STREAM) == 2)
        assert ingest.problems == {}
    assert set(times(ingest.log)) == {1, 2}


def test_members_of_a_group_share_the_messages(broker: Mosquitto, topic: str) -> None:
    address = f"mqtt://{broker.place}/$share/group/{topic}/#?client_id={uuid4().hex}"
    recorders = [Recorder(), Recorder()]
    members = [opened(f"{address}{number}") for number in range(2)]
    for member, recorder in zip(members, recorders, strict=True):
        member.start(recorder, ManualClock())
    sent: list[bytes] = []
    while not all(recorder.messages for recorder in recorders):
        sent.append(str(len(sent)).encode())
        publish(broker, [(f"{topic}/a", sent[-1])])
    for member in members:
        member.stop()
    got = [payload for recorder in recorders for payload in recorder.payloads]
    assert len(set(got)) == len(got), "each message went to one member"
    assert set(got) <= set(sent)


@VERSIONS
def test_a_full_stream_stops_the_broker(broker: Mosquitto, topic: str, recorder: Recorder, version: str) -> None:
    address = f"mqtt://{broker.place}/{topic}?in_flight=5&version={version}"
    source = subscribed(broker, address)
    publish(broker, [(topic, str(number).encode()) for number in range(50)])
    recorder.full = version == "5"  # in 3.1.1 the client cannot say how many it takes: `accept` waits
    source.start(recorder, ManualClock())
    publish(broker, [(topic, b"last")])
    if version == "5":
        recorder.wait(lambda: recorder.asked_when_full > 3)
        assert recorder.messages == []
    recorder.full = False
    recorder.wait(lambda: len(recorder.messages) == 51)
    source.stop()
    assert recorder.payloads == [*(str(number).encode() for number in range(50)), b"last"]


def test_tls_with_an_authority(broker: Mosquitto, topic: str, recorder: Recorder) -> None:
    source = opened(f"mqtts://127.0.0.1:{broker.secured}/{topic}?ca_file={broker.folder}/ca.pem")
    publish(broker, [(topic, b"1")], retain=True)
    source.start(recorder, ManualClock())
    recorder.wait(lambda: len(recorder.messages) == 1)
    source.stop()


@pytest.mark.parametrize(
    ("address", "said"),
    [
        ("mqtts://127.0.0.1:{expired}/t?ca_file={ca}", r"its certificate is not trusted \(certificate has expired\)"),
        ("mqtts://127.0.0.1:{secured}/t", r"its certificate is not trusted \(.*self.signed.*\)"),
        ("mqtts://127.0.0.1:{port}/t", "it does not speak TLS as expected|it cannot be reached .*"),
        ("mqtt://127.0.0.1:1/t", r"it cannot be reached \(Connection refused\)"),
        ("mqtt://nowhere.invalid/t", r"it cannot be reached \(.*[Nn]ame.*\)"),
        ("mqtt://127.0.0.1:{closed}/open/t", r"the broker refuses the connection \(Not authorized\)"),
        (
            "mqtt://127.0.0.1:{closed}/open/t?username=reader&password=${{env:WRONG}}",
            r"the broker refuses the connection \(Not authorized\)",
        ),
    ],
)
def test_a_bad_address_is_one_sentence(
    broker: Mosquitto, monkeypatch: pytest.MonkeyPatch, recorder: Recorder, address: str, said: str
) -> None:
    monkeypatch.setenv("WRONG", "hunter2")
    ports = {"port": broker.port, "secured": broker.secured, "expired": broker.expired, "closed": broker.closed}
    source, clock = opened(address.format(ca=broker.folder / "ca.pem", **ports)), ManualClock()
    with pytest.warns(PenstockWarning, match=rf"^mqtts?://\S+: ({said}); trying again\.$"):
        attempted(source, recorder, clock)
    source.stop()


def test_a_password_by_reference(broker: Mosquitto, monkeypatch: pytest.MonkeyPatch, recorder: Recorder) -> None:
    monkeypatch.setenv("READER", PASSWORD)
    topic = f"open/{uuid4().hex}"
    source = opened(f"mqtt://127.0.0.1:{broker.closed}/{topic}?username=reader&password=${{env:READER}}")
    publish(broker, [(topic, b"1")], retain=True)
    source.start(recorder, ManualClock())
    recorder.wait(lambda: len(recorder.messages) == 1)
    source.stop()


def test_a_payload_of_another_format_is_a_dead_letter(broker: Mosquitto, topic: str, tmp_path: Path) -> None:
    publish(broker, [(f"{topic}/a", b"no element"), (f"{topic}/b", text([1]))], retain=True)
    with ingesting(tmp_path, f"mqtt://{broker.place}/{topic}/#", lateness=SECOND) as ingest:
        ingest.wait(lambda: ingest.log.counts(STREAM).malformed == 1 and ingest.log.counts(STREAM).elements == 1)


def test_killed_in_the_middle(broker: Mosquitto, topic: str, tmp_path: Path) -> None:
    source = f"mqtt://{broker.place}/{topic}?in_flight=7"
    subscribed(broker, source)
    publish(broker, [(topic, text([number])) for number in range(1, 201)])
    for kill in range(KILLS):
        killed_at(tmp_path, source, "appended", 1 + kill % 3)
    with ingesting(tmp_path, source, lateness=SECOND) as ingest:
        ingest.wait(lambda: ingest.log.newest(STREAM) == 200)
    assert set(times(ingest.log)) == set(range(1, 201)), "none is lost; some may have come twice"
