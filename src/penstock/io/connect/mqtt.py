"""What the source and the sink of MQTT share: options, and a client of paho-mqtt with them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

from penstock.errors import OptionError
from penstock.io.connect.address import Address
from penstock.io.connect.options import SECRET, Microseconds
from penstock.io.connect.secrets import Secret
from penstock.io.connect.tls import TlsOptions, check_tls, tls_context

__all__ = ["MqttOptions", "check_mqtt", "connect", "new_client", "properties"]

_PORTS = {"mqtt": 1883, "mqtts": 8883}
_LONGEST_TOPIC = 65535  # bytes
_HALF_A_MINUTE = Microseconds(30_000_000)


@dataclass(frozen=True, slots=True)
class MqttOptions(TlsOptions):
    """The options of every connection to a broker of MQTT."""

    version: Literal["5", "3.1.1"] = "5"
    client_id: str | None = None
    username: Secret | None = None
    password: Secret | None = field(default=None, metadata=SECRET)
    keep_alive: Microseconds = _HALF_A_MINUTE


def check_mqtt(address: Address, options: MqttOptions) -> None:
    """Raise an `OptionError` if the address has no topic, or an option does not fit."""
    check_tls(address.kind, options, secure=address.kind == "mqtts")
    address.host_and_port(_PORTS[address.kind])
    if not address.path:
        raise OptionError(f"{address.kind}: which topic? Write {address.kind}://HOST:PORT/TOPIC")
    if "\0" in address.path or len(address.path.encode()) > _LONGEST_TOPIC:
        raise OptionError(f"{address.kind}: a topic has no NUL, and at most {_LONGEST_TOPIC} bytes")
    if options.password is not None and options.username is None:
        raise OptionError(f"{address.kind}: the option password needs username")


def new_client(mqtt: Any, address: Address, options: MqttOptions, client_id: str, *, lasting: bool) -> Any:
    """A client that is not connected yet. `lasting`: its session outlives the connection, and it acknowledges by hand.

    `mqtt` is the module paho.mqtt.client.
    """
    client = mqtt.Client(
        mqtt.CallbackAPIVersion.VERSION2,
        client_id=client_id,
        clean_session=None if options.version == "5" else not lasting,
        protocol=mqtt.MQTTv5 if options.version == "5" else mqtt.MQTTv311,
        manual_ack=lasting,
    )
    if options.username is not None:
        password = None if options.password is None else options.password.reveal()
        client.username_pw_set(options.username.reveal(), password)
    if address.kind == "mqtts":
        client.tls_set_context(tls_context(options))
    return client


def connect(client: Any, address: Address, options: MqttOptions, settings: Any, *, lasting: bool) -> None:
    """Connect a client, with the properties `settings` in MQTT 5. The broker's answer comes by `on_connect`."""
    host, port = address.host_and_port(_PORTS[address.kind])
    seconds = max(1, options.keep_alive // 1_000_000)
    if options.version == "5":
        client.connect(host, port, seconds, clean_start=not lasting, properties=settings)
    else:
        client.connect(host, port, seconds)


def properties(module: Any, packet: str, **values: Any) -> Any:
    """The properties of a packet in MQTT 5. `module` is paho.mqtt.properties, and `packet` a name in PacketTypes."""
    made = module.Properties(getattr(module.PacketTypes, packet))
    for name, value in values.items():
        setattr(made, name, value)
    return made
