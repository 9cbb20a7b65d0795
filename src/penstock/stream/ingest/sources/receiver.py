"""The base of receivers: a thread that brings messages to the log, and a sentence about its trouble."""

from __future__ import annotations

import warnings
from threading import Condition, Thread

from penstock import log
from penstock.errors import PenstockError, PenstockWarning
from penstock.io.connect.secrets import hidden
from penstock.stream.base.clock import Clock
from penstock.stream.ingest.sources.source import BEGINNING, Accept, Message, Positions

__all__ = ["BEGINNING", "Accept", "Message", "Positions", "Receiver", "address_of"]


class Receiver:
    """A `Source` whose thread calls `run`. `message` is one sentence when something is wrong, else None."""

    name: str | None = None
    by_line = False  # whether each line of what it brings is a message

    def __init__(self) -> None:
        self.message: str | None = None
        self.stopping = False
        self._changed = Condition()
        self._thread: Thread | None = None

    def start(self, accept: Accept, clock: Clock, position: Positions = BEGINNING) -> None:
        self.stopping = False
        arguments = accept, clock, position
        self._thread = Thread(target=self._guarded, args=arguments, name="penstock-source", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Bring the messages that have been read to the log, then end."""
        with self._changed:
            self.stopping = True
            self._changed.notify_all()
        self.interrupt()
        if self._thread is not None:
            self._thread.join()

    def run(self, accept: Accept, clock: Clock, position: Positions) -> None:
        """Bring messages from that position on, until there are no more or the source is stopped."""
        raise NotImplementedError

    def check_connection(self) -> str:
        """A sentence about the peer, for `penstock check`; a `PenstockError` if it cannot be reached."""
        return "no attempt is made to connect"

    def interrupt(self) -> None:
        """Make `run` return soon if it waits for a peer."""

    def pause(self, clock: Clock, microseconds: int) -> None:
        """Wait by the clock, unless the source is stopped."""
        until = clock.now() + microseconds
        with self._changed:
            while not self.stopping and clock.now() < until:
                clock.wait(self._changed, until)

    def report(self, message: str, source: str) -> None:
        """Say what the trouble is: once for each change, not for each attempt."""
        if message != self.message:
            self.message = message
            log.ingest.warning("%s", message, extra={"source": source})
            warnings.warn(message, PenstockWarning, stacklevel=1)

    def _guarded(self, accept: Accept, clock: Clock, position: Positions) -> None:
        try:
            self.run(accept, clock, position)
        except Exception as error:
            said = hidden(str(error) if isinstance(error, PenstockError) else f"{type(error).__name__}: {error}")
            self.message = said if isinstance(error, PenstockError) else f"The source failed: {said}"
            log.ingest.exception("a source failed: %s", said, extra={"error": said})


def address_of(text: str) -> tuple[str, int]:
    """HOST:PORT, with an IPv6 address in brackets."""
    host, _, port = text.rpartition(":")
    if not port.isdecimal() or int(port) > 65535:
        raise PenstockError(f"{text} is not an address: write HOST:PORT.")
    return host.strip("[]") or "127.0.0.1", int(port)
