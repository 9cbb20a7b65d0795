"""Kafka that refuses, or is not to be trusted: one sentence each, and other streams run on."""

from __future__ import annotations

from pathlib import Path

import pytest

from penstock.stream.ingest.stream_declaration import Declared
from penstock.testing import ManualClock
from tests.connect.certificates import make_certificates
from tests.connect.kafka.broker import KafkaBroker, missing
from tests.connect.watched_ingest import Opener, WatchedIngest
from tests.support.arrivals import STREAM, text

pytestmark = pytest.mark.filterwarnings("ignore::penstock.errors.PenstockWarning")
OTHER = "http://example.org/other"
_LOGIN = (
    "listener.name.other.sasl.enabled.mechanisms=PLAIN\n"
    "listener.name.other.plain.sasl.jaas.config=org.apache.kafka.common.security.plain.PlainLoginModule required "
    'user_reader="right";\n'
)


def refused(ingest: WatchedIngest, clock: ManualClock, good: str) -> str:
    """The sentence of a source that cannot connect, while another stream is read."""
    ingest.add(OTHER, Declared(good))
    ingest.wait_for_messages(1)
    clock.await_waiter()
    assert ingest.log.counts(OTHER).elements == 1
    return ingest.problems[STREAM]


def test_an_expired_certificate_is_one_sentence(open_ingest: Opener, tmp_path: Path) -> None:
    if reason := missing():
        pytest.fail(reason)
    make_certificates(tmp_path)
    key, expired = (tmp_path / "server.key").read_text(), (tmp_path / "expired.pem").read_text()
    (tmp_path / "keystore.pem").write_text(key + expired)
    store = f"ssl.keystore.type=PEM\nssl.keystore.location={tmp_path}/keystore.pem\n"
    broker, clock = KafkaBroker(tmp_path, "SSL", store), ManualClock()
    broker.start()
    try:
        topic = broker.topic()
        broker.send(topic, 0, [text([1])])
        options = f"security.protocol=SSL&ssl.ca.location={tmp_path}/ca.pem"
        ingest = open_ingest(f"kafka://{broker.other}/{topic}?{options}", clock)
        said = refused(ingest, clock, f"kafka://{broker.address}/{topic}")
    finally:
        broker.stop()
    reason = (
        "the certificate of the broker is not valid: it has expired, is for another host, or its authority is not in "
    )
    where = f"kafka://{broker.other}/{topic}"
    assert said == f"{where}: no connection: {reason}ssl.ca.location; trying again."


def test_a_wrong_password_is_one_sentence(open_ingest: Opener, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if reason := missing():
        pytest.fail(reason)
    broker, clock = KafkaBroker(tmp_path, "SASL_PLAINTEXT", _LOGIN), ManualClock()
    monkeypatch.setenv("PENSTOCK_TEST", "wrong-password")
    broker.start()
    try:
        topic = broker.topic()
        broker.send(topic, 0, [text([1])])
        options = "security.protocol=SASL_PLAINTEXT&sasl.mechanism=PLAIN&sasl.username=reader"
        ingest = open_ingest(f"kafka://{broker.other}/{topic}?{options}&sasl.password=${{env:PENSTOCK_TEST}}", clock)
        said = refused(ingest, clock, f"kafka://{broker.address}/{topic}")
    finally:
        broker.stop()
    assert "wrong-password" not in said
    reason = "SASL authentication error: Authentication failed: Invalid username or password"
    assert said == f"kafka://{broker.other}/{topic}: no connection: {reason}; trying again."
