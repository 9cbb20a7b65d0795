"""From a broker to a query and back to the broker, on Spark, once for each kind of broker."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from threading import Event
from typing import Any

import pytest
from pyspark.sql import SparkSession

from penstock import Engine
from penstock.io.sinks import open_sink
from penstock.testing import ManualClock
from tests.connect.mosquitto import Mosquitto, Subscriber, begin_session, publish
from tests.connect.nats_server import NatsServer
from tests.connect.redis_server import RedisServer

STREAM = "http://e/readings"
QUERY = f"SELECT ?s ?v FROM STREAM <{STREAM}> [RANGE 1m STEP 1m] WHERE {{ ?s <http://e/v> ?v }}"
MAPPING = {"@context": {"@vocab": "http://e/", "id": None, "t": None}, "@id": "http://e/sensor/{id}"}
READINGS = [
    json.dumps({"id": 1, "t": seconds, "v": value}).encode() for seconds, value in [(10, "a"), (70, "b"), (130, "c")]
]
ANSWERED = [("1970-01-01T00:01:00Z", ["a"]), ("1970-01-01T00:02:00Z", ["b"])]


class Told:
    """Passes answers on to a sink, and tells when there are enough."""

    def __init__(self, address: str) -> None:
        self._sink = open_sink(address, "solutions")
        self._instants, self.enough = 0, Event()

    def begin(self) -> Any:
        return self._sink.begin()

    def rewind(self, position: Any) -> None:
        self._sink.rewind(position)

    def deliver(self, batch: Any) -> Any:
        position = self._sink.deliver(batch)
        self._instants += batch.instants
        if self._instants >= len(ANSWERED):
            self.enough.set()
        return position

    def close(self) -> None:
        self._sink.close()


Broker = tuple[str, str, Callable[[Sequence[bytes]], None], Callable[[], list[bytes]]]


def mqtt(factory: pytest.TempPathFactory, stack: ExitStack) -> Broker:
    broker = stack.enter_context(Mosquitto.running(factory))
    begin_session(broker, "city", "city/+/speed")
    subscriber = Subscriber(broker, "answers")
    stack.callback(subscriber.close)
    return (
        f"mqtt://{broker.place}/city/+/speed?client_id=city",
        f"mqtt://{broker.place}/answers",
        lambda payloads: publish(broker, [("city/a/speed", payload) for payload in payloads]),
        lambda: [message.payload for message in subscriber.wait(len(ANSWERED))],
    )


def nats(factory: pytest.TempPathFactory, stack: ExitStack) -> Broker:
    server = stack.enter_context(NatsServer.running(factory))
    server.create("city")
    server.create("answers")
    return (
        f"nats://{server.place}/city?subject=city.*.speed",
        f"nats://{server.place}/answers.all",
        lambda payloads: server.publish([("city.a.speed", payload) for payload in payloads]),
        lambda: [message.data for message in server.messages("answers")],
    )


def redis(factory: pytest.TempPathFactory, stack: ExitStack) -> Broker:
    server = stack.enter_context(RedisServer.running(factory))
    return (
        f"redis://{server.place}/city?field=payload",
        f"redis://{server.place}/answers",
        lambda payloads: server.add("city", payloads),
        lambda: [entry[b"answer"] for entry in server.entries("answers")],
    )


@pytest.fixture(params=[mqtt, nats, redis], ids=["mqtt", "nats", "redis"])
def broker(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Broker]:
    with ExitStack() as stack:
        yield request.param(tmp_path_factory, stack)


def test_from_broker_to_broker(spark: SparkSession, tmp_path: Path, broker: Broker) -> None:
    source, sink, send, received = broker
    (tmp_path / "m.jsonld").write_text(json.dumps(MAPPING))
    told = Told(sink)
    with Engine(spark=spark, checkpoint=tmp_path / "state", clock=ManualClock(1_000_000_000)) as engine:
        engine.stream(STREAM, source, mapping=tmp_path / "m.jsonld", time_path="$.t", time_unit="s")
        engine.register(QUERY, name="speeds", sink=told)
        engine.start()
        send(READINGS)
        assert told.enough.wait(120), engine.status
        engine.stop()
    assert [_read(line) for line in received()] == ANSWERED


def _read(line: bytes) -> tuple[str, list[str]]:
    answer = json.loads(line)
    return answer["time"], [row["v"]["value"] for row in answer["results"]["bindings"]]
