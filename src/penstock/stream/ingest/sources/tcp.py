"""Lines from a server: connect, read, and connect again when the connection is lost."""

from __future__ import annotations

import socket
from contextlib import suppress

from penstock.io.connect.reachable import check_host
from penstock.stream.base.clock import Clock
from penstock.stream.ingest.sources.lines import Lines
from penstock.stream.ingest.sources.receiver import Accept, Message, Positions, Receiver, address_of

__all__ = ["TcpSource"]

_PIECE = 1 << 18
_SHORTEST, _LONGEST = 100_000, 10_000_000  # microseconds between two attempts to connect
_CONNECTING = 5.0  # seconds until an attempt fails


class TcpSource(Receiver):
    """A client. Its lines are durable before it reads on, so a slow disk slows the sender down (backpressure)."""

    by_line = True

    def __init__(self, address: str) -> None:
        super().__init__()
        self._address = address_of(address)
        self._name = f"tcp://{address}"
        self._socket: socket.socket | None = None

    def run(self, accept: Accept, clock: Clock, position: Positions) -> None:
        wait = _SHORTEST
        while not self.stopping:
            if self._visit(accept):
                wait = _SHORTEST
            if not self.stopping:
                self.pause(clock, wait)
                wait = min(2 * wait, _LONGEST)

    def check_connection(self) -> str:
        return check_host(*self._address)

    def _visit(self, accept: Accept) -> bool:
        """Connect once and read until the end; whether anything came."""
        try:
            connection = socket.create_connection(self._address, _CONNECTING)
        except OSError as error:
            self.report(f"{self._name} cannot be reached ({error.strerror or error}); trying again.", self._name)
            return False
        with connection:
            connection.settimeout(None)
            self._socket = connection
            self.message = None
            return self._receive(connection, accept)

    def _receive(self, connection: socket.socket, accept: Accept) -> bool:
        lines, received, reason = Lines(), False, "closed the connection"
        try:
            while not self.stopping and (piece := connection.recv(_PIECE)):
                received = True
                if whole := lines.add(piece):
                    accept([Message(whole)])
        except OSError as error:
            reason = f"broke the connection ({error.strerror or error})"
        if rest := lines.end():
            accept([Message(rest)])
        if not self.stopping:
            self.report(f"{self._name} {reason}; connecting again. All lines that had come are kept.", self._name)
        return received

    def interrupt(self) -> None:
        if self._socket is not None:
            with suppress(OSError):
                self._socket.shutdown(socket.SHUT_RDWR)
