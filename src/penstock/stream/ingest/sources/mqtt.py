"""Messages of MQTT 5 or 3.1.1, at least once: each is acknowledged when it is durable, and not before.

    mqtt://HOST:PORT/TOPIC-FILTER      with the wildcards + and #, or $share/GROUP/FILTER
    mqtts://HOST:PORT/TOPIC-FILTER     with TLS

The broker keeps a session for the client id: what comes while no engine runs waits there, and what was not acknowledged
comes again. An acknowledgement can be lost after the message is durable, so that a message may come twice.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from penstock.errors import OptionError
from penstock.io.connect.mqtt import MqttOptions, check_mqtt, connect, new_client, properties
from penstock.io.connect.options import Microseconds
from penstock.io.connect.tls import reason_of
from penstock.stream.base.clock import Clock
from penstock.stream.ingest.sources.connector import Connector
from penstock.stream.ingest.sources.receiver import Accept, Message, Positions

__all__ = ["MqttSource", "MqttsSource"]

_TURN = 0.1  # seconds until a silent client looks whether it should stop
_LONGEST_SESSION = 2**32 - 1  # seconds: it does not expire


@dataclass(frozen=True, slots=True)
class MqttSourceOptions(MqttOptions):
    """`in_flight` is how many messages the broker sends before one is acknowledged."""

    in_flight: int = 1000
    session_expiry: Microseconds | None = None


class MqttSource(Connector):
    """A subscription with QoS 1."""

    kind = "mqtt"
    client = "paho.mqtt.client"
    extra = "mqtt"
    Options = MqttSourceOptions

    def check(self) -> None:
        check_mqtt(self.address, self.options)
        shares, filter = self.address.path.startswith("$share/"), self.address.path
        if shares:
            group, _, filter = filter.removeprefix("$share/").partition("/")
            if not group or not filter or set(group) & {"+", "#"}:
                raise OptionError(f"{self.kind}: a shared subscription is $share/GROUP/FILTER")
        if shares and self.options.client_id is None:
            raise OptionError(f"{self.kind}: each member of a shared subscription needs an id of its own: client_id=…")
        if not _is_filter(filter):
            raise OptionError(f"{self.kind}: in a filter + is a whole level, and # the last one: {filter}")
        if not 0 < self.options.in_flight < 65536:
            raise OptionError(f"{self.kind}: the option in_flight is between 1 and 65535")

    @property
    def client_id(self) -> str:
        """The name of the session at the broker: the same for each start with the same address."""
        return self.options.client_id or f"penstock-{sha256(self.address.text.encode()).hexdigest()[:14]}"

    def run(self, accept: Accept, clock: Clock, position: Positions) -> None:
        while not self.stopping:
            try:
                self._visit(accept)
            except _Lost as lost:
                self.trouble(lost)
                self.back_off(clock)

    def _visit(self, accept: Accept) -> None:
        """Connect once, and bring messages until the connection is lost or the source is stopped."""
        client = new_client(self.module(), self.address, self.options, self.client_id, lasting=True)
        session = _Session(client, self.address.path, self.options.in_flight, self.well, self._subscription)
        try:
            connect(client, self.address, self.options, self._settings(), lasting=True)
        except OSError as error:
            raise _Lost(reason_of(error)) from None
        try:
            while not self.stopping:
                session.turn(accept)
        finally:
            session.bring(accept)
            client.disconnect()

    def _settings(self) -> Any:
        if self.options.version != "5":
            return None
        expiry = self.options.session_expiry
        seconds = _LONGEST_SESSION if expiry is None else min(expiry // 1_000_000, _LONGEST_SESSION)
        module = self.module("paho.mqtt.properties")
        return properties(module, "CONNECT", SessionExpiryInterval=seconds, ReceiveMaximum=self.options.in_flight)

    def _subscription(self) -> dict[str, Any]:
        """How to subscribe: retained messages come with a new subscription, and not with each connection."""
        if self.options.version != "5":
            return {"qos": 1}
        module = self.module("paho.mqtt.subscribeoptions")
        return {"options": module.SubscribeOptions(qos=1, retainHandling=1)}


class MqttsSource(MqttSource):
    """The same with TLS."""

    kind = "mqtts"


class _Lost(Exception):
    """The connection is of no use any more."""


class _Session:
    """One connection: `turn` waits for messages, and brings them when there are no more at once."""

    def __init__(
        self, client: Any, filter: str, most: int, well: Callable[[], None], how: Callable[[], dict[str, Any]]
    ) -> None:
        self._client, self._filter, self._most = client, filter, most
        self._well, self._how = well, how
        self._pending: list[Any] = []
        self._problem: str | None = None
        client.on_connect, client.on_subscribe = self._connected, self._subscribed
        client.on_disconnect, client.on_message = self._disconnected, self._received

    def turn(self, accept: Accept) -> None:
        """Wait a little for messages. While the stream is full they stay unacknowledged, and the broker waits."""
        self._loop(_TURN)
        seen = -1
        while seen < len(self._pending) < self._most:
            seen = len(self._pending)
            self._loop(0)
        if not accept.is_full or len(self._pending) > self._most:
            self.bring(accept)

    def bring(self, accept: Accept) -> None:
        """Have the messages made durable, then acknowledge them."""
        pending, self._pending = self._pending, []
        if not pending:
            return
        self._well()
        accept([_message(one) for one in pending])
        for one in pending:
            self._client.ack(one.mid, one.qos)

    def _loop(self, timeout: float) -> None:
        failed = self._client.loop(timeout)
        if self._problem is not None or failed:
            raise _Lost(self._problem or "the connection is lost")

    def _connected(self, client: Any, _data: Any, _flags: Any, reason: Any, _properties: Any) -> None:
        if reason.is_failure:
            self._problem = f"the broker refuses the connection ({reason})"
        else:
            client.subscribe(self._filter, **self._how())

    def _subscribed(self, _client: Any, _data: Any, _mid: int, reasons: list[Any], _properties: Any) -> None:
        if refused := [reason for reason in reasons if reason.is_failure]:
            self._problem = f"the broker refuses the topic filter {self._filter} ({refused[0]})"
        else:
            self._well()

    def _disconnected(self, _client: Any, _data: Any, _flags: Any, reason: Any, _properties: Any) -> None:
        self._problem = self._problem or f"the connection is lost ({reason})"

    def _received(self, _client: Any, _data: Any, message: Any) -> None:
        self._pending.append(message)


def _message(received: Any) -> Message:
    said = getattr(received, "properties", None)
    headers = [(name.lower(), value.encode()) for name, value in getattr(said, "UserProperty", ())]
    if content_type := getattr(said, "ContentType", None):
        headers.append(("content-type", content_type.encode()))
    return Message(bytes(received.payload), headers=tuple(headers), topic=received.topic, place=received.topic)


def _is_filter(filter: str) -> bool:
    levels = filter.split("/")
    whole = all(level in ("+", "#") or not {"+", "#"} & set(level) for level in levels)
    return whole and "#" not in levels[:-1]
