"""A cluster of PostgreSQL of its own: in a temporary folder, on a free port of loopback, for all tests."""

from __future__ import annotations

import os
import pwd
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

__all__ = ["PASSWORD", "Cluster", "postgresql"]

PASSWORD = "correct horse battery"


@dataclass(frozen=True)
class Cluster:
    """A running cluster, whose user is penstock and whose database is postgres."""

    binaries: Path
    folder: Path
    port: int

    @property
    def address(self) -> str:
        return f"postgresql://127.0.0.1:{self.port}/postgres"

    @property
    def conninfo(self) -> str:
        return f"host=127.0.0.1 port={self.port} dbname=postgres user=penstock password='{PASSWORD}'"

    def start(self) -> None:
        options = f"-p {self.port} -k {self.folder} -c listen_addresses=127.0.0.1"
        self.call("pg_ctl", "-w", "-D", "data", "-l", "log", "-o", options, "start")

    def stop(self) -> None:
        """Stop as a crash does: without a checkpoint, and with all connections cut."""
        self.call("pg_ctl", "-w", "-D", "data", "-m", "immediate", "stop")

    def call(self, name: str, *arguments: str) -> None:
        """Run a program of PostgreSQL, which refuses to run as root."""
        command = [str(self.binaries / name), *arguments]
        user = _unprivileged() if os.geteuid() == 0 else None
        done = subprocess.run(
            command, cwd=self.folder, user=user, env={"LC_ALL": "C", "PATH": os.defpath},
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=(self.folder / "errors").open("ab"),
        )  # fmt: skip
        assert done.returncode == 0, (self.folder / "errors").read_text()


@pytest.fixture(scope="session")
def postgresql() -> Iterator[Cluster]:
    """A cluster that runs until the last test is over."""
    if reason := missing():
        pytest.skip(reason)
    with running() as cluster:
        yield cluster


def missing() -> str | None:
    """Why there can be no cluster here."""
    return None if _initdb() else "PostgreSQL is not installed: make brokers"


def _initdb() -> str | None:
    return shutil.which("initdb") or next(map(str, Path("/usr/lib/postgresql").glob("*/bin/initdb")), None)


@contextmanager
def running() -> Iterator[Cluster]:
    """A new cluster, which is stopped at the end."""
    with tempfile.TemporaryDirectory(prefix="penstock-pg-") as folder:
        cluster = Cluster(Path(str(_initdb())).resolve().parent, Path(folder), _free_port())
        (cluster.folder / "password").write_text(PASSWORD)
        if os.geteuid() == 0:
            for path in (cluster.folder, cluster.folder / "password"):
                shutil.chown(path, _unprivileged())
        cluster.call("initdb", "-D", "data", "-U", "penstock", "--pwfile=password", "-A", "scram-sha-256", "-E", "UTF8")
        cluster.start()
        try:
            yield cluster
        finally:
            cluster.stop()


def _unprivileged() -> str:
    names = {entry.pw_name for entry in pwd.getpwall()}
    return "postgres" if "postgres" in names else "nobody"


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        return int(server.getsockname()[1])
