"""Messages of a WebSocket, with a message that asks the server to continue.

    wss://example.org/feed#subscribe={"op":"subscribe"}&resume={"op":"since","id":"{id}"}&id=/id

The position is the id of the last message. WebSockets have no way to resume of their own: without `resume`, messages of
the time without a connection are lost. With `acknowledge` the server is told which message is durable.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from penstock.errors import OptionError
from penstock.io.connect.http import HttpOptions, check_request, headers_of, reason_of, trusted
from penstock.io.connect.secrets import Secret
from penstock.stream.base.clock import Clock
from penstock.stream.ingest.sources.connector import Connector
from penstock.stream.ingest.sources.receiver import Accept, Message, Positions
from penstock.stream.ingest.sources.web.items import pointed

__all__ = ["SecureWebSocketSource", "WebSocketOptions", "WebSocketSource"]

_ID = "{id}"
_MOST = 1000  # messages that are made durable together
_LARGEST = 64 << 20  # bytes of a message
_CLOSING = 1.0  # seconds that the server has to say goodbye


@dataclass(frozen=True, slots=True)
class WebSocketOptions(HttpOptions):
    """`subscribe` is sent after each connection, then `resume` if there is a position; `acknowledge` when messages are
    durable. In both of these {id} is the id of the last message, to which `id` leads, a JSON Pointer."""

    subscribe: Secret | None = None
    resume: str | None = None
    acknowledge: str | None = None
    id: str | None = None
    protocols: tuple[str, ...] = ()


class WebSocketSource(Connector):
    """Connects, subscribes, reads messages, and connects again when the connection is lost."""

    kind = "ws"
    client = "websockets"
    extra = "http"
    Options = WebSocketOptions

    def check(self) -> None:
        options = self.options
        check_request(self.kind, self.address.resource, options, (self.kind,))
        if options.id and not options.id.startswith("/"):
            raise OptionError(f"{self.kind}: the option id is a JSON Pointer such as /id, not {options.id!r}")
        for name in ("resume", "acknowledge"):
            template = getattr(options, name)
            if template is not None and (_ID not in template or options.id is None):
                raise OptionError(
                    f"{self.kind}: the option {name} is a message with {_ID} in it, and needs the option id"
                )
        self.name = f"ws:{self.address.resource}"
        self._connection: Any = None
        self._last: str | None = None

    def run(self, accept: Accept, clock: Clock, position: Positions) -> None:
        stored = position.get("")
        self._last = None if stored is None else str(stored)
        while not self.stopping:
            self._visit(accept)
            if not self.stopping:
                self.back_off(clock)

    def interrupt(self) -> None:
        if (connection := self._connection) is not None:
            connection.close()

    def _visit(self, accept: Accept) -> None:
        """Connect once and read until the end."""
        failures = (self.module("websockets.exceptions").WebSocketException, OSError, EOFError)
        try:
            with self._connected() as connection:
                self._connection = connection
                if self.stopping:
                    return
                self._greet(connection)
                self.well()
                self._read(connection, accept)
        except failures as error:
            if not self.stopping:
                self.trouble(_reason(error))
        finally:
            self._connection = None

    def _connected(self) -> Any:
        seconds = self.options.timeout / 1e6
        return self.module("websockets.sync.client").connect(
            self.address.resource,
            additional_headers=headers_of(self.options),
            subprotocols=list(self.options.protocols) or None,
            open_timeout=seconds,
            close_timeout=_CLOSING,
            max_size=_LARGEST,
            ssl=trusted(self.options) if self.kind == "wss" else None,
        )

    def _greet(self, connection: Any) -> None:
        if self.options.subscribe is not None:
            connection.send(self.options.subscribe.reveal())
        if self.options.resume is not None and self._last is not None:
            connection.send(_filled(self.options.resume, self._last))

    def _read(self, connection: Any, accept: Accept) -> None:
        """Make messages durable, as many together as have come, then acknowledge them."""
        while not self.stopping:
            messages = [one for data in _arrived(connection) if (one := self._message(data)) is not None]
            if not messages:
                continue
            accept(messages, {} if self._last is None else {"": self._last})
            if self.options.acknowledge is not None and self._last is not None:
                connection.send(_filled(self.options.acknowledge, self._last))

    def _message(self, data: str | bytes) -> Message | None:
        """A message; None if it is the last one again, with which a server that resumes may begin."""
        payload = data.encode() if isinstance(data, str) else data
        id = None if self.options.id is None else _id(payload, self.options.id)
        if id is not None and id == self._last:
            return None
        self._last = self._last if id is None else id
        return Message(
            payload,
            key=None if id is None else id.encode(),
            topic=self.address.resource,
            partition="",
            place=self.address.text if id is None else f"{self.address.text}@{id}",
        )


class SecureWebSocketSource(WebSocketSource):
    """The same over TLS."""

    kind = "wss"


def _arrived(connection: Any) -> list[str | bytes]:
    """The next message, and those that have come behind it. An end of the connection is told by the next call."""
    messages = [connection.recv()]
    while len(messages) < _MOST:
        try:
            messages.append(connection.recv(timeout=0))
        except Exception:  # none has come yet, or the connection is closed: what has come is brought to the log first
            break
    return messages


def _id(payload: bytes, pointer: str) -> str | None:
    try:
        value = pointed(json.loads(payload), pointer)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, str) else None if value is None else json.dumps(value)


def _filled(template: str, id: str) -> str:
    """The template with the id, escaped as inside of a string of JSON."""
    return template.replace(_ID, json.dumps(id)[1:-1])


def _reason(error: BaseException) -> str:
    response: Any = getattr(error, "response", None)
    if response is not None:
        return f"the server says {response.status_code} {response.reason_phrase} and opens no WebSocket"
    if isinstance(error, ConnectionRefusedError | TimeoutError):
        return f"it cannot be reached ({getattr(error, 'strerror', None) or error})"
    closed: Any = getattr(error, "rcvd", None)
    if closed is not None:
        return f"the server has closed the connection ({closed.code}{f' {closed.reason}' if closed.reason else ''})"
    return reason_of(error)
