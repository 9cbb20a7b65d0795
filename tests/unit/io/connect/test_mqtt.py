"""Addresses and options of MQTT, for the source and the sink."""

from __future__ import annotations

import pytest

from penstock.errors import OptionError
from penstock.io.sinks import open_sink
from penstock.stream.ingest import sources
from penstock.stream.ingest.sources.mqtt import MqttSource, MqttsSource

pytest.importorskip("paho.mqtt.client", reason="paho-mqtt is not installed: pip install penstock[mqtt]")


def opened(address: str) -> MqttSource:
    source = sources.open(address)
    assert isinstance(source, MqttSource)
    return source


@pytest.mark.parametrize("path", ["a", "/a/b", "+", "#", "a/+/b/#", "$share/g/a/#?client_id=me", "caf%C3%A9/a%3Fb"])
def test_topic_filters(path: str) -> None:
    assert opened(f"mqtt://h/{path}").name is None, "its broker knows what is acknowledged"


def test_an_address_keeps_its_topic() -> None:
    assert opened("mqtt://h:1884//a/+/%3F/#?version=3.1.1").address.path == "/a/+/?/#"
    assert isinstance(opened("mqtts://h/a?ca_file=ca.pem"), MqttsSource)


def test_the_session_has_the_same_name_at_each_start() -> None:
    assert opened("mqtt://h/a").client_id == opened("mqtt://h/a?version=3.1.1").client_id
    assert opened("mqtt://h/a").client_id != opened("mqtt://h/b").client_id
    assert opened("mqtt://h/a?client_id=me").client_id == "me"
    assert len(opened("mqtt://h/a").client_id) <= 23, "brokers of 3.1.1 need not take longer ones"


@pytest.mark.parametrize(
    ("address", "said"),
    [
        ("mqtt://h", "mqtt: which topic"),
        ("mqtts://h", "mqtts: which topic"),
        ("mqtt://h:port/a", "mqtt: h:port is no HOST:PORT"),
        ("mqtt://h:99999/a", "mqtt: h:99999 is no HOST:PORT"),
        ("mqtt:///a", "mqtt: nothing is no HOST:PORT"),
        ("mqtt://u:p@h/a", "mqtt: an address is stored"),
        ("mqtt://h/a?ca_file=ca.pem", "mqtt: the option ca_file is for a connection with TLS"),
        ("mqtt://h/a?version=4", "mqtt: the option version is one of 5, 3.1.1"),
        ("mqtt://h/a?password=hunter2", "mqtt: the option password would be stored"),
        ("mqtt://h/a?password=${env:P}", "mqtt: the option password needs username"),
        ("mqtt://h/a?clientid=x", "mqtt: there is no option clientid: did you mean client_id"),
        ("mqtt://h/a%00b", "mqtt: a topic has no NUL"),
    ],
)
def test_mistakes_of_both(address: str, said: str) -> None:
    with pytest.raises(OptionError, match=said):
        sources.open(address)
    with pytest.raises(OptionError, match=said):
        open_sink(address, "solutions")


@pytest.mark.parametrize(
    ("address", "said"),
    [
        ("mqtt://h/a/#/b", "in a filter \\+ is a whole level"),
        ("mqtt://h/a+/b", "in a filter \\+ is a whole level"),
        ("mqtt://h/$share/g?client_id=me", "a shared subscription is \\$share/GROUP/FILTER"),
        ("mqtt://h/$share/g/a", "each member of a shared subscription needs an id"),
        ("mqtt://h/a?in_flight=0", "in_flight is between 1 and 65535"),
        ("mqtt://h/a?session_expiry=soon", "session_expiry is a duration"),
    ],
)
def test_mistakes_of_a_source(address: str, said: str) -> None:
    with pytest.raises(OptionError, match=said):
        sources.open(address)


@pytest.mark.parametrize("topic", ["a/#", "a/+/b"])
def test_a_sink_has_one_topic(topic: str) -> None:
    with pytest.raises(OptionError, match="a topic to publish to has neither"):
        open_sink(f"mqtt://h/{topic}", "solutions")
