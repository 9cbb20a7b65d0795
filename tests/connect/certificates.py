"""Certificates for servers on loopback, made by openssl."""

from __future__ import annotations

import subprocess
from pathlib import Path

__all__ = ["make_certificates"]


def make_certificates(folder: Path) -> None:
    """An authority (ca.pem), and two certificates with server.key: server.pem is good, expired.pem has expired."""
    (folder / "names").write_text("subjectAltName=IP:127.0.0.1\n")
    (folder / "index").touch()
    (folder / "ca.conf").write_text(
        "[ca]\ndefault_ca=d\n[d]\ndatabase=index\nnew_certs_dir=.\nserial=serial\ndefault_md=sha256\npolicy=p\n"
        "unique_subject=no\n[p]\ncommonName=supplied\n"
    )
    (folder / "serial").write_text("10\n")
    authority = "-x509 -newkey rsa:2048 -nodes -keyout ca.key -out ca.pem -days 3650 -subj /CN=authority"
    _openssl(folder, f"req {authority}")
    _openssl(folder, "req -newkey rsa:2048 -nodes -keyout server.key -out server.csr -subj /CN=server")
    signing = "ca -batch -notext -config ca.conf -cert ca.pem -keyfile ca.key -in server.csr -extfile names"
    _openssl(folder, f"{signing} -days 3650 -out server.pem")
    _openssl(folder, f"{signing} -startdate 20200101000000Z -enddate 20210101000000Z -out expired.pem")


def _openssl(folder: Path, command: str) -> None:
    done = subprocess.run(["openssl", *command.split()], cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
