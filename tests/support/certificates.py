"""Certificates for 127.0.0.1, made by openssl."""

from __future__ import annotations

import shutil
import ssl
import subprocess
from pathlib import Path

import pytest

__all__ = ["certificate"]


def certificate(folder: Path, days: int = 1) -> tuple[Path, ssl.SSLContext]:
    """A certificate that signs itself, and the context of a server that has it; with -1 days it is expired."""
    if shutil.which("openssl") is None:
        pytest.skip("openssl is not installed: there is nothing that makes certificates")
    file, key, request, names = (folder / name for name in ("certificate.pem", "key.pem", "request.pem", "names"))
    names.write_text("subjectAltName=IP:127.0.0.1")
    kind = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-subj", "/CN=127.0.0.1"]
    _openssl("req", *kind, "-keyout", key, "-out", request)
    _openssl("x509", "-req", "-in", request, "-signkey", key, "-days", str(days), "-extfile", names, "-out", file)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(file, key)
    return file, context


def _openssl(*arguments: str | Path) -> None:
    subprocess.run(["openssl", *arguments], check=True, capture_output=True)
