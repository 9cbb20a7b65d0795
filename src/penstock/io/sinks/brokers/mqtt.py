"""Answers to a topic of MQTT 5 or 3.1.1, at least once: a message an answer, with QoS 1.

In MQTT 5 a message has the user properties `query`, `number` and `part`: the query's name, the number of the batch and
the place of the answer in it. A batch that is delivered again has the same ones, so that a reader can drop doubles.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from threading import Event
from typing import Any

from penstock.errors import OptionError
from penstock.io.connect.mqtt import MqttOptions, check_mqtt, connect, new_client, properties
from penstock.io.connect.options import Microseconds
from penstock.io.connect.tls import reason_of
from penstock.io.sinks.connector import AnswerFormat, SinkConnector, encoder
from penstock.io.sinks.sink import Batch

__all__ = ["MqttSink", "MqttsSink"]

_MOST = 1000  # messages that wait for the broker
_HALF_A_MINUTE = Microseconds(30_000_000)


@dataclass(frozen=True, slots=True)
class MqttSinkOptions(MqttOptions):
    """`retain`: the broker shows the last answer to everyone who subscribes. `timeout` is for one message."""

    format: AnswerFormat = "ndjson"
    retain: bool = False
    timeout: Microseconds = _HALF_A_MINUTE


class MqttSink(SinkConnector):
    """A publisher with QoS 1. It connects with the first batch, and anew after a failure."""

    kind = "mqtt"
    client = "paho.mqtt.client"
    extra = "mqtt"
    Options = MqttSinkOptions
    _publisher: _Publisher | None = None

    def check(self) -> None:
        check_mqtt(self.address, self.options)
        if {"+", "#"} & set(self.address.path):
            raise OptionError(f"{self.kind}: a topic to publish to has neither + nor #: {self.address.path}")

    def send(self, batch: Batch) -> None:
        """See `SinkConnector.send`. The broker has taken all messages when this returns."""
        try:
            publisher = self._publisher = self._publisher or self._connected()
            encode = encoder(self.options.format)
            for part, answer in enumerate(batch.answers):
                publisher.publish(encode(answer), self._labels(batch, part))
            publisher.finish()
        except Exception as error:
            self.close()  # with all that waits there: the batch comes again
            raise ConnectionError(reason_of(error)) from error

    def close(self) -> None:
        if self._publisher is not None:
            self._publisher.close()
            self._publisher = None

    def _connected(self) -> _Publisher:
        client = new_client(self.module(), self.address, self.options, self.options.client_id or "", lasting=False)
        publisher = _Publisher(client, self.address.path, self.options)
        connect(client, self.address, self.options, None, lasting=False)
        publisher.begin()
        return publisher

    def _labels(self, batch: Batch, part: int) -> Any:
        if self.options.version != "5":
            return None
        labels = [("query", batch.query), ("number", str(batch.number)), ("part", str(part))]
        return properties(self.module("paho.mqtt.properties"), "PUBLISH", UserProperty=labels)


class MqttsSink(MqttSink):
    """The same with TLS."""

    kind = "mqtts"


class _Publisher:
    """A connected client, whose own thread sends, and connects again if the broker restarts meanwhile."""

    def __init__(self, client: Any, topic: str, options: MqttSinkOptions) -> None:
        self._client, self._topic, self._options = client, topic, options
        self._seconds = options.timeout / 1_000_000
        self._waiting: deque[Any] = deque()
        self._answered = Event()
        self._refused: str | None = None
        client.on_connect, client.on_publish = self._connected, self._published

    def begin(self) -> None:
        """Wait until the broker has taken the connection."""
        self._client.loop_start()
        if not self._answered.wait(self._seconds):
            raise TimeoutError
        self._check()

    def publish(self, payload: bytes, labels: Any) -> None:
        """Send a message; of those before it, some may still wait for the broker."""
        sent = self._client.publish(self._topic, payload, 1, self._options.retain, properties=labels)
        if sent.rc:
            raise ConnectionError("the connection is lost")
        self._waiting.append(sent)
        if len(self._waiting) >= _MOST:
            self._settle(self._waiting.popleft())

    def finish(self) -> None:
        """Wait until the broker has taken all messages."""
        while self._waiting:
            self._settle(self._waiting.popleft())
        self._check()

    def close(self) -> None:
        self._client.disconnect()
        self._client.loop_stop()

    def _settle(self, sent: Any) -> None:
        sent.wait_for_publish(self._seconds)
        self._check()
        if not sent.is_published():
            raise TimeoutError("the broker has not acknowledged a message in time")

    def _check(self) -> None:
        if self._refused is not None:
            raise ConnectionError(self._refused)

    def _connected(self, _client: Any, _data: Any, _flags: Any, reason: Any, _properties: Any) -> None:
        if reason.is_failure:
            self._refused = f"the broker refuses the connection ({reason})"
        self._answered.set()

    def _published(self, _client: Any, _data: Any, _mid: int, reason: Any, _properties: Any) -> None:
        if reason.is_failure:
            self._refused = f"the broker refuses a message to {self._topic} ({reason})"
