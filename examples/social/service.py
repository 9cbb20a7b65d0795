"""A stand-in for the service: `/v1/glue/recent` has its newest posts, newest first, as JSON or as XML."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Lock, Thread
from urllib.parse import parse_qs, urlsplit
from xml.sax.saxutils import escape, quoteattr

from examples.social.posts import Post

__all__ = ["Service", "service"]

_NEWEST = 250  # posts of an answer
_FIELDS = ("user", "title", "site", "category")


class Service(ThreadingHTTPServer):
    """With each request some posts more have been made, as if a few minutes had passed."""

    daemon_threads = True

    def __init__(self, posts: Sequence[Post], more: int) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self._posts, self._more, self._made = posts, more, 0
        self._lock = Lock()
        self.requests = 0

    @property
    def url(self) -> str:
        """The address of the resource."""
        return f"http://127.0.0.1:{self.server_port}/v1/glue/recent"

    def recent(self) -> Sequence[Post]:
        """The newest posts, newest first."""
        with self._lock:
            self.requests += 1
            self._made = min(self._made + self._more, len(self._posts))
            return self._posts[max(0, self._made - _NEWEST) : self._made][::-1]


class _Handler(BaseHTTPRequestHandler):
    server: Service
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        recent = self.server.recent()
        tag = f'"{recent[0].id}"' if recent else '"none"'
        if self.headers.get("If-None-Match") == tag:
            self._send(304, "text/plain", b"", tag)
        elif parse_qs(urlsplit(self.path).query).get("format") == ["xml"]:
            self._send(200, "application/xml", _xml(recent), tag)
        else:
            self._send(200, "application/json", _json(recent), tag)

    def _send(self, status: int, media_type: str, body: bytes, tag: str) -> None:
        self.send_response(status)
        for name, value in (("ETag", tag), ("Content-Type", media_type), ("Content-Length", str(len(body)))):
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """The story tells what happens."""


def _json(recent: Sequence[Post]) -> bytes:
    items = [{"id": post.id, "time": _time(post)} | {name: getattr(post, name) for name in _FIELDS} for post in recent]
    return json.dumps({"interactions": items}).encode()


def _xml(recent: Sequence[Post]) -> bytes:
    items = "".join(
        f"<interaction id={quoteattr(post.id)}><time>{_time(post)}</time>"
        + "".join(f"<{name}>{escape(getattr(post, name))}</{name}>" for name in _FIELDS)
        + "</interaction>"
        for post in recent
    )
    return f"<adaptiveblue><interactions>{items}</interactions></adaptiveblue>".encode()


def _time(post: Post) -> str:
    return post.time.isoformat().replace("+00:00", "Z")


@contextmanager
def service(posts: Sequence[Post], more: int = 20) -> Iterator[Service]:
    """The service, which runs until the block ends."""
    server = Service(posts, more)
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
