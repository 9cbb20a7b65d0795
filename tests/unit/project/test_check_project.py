"""Files, secrets and peers of a project are checked without starting anything. Sockets are on loopback."""

from __future__ import annotations

import socket
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from penstock import ProjectError, SetupError
from penstock.io.connect.options import SECRET
from penstock.io.connect.secrets import Secret
from penstock.io.sinks.connector import SinkConnector
from penstock.project import read_project
from penstock.project.check_project import check_files, check_project
from penstock.stream.ingest.sources.connector import Connector
from penstock.stream.ingest.sources.tcp import TcpSource

S = "http://e/s"


@pytest.fixture
def server() -> socket.socket:
    return socket.create_server(("127.0.0.1", 0))


def found(folder: Path, text: str) -> list[tuple[str, str, bool]]:
    (folder / "p.toml").write_text(text)
    results = check_project(read_project(folder / "p.toml"))
    return [(one.table, one.found.replace(str(folder), "."), one.error is None) for one in results]


def test_files_and_sinks(tmp_path: Path) -> None:
    (tmp_path / "a.nq").write_text("12345")
    (tmp_path / "file").touch()
    query = f"text = 'SELECT ?s FROM STREAM <{S}> [RANGE 1m STEP 1m] WHERE {{ ?s ?p ?o }}'\n"
    text = f"""[[load]]\nsource = 'none.ttl'\n[[stream]]\niri = '{S}'\nsource = 'a.nq'
[[stream]]\niri = 'http://e/pushed'\n[[register]]\nname = 'a'\nsink = 'file/a.csv'\n{query}
[[register]]\nname = 'b'\nsink = 'b.csv'\n{query}[[register]]\nname = 'c'\n{query}"""
    assert found(tmp_path, text) == [
        ("load", "./none.ttl does not exist", False),
        ("stream", "5 bytes", True),
        ("stream", "elements are pushed", True),
        ("register", "./file is not a folder", False),
        ("register", "answers go to ./b.csv", True),
        ("register", "answers are printed, or kept in memory", True),
    ]
    with pytest.raises(ProjectError, match=r"p\.toml, line 2, column 10: .*none\.ttl does not exist"):
        check_files(read_project(tmp_path / "p.toml"))


def test_sockets(tmp_path: Path, server: socket.socket) -> None:
    port = server.getsockname()[1]
    tables = "[[stream]]\niri = 'http://e/{0}'\nsource = '{0}://127.0.0.1:{1}'\n"
    text = tables.format("tcp", port) + tables.format("listen", port)
    with server:
        assert found(tmp_path, text) == [
            ("stream", f"127.0.0.1:{port} is reached", True),
            (
                "stream",
                f"Port {port} of 127.0.0.1 is in use: end the program that listens there, or give another port.",
                False,
            ),
        ]
    assert found(tmp_path, text) == [
        ("stream", f"127.0.0.1:{port} cannot be reached: Connection refused", False),
        ("stream", f"port {port} is free", True),
    ]
    with pytest.raises(SetupError, match="cannot be reached"):
        TcpSource(f"127.0.0.1:{port}").check_connection()


@dataclass(frozen=True, slots=True)
class QueueOptions:
    password: Secret | None = field(default=None, metadata=SECRET)


class QueueSource(Connector):
    kind = "queue"
    Options = QueueOptions


class QueueSink(SinkConnector):
    kind = "queue"
    Options = QueueOptions


@pytest.mark.parametrize("kind", [QueueSource, QueueSink])
def test_a_connector_reads_its_secrets_and_tries_its_hosts(
    kind: type[QueueSource | QueueSink], server: socket.socket, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("NO_SUCH", raising=False)
    port = server.getsockname()[1]
    with server:
        assert kind(f"127.0.0.1:1,127.0.0.1:{port}/q").check_connection() == f"127.0.0.1:{port} is reached"
    assert kind("localhost/q").check_connection() == "no attempt is made to connect: the address has no port"
    with pytest.raises(SetupError, match=r"\$\{env:NO_SUCH\} cannot be read"):
        kind("127.0.0.1:1/q?password=${env:NO_SUCH}").check_connection()
    with pytest.raises(SetupError, match=r"^127\.0\.0\.1:1 cannot be reached"):
        kind("127.0.0.1:1/q").check_connection()
