"""The sink of MQTT with a broker: every answer arrives, with the key of its batch."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from uuid import uuid4

import pytest

from penstock.errors import StoreError
from penstock.io.sinks import Sink, open_sink
from tests.connect.mosquitto import PASSWORD, Mosquitto, Subscriber
from tests.connect.term_kinds import ANSWERS, batch

PAYLOADS = [answer.to_ndjson().encode() for answer in ANSWERS]


@pytest.fixture(scope="module")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Mosquitto]:
    with Mosquitto.running(tmp_path_factory) as running:
        yield running


@pytest.fixture
def topic() -> str:
    return f"answers/{uuid4().hex}"


@pytest.fixture
def subscriber(broker: Mosquitto, topic: str) -> Iterator[Subscriber]:
    made = Subscriber(broker, topic)
    yield made
    made.close()


def key(message: Any) -> tuple[str, ...]:
    return tuple(dict(message.properties.UserProperty).values())


def opened(address: str) -> Sink:
    return open_sink(address, "solutions")


def test_terms_of_all_kinds(broker: Mosquitto, topic: str, subscriber: Subscriber) -> None:
    sink = opened(f"mqtt://{broker.place}/{topic}")
    assert (sink.deliver(batch(0)), sink.deliver(batch(1))) == (1, 2)
    sink.close()
    messages = subscriber.wait(2 * len(ANSWERS))
    assert [message.payload for message in messages] == [*PAYLOADS, *PAYLOADS]
    assert key(messages[0]) == ("cars", "0", "0")
    assert key(messages[-1]) == ("cars", "1", str(len(ANSWERS) - 1))


def test_a_repeated_batch_has_the_same_key(broker: Mosquitto, topic: str, subscriber: Subscriber) -> None:
    for _ in range(2):  # as after a crash between the delivery and the checkpoint
        sink = opened(f"mqtt://{broker.place}/{topic}")
        sink.rewind(7)
        sink.deliver(batch(7, ANSWERS[:1]))
        sink.close()
    assert [key(message) for message in subscriber.wait(2)] == [("cars", "7", "0")] * 2


def test_version_3(broker: Mosquitto, topic: str, subscriber: Subscriber) -> None:
    sink = opened(f"mqtt://{broker.place}/{topic}?version=3.1.1")
    sink.deliver(batch(0))
    sink.close()
    assert [message.payload for message in subscriber.wait(len(ANSWERS))] == PAYLOADS


def test_a_retained_answer_is_shown_to_newcomers(broker: Mosquitto, topic: str) -> None:
    sink = opened(f"mqtt://{broker.place}/{topic}?retain=true&format=json")
    sink.deliver(batch(0))
    sink.close()
    newcomer = Subscriber(broker, topic)
    (message,) = newcomer.wait(1)
    newcomer.close()
    assert (message.retain, message.payload) == (True, ANSWERS[-1].to_json().encode())


def test_a_broker_that_restarts(broker: Mosquitto, topic: str) -> None:
    sink = opened(f"mqtt://{broker.place}/{topic}?retain=true")
    sink.deliver(batch(0))
    broker.stop()
    with pytest.raises(StoreError, match=rf"^mqtt://{broker.place}/{topic}: (the connection is lost|it cannot be .*)$"):
        sink.deliver(batch(1, ANSWERS[:1]))
    broker.start()
    sink.deliver(batch(1, ANSWERS[:1]))
    sink.close()
    newcomer = Subscriber(broker, topic)
    assert key(newcomer.wait(1)[0]) == ("cars", "1", "0")
    newcomer.close()


@pytest.mark.parametrize(
    ("address", "said"),
    [
        ("mqtt://127.0.0.1:1/t", r"it cannot be reached \(Connection refused\)"),
        ("mqtt://127.0.0.1:{closed}/open/t", r"the broker refuses the connection \(Not authorized\)"),
        (
            "mqtt://127.0.0.1:{closed}/shut/t?username=reader&password=${{env:READER}}",
            r"the broker refuses a message to shut/t \(Not authorized\)",
        ),
        (
            "mqtts://127.0.0.1:{expired}/t?ca_file={ca}",
            r"its certificate is not trusted \(certificate has expired\)",
        ),
    ],
)
def test_a_bad_address_is_one_sentence(
    broker: Mosquitto, monkeypatch: pytest.MonkeyPatch, address: str, said: str
) -> None:
    monkeypatch.setenv("READER", PASSWORD)
    ports = {"expired": broker.expired, "closed": broker.closed}
    sink = opened(address.format(ca=broker.folder / "ca.pem", **ports))
    with pytest.raises(StoreError, match=rf"^mqtts?://\S+: {said}$"):
        sink.deliver(batch(0))
    sink.close()


def test_a_sink_works_again_after_a_failure(broker: Mosquitto, topic: str, subscriber: Subscriber) -> None:
    sink = opened(f"mqtt://{broker.place}/{topic}")

    def broken() -> Iterator[Any]:
        yield ANSWERS[0]
        raise OSError("the disk of the answers is gone")

    failing = batch(0)
    failing.answers = broken()  # type: ignore[misc]
    with pytest.raises(StoreError, match="the disk of the answers is gone"):
        sink.deliver(failing)
    sink.deliver(batch(0))
    sink.close()
    subscriber.wait_for(PAYLOADS[-1])
    assert [message.payload for message in subscriber.messages][-len(PAYLOADS) :] == PAYLOADS
