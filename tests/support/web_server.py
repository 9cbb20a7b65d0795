"""A small HTTP server on loopback, whose answers a test gives: it stands for a service of the web."""

from __future__ import annotations

import socket
import ssl
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

__all__ = ["Asked", "Reply", "WebServer", "web_server"]


@dataclass(frozen=True)
class Asked:
    """A request: names of headers are in lower case."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: bytes


@dataclass(frozen=True)
class Reply:
    """A response. A body in pieces is sent piece by piece, and ends the connection."""

    body: bytes | Iterable[bytes] = b""
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)


class WebServer(ThreadingHTTPServer):
    """Answers each request by `answer`, and keeps it in `asked`."""

    daemon_threads = True

    def __init__(self, answer: Callable[[Asked], Reply], port: int = 0, tls: ssl.SSLContext | None = None) -> None:
        super().__init__(("127.0.0.1", port), _Handler)
        self._scheme = "http" if tls is None else "https"
        if tls is not None:
            self.socket = tls.wrap_socket(self.socket, server_side=True)
        self.answer = answer
        self.asked: list[Asked] = []
        self._connections: list[socket.socket] = []

    @property
    def url(self) -> str:
        """The address without a slash at its end."""
        return f"{self._scheme}://127.0.0.1:{self.server_port}"

    def process_request(self, request: Any, client_address: Any) -> None:
        self._connections.append(request)
        super().process_request(request, client_address)

    def disconnect(self) -> None:
        """End all connections, as a server does that is killed."""
        for connection in self._connections:
            with suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)
        self._connections.clear()

    def handle_error(self, *_: object) -> None:
        """A client that is gone is no error here."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: WebServer

    def do_GET(self) -> None:
        length = int(self.headers.get("Content-Length") or 0)
        headers = {name.lower(): value for name, value in self.headers.items()}
        asked = Asked(self.command, self.path, headers, self.rfile.read(length))
        self.server.asked.append(asked)
        self._send(self.server.answer(asked))

    do_POST = do_GET

    def _send(self, reply: Reply) -> None:
        self.send_response(reply.status)
        for name, value in reply.headers.items():
            self.send_header(name, value)
        if isinstance(reply.body, bytes):
            self.send_header("Content-Length", str(len(reply.body)))
            self.end_headers()
            self.wfile.write(reply.body)
            return
        self.send_header("Connection", "close")
        self.end_headers()
        for piece in reply.body:
            self.wfile.write(piece)
            self.wfile.flush()

    def log_message(self, *_: object) -> None: ...


@contextmanager
def web_server(
    answer: Callable[[Asked], Reply], port: int = 0, tls: ssl.SSLContext | None = None
) -> Iterator[WebServer]:
    """The server, which listens until the block ends."""
    server = WebServer(answer, port, tls)
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
        server.disconnect()
        thread.join()
