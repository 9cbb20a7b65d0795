"""A WebSocket server on loopback, whose connections a test handles."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Thread

from websockets.sync.server import ServerConnection, serve

__all__ = ["ServerConnection", "websocket_server"]


@contextmanager
def websocket_server(handle: Callable[[ServerConnection], None], port: int = 0) -> Iterator[int]:
    """The server's port; at the end of the block all its connections end."""
    connections: list[ServerConnection] = []

    def handler(connection: ServerConnection) -> None:
        connections.append(connection)
        handle(connection)

    with serve(handler, "127.0.0.1", port, close_timeout=1) as server:
        thread = Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            yield server.socket.getsockname()[1]
        finally:
            server.shutdown()
            for connection in connections:
                connection.close()
            thread.join()
