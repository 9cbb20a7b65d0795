"""The base of sources that are extras: an address with options, a client that may be missing, and attempts to connect.

A connector is a class with five names and `run`, in a file of its own, and a row in the table of `sources/__init__.py`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from penstock.io.connect.connector import AddressedConnector
from penstock.io.connect.secrets import hidden
from penstock.stream.base.clock import Clock
from penstock.stream.ingest.sources.receiver import Receiver

__all__ = ["Connector", "NoOptions"]

_SHORTEST, _LONGEST = 100_000, 10_000_000  # microseconds between two attempts to connect


@dataclass(frozen=True, slots=True)
class NoOptions:
    """The options of a connector that has none."""


class Connector(AddressedConnector, Receiver):
    """A `Receiver` with an `address` and `options`.

    `kind` is the scheme, `client` the module of the client and `extra` the extra that installs it (None: it needs
    none), `Options` the dataclass of the options. Overwrite `run`, and `check` for rules that types do not tell.
    """

    role = "source"
    Options: ClassVar[type[Any]] = NoOptions

    def __init__(self, address: str) -> None:
        super().__init__()
        self.read_address(address)
        self._wait = _SHORTEST
        self.check()

    def trouble(self, reason: object) -> None:
        """Say that something is wrong, once for each change, and without any secret; `run` then tries again."""
        said = hidden(str(reason)).strip().rstrip(".")
        self.report(f"{self.address.text}: {said}; trying again.", self.address.text)

    def warn(self, said: str) -> None:
        """Say something that is no reason to try again."""
        self.report(f"{self.address.text}: {said}.", self.address.text)

    def well(self) -> None:
        """Say that all is well again."""
        self.message, self._wait = None, _SHORTEST

    def back_off(self, clock: Clock) -> None:
        """Wait before the next attempt: longer after each, until `well`."""
        self.pause(clock, self._wait)
        self._wait = min(2 * self._wait, _LONGEST)
