"""Accepts producers that connect, and acknowledges their lines: `ok N` says that N lines are durable."""

from __future__ import annotations

import errno
import socket
from contextlib import suppress
from threading import Thread

from penstock.errors import PenstockError, SetupError
from penstock.stream.base.clock import Clock
from penstock.stream.ingest.sources.lines import Lines
from penstock.stream.ingest.sources.receiver import BEGINNING, Accept, Message, Positions, Receiver, address_of

__all__ = ["ListenSource"]

_PIECE = 1 << 18


class ListenSource(Receiver):
    """A server. It listens from the moment it is started; `port` is the real one where the address says 0."""

    by_line = True

    def __init__(self, address: str) -> None:
        super().__init__()
        self._address = address_of(address)
        self._server: socket.socket | None = None
        self._producers: dict[socket.socket, Thread] = {}
        self.port: int | None = None

    def start(self, accept: Accept, clock: Clock, position: Positions = BEGINNING) -> None:
        """Listen at once, so that an address in use is an error of `start`."""
        self._server = self._listening()
        self.port = self._server.getsockname()[1]
        super().start(accept, clock, position)

    def check_connection(self) -> str:
        """Listen for a moment: the port may be in use."""
        with self._listening() as server:
            return f"port {server.getsockname()[1]} is free"

    def _listening(self) -> socket.socket:
        try:
            return socket.create_server(self._address)
        except OSError as error:
            raise SetupError(_refusal(error, *self._address)) from None

    def run(self, accept: Accept, clock: Clock, position: Positions) -> None:
        while not self.stopping and self._server is not None:
            try:
                producer, _ = self._server.accept()
            except OSError:
                return  # `interrupt` has closed it
            thread = Thread(target=self._serve, args=(producer, accept), name="penstock-producer", daemon=True)
            with self._changed:
                self._producers[producer] = thread
            thread.start()

    def stop(self) -> None:
        super().stop()
        for producer, thread in list(self._producers.items()):
            with suppress(OSError):
                producer.shutdown(socket.SHUT_RD)  # lines sent so far are still read, and acknowledged
            thread.join()

    def interrupt(self) -> None:
        if self._server is not None:
            with suppress(OSError):
                self._server.shutdown(socket.SHUT_RDWR)
            self._server.close()

    def _serve(self, producer: socket.socket, accept: Accept) -> None:
        try:
            with producer:
                self._receive(producer, accept)
        except PenstockError as error:
            self.message = str(error)
        finally:
            with self._changed:
                del self._producers[producer]

    def _receive(self, producer: socket.socket, accept: Accept) -> None:
        lines, count = Lines(), 0
        with suppress(OSError):  # the producer has closed: it needs no acknowledgement
            while piece := producer.recv(_PIECE):
                count = self._take(producer, lines.add(piece), count, accept)
        with suppress(OSError):
            self._take(producer, lines.end(), count, accept)

    def _take(self, producer: socket.socket, lines: bytes, count: int, accept: Accept) -> int:
        """Make lines durable, then say how many there are by now."""
        if not lines:
            return count
        accept([Message(lines)])
        count += lines.count(b"\n")
        producer.sendall(b"ok %d\n" % count)
        return count


def _refusal(error: OSError, host: str, port: int) -> str:
    if error.errno == errno.EADDRINUSE:
        return f"Port {port} of {host} is in use: end the program that listens there, or give another port."
    reason = (error.strerror or str(error)).partition(" (while ")[0]  # Python repeats the address
    return f"Cannot listen on {host}:{port}: {reason}."
