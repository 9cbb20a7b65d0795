"""TLS of connectors: files that fit together, and the words for each failure."""

from __future__ import annotations

import ssl
from pathlib import Path

import pytest

from penstock.errors import OptionError, SetupError
from penstock.io.connect.tls import TlsOptions, check_tls, reason_of, tls_context


def test_files_have_to_fit() -> None:
    check_tls("mqtts", TlsOptions("ca.pem", "me.pem", "me.key"), secure=True)
    with pytest.raises(OptionError, match="mqtt: the option ca_file is for a connection with TLS"):
        check_tls("mqtt", TlsOptions("ca.pem"), secure=False)
    with pytest.raises(OptionError, match="mqtts: the option key_file needs cert_file"):
        check_tls("mqtts", TlsOptions(key_file="me.key"), secure=True)


def test_a_file_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(SetupError, match=r"A certificate cannot be read \(.*missing.pem\): No such file"):
        tls_context(TlsOptions(str(tmp_path / "missing.pem")))
    (tmp_path / "bad.pem").write_text("no certificate")
    with pytest.raises(SetupError, match=r"A certificate cannot be read \(.*bad.pem\)"):
        tls_context(TlsOptions(str(tmp_path / "bad.pem")))
    assert tls_context(TlsOptions()).verify_mode == ssl.CERT_REQUIRED


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (ConnectionRefusedError(111, "Connection refused"), "it cannot be reached (Connection refused)"),
        (TimeoutError("timed out"), "it cannot be reached (timed out)"),
        (TimeoutError("no answer in time"), "no answer in time"),
        (ConnectionError("refused by the broker"), "refused by the broker"),
        (KeyError(), "KeyError"),
    ],
)
def test_reasons(error: Exception, said: str) -> None:
    assert reason_of(error) == said
