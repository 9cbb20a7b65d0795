"""HTTP over TLS: a certificate that is trusted, one that is not, and one that is expired."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyoxigraph import Literal

from penstock.errors import StoreError
from penstock.io.sinks import open_sink
from tests.support.batches import answer_at, batch_of
from tests.support.certificates import certificate
from tests.support.web_server import Reply, web_server

BATCH = batch_of(0, answer_at(60, [Literal("a")]))


def test_a_certificate_of_ones_own_is_trusted(tmp_path: Path) -> None:
    file, context = certificate(tmp_path)
    with web_server(lambda _: Reply(), tls=context) as server:
        open_sink({"address": f"webhook+{server.url}/x", "ca": str(file)}, "solutions").deliver(BATCH)
        assert len(server.asked) == 1
        with pytest.raises(StoreError, match=r"its certificate is refused \(self-signed certificate\)$"):
            open_sink(f"webhook+{server.url}/x", "solutions").deliver(BATCH)


def test_an_expired_certificate_is_refused(tmp_path: Path) -> None:
    file, context = certificate(tmp_path, days=-1)
    with web_server(lambda _: Reply(), tls=context) as server:
        sink = open_sink({"address": f"webhook+{server.url}/x", "ca": str(file)}, "solutions")
        with pytest.raises(StoreError, match=r"its certificate is refused \(certificate has expired\)$"):
            sink.deliver(BATCH)


def test_certificates_that_are_none(tmp_path: Path) -> None:
    (tmp_path / "ca.pem").write_text("no certificate")
    for name, reason in (("ca.pem", "it has none in PEM"), ("nowhere.pem", "No such file or directory")):
        sink = open_sink({"address": "webhook+https://127.0.0.1:9/x", "ca": str(tmp_path / name)}, "solutions")
        with pytest.raises(StoreError, match=rf"{name} cannot be read: {reason}\.$"):
            sink.deliver(BATCH)
