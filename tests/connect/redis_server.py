"""The Redis server, with every command on the disk before it is answered."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.connect.broker_process import BrokerProcess, free_port
from tests.connect.certificates import make_certificates

__all__ = ["RedisServer"]


class RedisServer(BrokerProcess):
    """The server. `secured` is its port with TLS."""

    binary = "redis-server"

    @classmethod
    @contextmanager
    def running(cls, factory: pytest.TempPathFactory) -> Iterator[RedisServer]:
        """A server, for all tests of a module."""
        server = cls(factory.mktemp("redis"))
        try:
            server.start()
            yield server
        finally:
            server.stop()

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.secured = free_port()
        make_certificates(folder)

    def command(self) -> list[str]:
        listening = ["--bind", "127.0.0.1", "--port", str(self.port), "--dir", str(self.folder)]
        files = ["--tls-cert-file", f"{self.folder}/server.pem", "--tls-key-file", f"{self.folder}/server.key"]
        authority = ["--tls-ca-cert-file", f"{self.folder}/ca.pem", "--tls-auth-clients", "no"]
        durable = ["--appendonly", "yes", "--appendfsync", "always", "--save", ""]
        return [*listening, "--tls-port", str(self.secured), *files, *authority, *durable]

    def add(self, key: str, payloads: Sequence[bytes], **fields: str) -> None:
        """Add an entry for each payload."""
        with self.client() as client:
            for payload in payloads:
                client.xadd(key, {"payload": payload, **fields})

    def entries(self, key: str) -> list[dict[bytes, bytes]]:
        """The fields of all entries."""
        with self.client() as client:
            return [fields for _, fields in client.xrange(key)]

    def client(self) -> Any:
        redis = pytest.importorskip("redis", reason="redis is not installed: pip install penstock[redis]")
        return redis.Redis("127.0.0.1", self.port, protocol=2)
