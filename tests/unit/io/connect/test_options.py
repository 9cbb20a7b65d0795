"""Addresses, options and secrets of connectors: every mistake is one sentence that names the option."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

import pytest

from penstock.errors import OptionError, SetupError
from penstock.io.connect.address import Address, address_text
from penstock.io.connect.clients import check_client, client
from penstock.io.connect.options import SECRET, Microseconds, read_options
from penstock.io.connect.secrets import Secret, hidden

SECOND = Microseconds(1_000_000)


@dataclass(frozen=True, slots=True)
class Options:
    topic: str
    start: Literal["earliest", "latest"] = "latest"
    batch: int = 100
    share: float = 0.5
    tls: bool = False
    interval: Microseconds = SECOND
    topics: tuple[str, ...] = ()
    username: Secret | None = None
    password: Secret | None = field(default=None, metadata=SECRET)
    more: Mapping[str, Secret] = field(default_factory=dict)


def read(rest: str) -> Options:
    return read_options("queue", Options, Address.parse("queue", rest).options)


def test_all_kinds_of_options() -> None:
    options = read(
        "h:1/t?topic=a%26b&start=earliest&batch=7&share=.25&tls=true&interval=500ms&topics=x,y&username=me"
        "&password=${env:QUEUE_PASSWORD}&ssl.ca.location=/ca.pem&sasl.password=${file:/run/secret}"
    )
    assert options == Options(
        "a&b", "earliest", 7, 0.25, True, Microseconds(500_000), ("x", "y"), Secret("me"),
        Secret("${env:QUEUE_PASSWORD}"),
        {"ssl.ca.location": Secret("/ca.pem"), "sasl.password": Secret("${file:/run/secret}")},
    )  # fmt: skip
    assert read("h:1?topic=t") == Options("t")


KNOWN = "topic, start, batch, share, tls, interval, topics, username, password"
STORED = "would be stored: refer to it, as ${env:NAME} or ${file:PATH}"


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ("topic=t&strat=latest", f"queue: there is no option strat: did you mean start? there are {KNOWN}"),
        ("topic=t&zzz=1", f"queue: there is no option zzz: there are {KNOWN}"),
        ("start=latest", "queue: the option topic is missing"),
        ("topic=t&start=first", "queue: the option start is one of earliest, latest, not 'first'"),
        ("topic=t&batch=many", "queue: the option batch is a whole number, not 'many'"),
        ("topic=t&share=x", "queue: the option share is a number, not 'x'"),
        ("topic=t&tls=maybe", "queue: the option tls is true or false, not 'maybe'"),
        ("topic=t&interval=5", "queue: the option interval is a duration such as 10s or 500ms, not '5'"),
        ("topic=t&topic=u", "queue: the option topic is given twice"),
        ("topic=t&tls", "queue: the option tls has no value: write tls=…"),
        ("topic=t&password=hunter2", f"queue: the option password {STORED}"),
        ("topic=t&sasl.password=hunter2", f"queue: the option sasl.password {STORED}"),
        ("topic=${env:T}", "queue: the option topic is no secret: write it out, and not as ${env:T}"),
    ],
)
def test_mistakes(given: str, sentence: str) -> None:
    with pytest.raises(OptionError) as caught:
        read(f"h:1?{given}")
    assert str(caught.value) == sentence
    assert "hunter2" not in str(caught.value)


def test_a_password_in_the_address_is_refused() -> None:
    with pytest.raises(OptionError, match=r"neither user nor password") as caught:
        Address.parse("queue", "me:hunter2@h:1/t")
    assert "hunter2" not in str(caught.value)


@pytest.mark.parametrize(
    ("kind", "rest", "parts", "text"),
    [
        ("kafka", "a:1,b:2/orders?x=1", ("a:1,b:2", "orders", {"x": "1"}, ""), "kafka://a:1,b:2/orders"),
        ("mqtt", "a/t/%2B/%23?x=1", ("a", "t/+/#", {"x": "1"}, ""), "mqtt://a/t/+/#"),
        ("poll", "https://h/p?q=1#x=1", ("h", "p?q=1", {"x": "1"}, "https://h/p?q=1"), "poll+https://h/p?q=1"),
        ("ws", "h/p?q=1#x=1", ("h", "p?q=1", {"x": "1"}, "ws://h/p?q=1"), "ws://h/p?q=1"),
        ("redis", "h", ("h", "", {}, ""), "redis://h"),
    ],
)
def test_addresses(kind: str, rest: str, parts: tuple[object, ...], text: str) -> None:
    address = Address.parse(kind, rest)
    assert (address.place, address.path, address.options, address.resource) == parts
    assert address.text == text


def test_a_mapping_is_the_same_as_the_text() -> None:
    options = {"topic": "a&b=c d", "batch": 7, "tls": True, "topics": ["x", "y"], "password": "${env:P}"}
    text = address_text({"address": "queue://h:1/t", **options})
    assert read(text.partition("://")[2]) == Options(
        "a&b=c d", batch=7, tls=True, topics=("x", "y"), password=Secret("${env:P}")
    )
    assert address_text({"address": "queue://h?topic=t", "batch": 1}) == "queue://h?topic=t&batch=1"
    assert address_text({"address": "poll+http://h/?a=1", "id": "$.id"}) == "poll+http://h/?a=1#id=$.id"
    assert address_text({"address": "queue://h"}) == "queue://h"
    with pytest.raises(OptionError, match="the option topic is in the address and beside it"):
        address_text({"address": "queue://h?topic=t", "topic": "u"})
    with pytest.raises(OptionError, match='has an "address"'):
        address_text({"topic": "u"})
    with pytest.raises(OptionError, match="the option topic is a text, a number"):
        address_text({"address": "queue://h", "topic": {}})


def test_secrets_are_read_late_and_shown_never(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("QUEUE_PASSWORD", "hunter2")
    (tmp_path / "token").write_text("s3cret\n")
    secret = Secret(f"${{env:QUEUE_PASSWORD}}:${{file:{tmp_path}/token}}")
    assert "hunter2" not in f"{secret!r} {secret}"
    assert secret.reveal() == "hunter2:s3cret"
    assert hidden("login hunter2 with s3cret failed") == "login *** with *** failed"
    monkeypatch.delenv("QUEUE_PASSWORD")
    with pytest.raises(SetupError, match="there is no variable QUEUE_PASSWORD in the environment"):
        secret.reveal()
    with pytest.raises(SetupError, match="No such file or directory"):
        Secret("${file:/no/such/file}").reveal()
    assert Secret("plain").reveal() == "plain"


def test_a_missing_client_is_one_sentence() -> None:
    sentence = (
        r"The source kafka needs a package that is not installed \(.*nosuchclient.*\): pip install penstock\[kafka\]"
    )
    with pytest.raises(SetupError, match=sentence):
        check_client("nosuchclient.inner", "kafka", "the source kafka")
    with pytest.raises(SetupError, match=sentence):
        client("nosuchclient", "kafka", "the source kafka")
    assert client("json", "x", "y").loads("1") == 1
