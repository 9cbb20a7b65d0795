"""The NATS server with JetStream, and what tests do with its streams."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import pytest

from tests.connect.broker_process import BrokerProcess

__all__ = ["NatsServer"]


class NatsServer(BrokerProcess):
    """The server."""

    binary = "nats-server"
    arguments: tuple[str, ...] = ()

    @classmethod
    @contextmanager
    def running(cls, factory: pytest.TempPathFactory, *arguments: str) -> Iterator[NatsServer]:
        """A server, for all tests of a module."""
        server = cls(factory.mktemp("nats"))
        server.arguments = arguments
        try:
            server.start()
            yield server
        finally:
            server.stop()

    def command(self) -> list[str]:
        place = ["--addr", "127.0.0.1", "--port", str(self.port)]
        return [*place, "--jetstream", "--store_dir", str(self.folder / "js"), *self.arguments]

    def create(self, name: str, **settings: Any) -> None:
        """Make a stream for all subjects below its name."""
        self._do(lambda stream: stream.add_stream(name=name, subjects=[f"{name}.>"], **settings))

    def delete(self, name: str) -> None:
        self._do(lambda stream: stream.delete_stream(name))

    def purge(self, name: str) -> None:
        """Remove all messages of a stream."""
        self._do(lambda stream: stream.purge_stream(name))

    def publish(self, messages: Sequence[tuple[str, bytes]], **headers: str) -> None:
        """Publish payloads to subjects; the stream has them all when this returns."""

        async def publish(stream: Any) -> None:
            for subject, payload in messages:
                await stream.publish(subject, payload, headers=headers or None)

        self._do(publish)

    def messages(self, name: str) -> list[Any]:
        """All messages of a stream."""

        async def read(stream: Any) -> list[Any]:
            last = (await stream.stream_info(name)).state.last_seq
            return [await stream.get_msg(name, number) for number in range(1, last + 1)]

        return list(self._do(read))

    def _do(self, work: Callable[[Any], Awaitable[Any]]) -> Any:
        nats = pytest.importorskip("nats", reason="nats-py is not installed: pip install penstock[nats]")

        async def connected() -> Any:
            connection = await nats.connect(f"nats://{self.place}")
            try:
                return await work(connection.jetstream())
            finally:
                await connection.close()

        return asyncio.run(connected())
