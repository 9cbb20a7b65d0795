"""Mosquitto, a broker of MQTT, with a listener for everyone, one with TLS, and one with a password."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from threading import Condition, Event
from typing import Any

import pytest

from tests.connect.broker_process import BrokerProcess, free_port
from tests.connect.certificates import make_certificates

__all__ = ["PASSWORD", "Mosquitto", "Subscriber", "begin_session", "publish"]

PASSWORD = "correct horse"
_CONFIGURATION = """per_listener_settings true
persistence true
persistence_location {folder}/
user root
max_queued_messages 100000
max_inflight_messages 0
listener {port} 127.0.0.1
allow_anonymous true
listener {secured} 127.0.0.1
allow_anonymous true
cafile {folder}/ca.pem
certfile {folder}/server.pem
keyfile {folder}/server.key
listener {expired} 127.0.0.1
allow_anonymous true
cafile {folder}/ca.pem
certfile {folder}/expired.pem
keyfile {folder}/server.key
listener {closed} 127.0.0.1
allow_anonymous false
password_file {folder}/passwords
acl_file {folder}/acl
"""


class Mosquitto(BrokerProcess):
    """The broker. `secured`, `expired` and `closed` are the ports of its other listeners."""

    binary = "mosquitto"

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.secured, self.expired, self.closed = free_port(), free_port(), free_port()
        make_certificates(folder)
        (folder / "acl").write_text("user reader\ntopic readwrite open/#\n")
        passwords = folder / "passwords"
        passwords.write_text(f"reader:{PASSWORD}\n")
        subprocess.run(["mosquitto_passwd", "-U", str(passwords)], check=True, capture_output=True)
        passwords.chmod(0o600)

    @classmethod
    @contextmanager
    def running(cls, factory: pytest.TempPathFactory) -> Iterator[Mosquitto]:
        """A broker, for all tests of a module."""
        broker = cls(factory.mktemp("mosquitto"))
        try:
            broker.start()
            yield broker
        finally:
            broker.stop()

    def command(self) -> list[str]:
        ports = {"port": self.port, "secured": self.secured, "expired": self.expired, "closed": self.closed}
        (self.folder / "conf").write_text(_CONFIGURATION.format(folder=self.folder, **ports))
        return ["-c", str(self.folder / "conf")]


def publish(broker: Mosquitto, messages: Sequence[tuple[str, bytes]], *, retain: bool = False, **headers: str) -> None:
    """Publish payloads to topics; the broker has them all when this returns."""
    client = _client()
    client.connect("127.0.0.1", broker.port)
    client.loop_start()
    sent = [client.publish(topic, payload, 1, retain, properties=_labels(headers)) for topic, payload in messages]
    for one in sent:
        one.wait_for_publish(60)
        assert one.is_published()
    client.disconnect()
    client.loop_stop()


def begin_session(broker: Mosquitto, client_id: str, filter: str, version: str = "5") -> None:
    """Subscribe for a client that is not there: the broker keeps its messages."""
    mqtt, module = pytest.importorskip("paho.mqtt.client"), pytest.importorskip("paho.mqtt.properties")
    settings = module.Properties(module.PacketTypes.CONNECT)
    settings.SessionExpiryInterval = 3600
    later = version == "5"
    kind: dict[str, Any] = {"protocol": mqtt.MQTTv5} if later else {"protocol": mqtt.MQTTv311, "clean_session": False}
    client = mqtt.Client(mqtt.CallbackAPIVersion.VERSION2, client_id, **kind)
    ready = Event()
    client.on_subscribe = lambda *_: ready.set()
    client.on_connect = lambda *_: client.subscribe(filter, 1)
    client.connect("127.0.0.1", broker.port, **({"clean_start": True, "properties": settings} if later else {}))
    client.loop_start()
    assert ready.wait(60)
    client.disconnect()
    client.loop_stop()


class Subscriber:
    """Collects all messages to a topic filter."""

    def __init__(self, broker: Mosquitto, filter: str) -> None:
        self.messages: list[Any] = []
        self._changed, self._ready = Condition(), False
        self._client = _client()
        self._client.on_message, self._client.on_subscribe = self._received, self._subscribed
        self._client.on_connect = lambda *_: self._client.subscribe(filter, 1)
        self._client.connect("127.0.0.1", broker.port)
        self._client.loop_start()
        with self._changed:
            assert self._changed.wait_for(lambda: self._ready, 60)

    def wait_for(self, payload: bytes) -> None:
        """Return when that is the last one."""
        with self._changed:
            assert self._changed.wait_for(lambda: bool(self.messages) and self.messages[-1].payload == payload, 60)

    def wait(self, number: int) -> list[Any]:
        """The messages, when there are so many."""
        with self._changed:
            assert self._changed.wait_for(lambda: len(self.messages) >= number, 60), len(self.messages)
            return list(self.messages)

    def close(self) -> None:
        self._client.disconnect()
        self._client.loop_stop()

    def _received(self, _client: Any, _data: Any, message: Any) -> None:
        with self._changed:
            self.messages.append(message)
            self._changed.notify_all()

    def _subscribed(self, *_: Any) -> None:
        with self._changed:
            self._ready = True
            self._changed.notify_all()


def _client() -> Any:
    mqtt = pytest.importorskip("paho.mqtt.client", reason="paho-mqtt is not installed: pip install penstock[mqtt]")
    return mqtt.Client(mqtt.CallbackAPIVersion.VERSION2, protocol=mqtt.MQTTv5)


def _labels(headers: dict[str, str]) -> Any:
    module = pytest.importorskip("paho.mqtt.properties")
    made = module.Properties(module.PacketTypes.PUBLISH)
    if headers:
        made.UserProperty = list(headers.items())
    return made
