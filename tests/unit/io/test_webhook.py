"""Webhooks: one signed request a batch, a key for doubles, and failures in one sentence."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json

import pytest
from pyoxigraph import Literal

from penstock.errors import OptionError, StoreError
from penstock.io.sinks import Sink, open_sink
from tests.support.batches import TERMS, answer_at, batch_of
from tests.support.web_server import Asked, Reply, web_server

ONE = answer_at(60, [Literal("a")])


def opened(url: str, options: str = "") -> Sink:
    return open_sink(f"webhook+{url}/hook?x=1{options}", "solutions")


def test_a_batch_is_one_request() -> None:
    with web_server(lambda _: Reply(status=202)) as server:
        sink = opened(server.url)
        assert (sink.begin(), sink.deliver(batch_of(0, answer_at(60, TERMS[:3]), ONE))) == (0, 1)
        sink.close()
        (asked,) = server.asked
        assert (asked.method, asked.path) == ("POST", "/hook?x=1")
        assert asked.headers["content-type"] == "application/x-ndjson"
        assert asked.headers["idempotency-key"] == asked.headers["webhook-id"] == "cars/0-2"
        assert "webhook-signature" not in asked.headers
        lines = [json.loads(line) for line in asked.body.splitlines()]
        assert [line["time"] for line in lines] == ["1970-01-01T00:01:00Z"] * 2


def test_all_kinds_of_terms_arrive() -> None:
    with web_server(lambda _: Reply()) as server:
        opened(server.url).deliver(batch_of(0, answer_at(60, TERMS)))
        bindings = json.loads(server.asked[0].body)["results"]["bindings"]
        assert [binding["v"]["value"] for binding in bindings] == [term.value for term in TERMS]


def test_a_repeated_batch_has_the_same_key_and_a_new_beginning_another() -> None:
    with web_server(lambda _: Reply()) as server:
        for options in ("", "", "#key=v2:"):
            opened(server.url, options).deliver(batch_of(3, ONE, query="alle Züge"))
        keys = [asked.headers["idempotency-key"] for asked in server.asked]
        assert keys == ["alle%20Z%C3%BCge/3-1", "alle%20Z%C3%BCge/3-1", "v2:alle%20Z%C3%BCge/3-1"]


def test_a_repeated_batch_that_has_grown_has_another_key() -> None:
    with web_server(lambda _: Reply()) as server:
        for answers in ((ONE,), (ONE, answer_at(120, [Literal("b")]))):  # more instants were due the second time
            opened(server.url).deliver(batch_of(3, *answers))
        assert [asked.headers["idempotency-key"] for asked in server.asked] == ["cars/3-1", "cars/3-2"]


@pytest.mark.parametrize(
    ("secret", "key"),
    [("plain secret", b"plain secret"), (f"whsec_{base64.b64encode(b'12345678').decode()}", b"12345678")],
)
def test_a_receiver_can_check_the_signature(monkeypatch: pytest.MonkeyPatch, secret: str, key: bytes) -> None:
    monkeypatch.setenv("HOOK_SECRET", secret)
    with web_server(lambda _: Reply()) as server:
        sink = opened(server.url, "#secret=${env:HOOK_SECRET}")
        sink.deliver(batch_of(0, ONE))
        (asked,) = server.asked
        assert _signed(asked, key) == asked.headers["webhook-signature"]
        assert _signed(asked, b"another") != asked.headers["webhook-signature"]
        assert secret not in repr(sink) + str(asked.headers)


def _signed(asked: Asked, key: bytes) -> str:
    text = f"{asked.headers['webhook-id']}.{asked.headers['webhook-timestamp']}.".encode() + asked.body
    return f"v1,{base64.b64encode(hmac.new(key, text, hashlib.sha256).digest()).decode()}"


@pytest.mark.parametrize("status", [301, 304, 400, 401, 404, 410, 429, 500, 503])
def test_all_but_2xx_is_a_failure_in_one_sentence(status: int) -> None:
    with web_server(lambda _: Reply(status=status)) as server:
        with pytest.raises(
            StoreError, match=rf"^webhook\+http://127.*: the server says {status} .* to the batch cars/7-1$"
        ):
            opened(server.url).deliver(batch_of(7, ONE))
        assert len(server.asked) == 1


def test_a_receiver_that_is_gone_and_comes_back() -> None:
    with web_server(lambda _: Reply()) as server:
        sink, port = opened(server.url), server.server_port
        sink.deliver(batch_of(0, ONE))
    with pytest.raises(StoreError, match=r"^webhook\+http.*: it cannot be reached \(.*\)$"):
        sink.deliver(batch_of(1, ONE))
    with web_server(lambda _: Reply(), port) as server:
        assert sink.deliver(batch_of(1, ONE)) == 2


def test_other_formats_are_a_request_an_answer() -> None:
    with web_server(lambda _: Reply()) as server:
        opened(server.url, "#format=csv").deliver(batch_of(0, ONE, answer_at(120, [Literal("b")])))
        assert [asked.headers["webhook-id"] for asked in server.asked] == ["cars/0/0", "cars/0/1"]
        assert [asked.body for asked in server.asked] == [b"v\r\na\r\n", b"v\r\nb\r\n"]


def test_a_secret_that_cannot_be_read_is_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("HOOK_SECRET", raising=False)
    with pytest.raises(StoreError, match="there is no variable HOOK_SECRET in the environment"):
        opened("http://127.0.0.1:9", "#secret=${env:HOOK_SECRET}").deliver(batch_of(0, ONE))
    monkeypatch.setenv("HOOK_SECRET", "whsec_???")
    with pytest.raises(StoreError, match="the secret begins with whsec_, and base64 has to follow"):
        opened("http://127.0.0.1:9", "#secret=${env:HOOK_SECRET}").deliver(batch_of(0, ONE))


@pytest.mark.parametrize(
    ("address", "sentence"),
    [
        ("webhook+https://h/x#secret=abc", "the option secret would be stored: refer to it"),
        ("webhook://h/x", r"which resource\? Write webhook\+https://HOST/PATH"),
        ("webhook+https://h/x#format=avro", "the option format is one of ndjson"),
        ("webhook+https://h/x#key=ü", "write it in ASCII"),
    ],
)
def test_mistakes_are_those_of_the_registration(address: str, sentence: str) -> None:
    with pytest.raises(OptionError, match=sentence):
        open_sink(address, "solutions")
