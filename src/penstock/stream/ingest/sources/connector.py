"""The base of sources that are extras: an address with options, a client that may be missing, and attempts to connect.

A connector is a class with five names and `run`, in a file of its own, and a row in the table of `sources/__init__.py`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from penstock.io.connect.address import Address
from penstock.io.connect.clients import check_client, client
from penstock.io.connect.options import read_options
from penstock.io.connect.reachable import check_address, check_secrets
from penstock.io.connect.secrets import hidden
from penstock.stream.base.clock import Clock
from penstock.stream.ingest.sources.receiver import Receiver

__all__ = ["Connector", "NoOptions"]

_SHORTEST, _LONGEST = 100_000, 10_000_000  # microseconds between two attempts to connect


@dataclass(frozen=True, slots=True)
class NoOptions:
    """The options of a connector that has none."""


class Connector(Receiver):
    """A `Receiver` with an `address` and `options`.

    `kind` is the scheme, `client` the module of the client and `extra` the extra that installs it (None: it needs
    none), `Options` the dataclass of the options. Overwrite `run`, and `check` for rules that types do not tell.
    """

    kind: ClassVar[str]
    client: ClassVar[str | None] = None
    extra: ClassVar[str | None] = None
    Options: ClassVar[type[Any]] = NoOptions

    def __init__(self, address: str) -> None:
        super().__init__()
        if self.client is not None:
            check_client(self.client, self.extra or self.kind, f"the source {self.kind}")
        self.address = Address.parse(self.kind, address)
        self.options = read_options(self.kind, self.Options, self.address.options)
        self._wait = _SHORTEST
        self.check()

    def check(self) -> None:
        """Raise an `OptionError` if the address or an option cannot be; called when the stream is declared."""

    def check_connection(self) -> str:
        """A sentence about the peer, for `penstock check`; a `PenstockError` if it cannot be reached.

        It is cheap and changes nothing: by default the secrets are read, and one of the hosts is connected to.
        """
        check_secrets(self.options)
        return check_address(self.address)

    def module(self, name: str | None = None) -> Any:
        """The client's module, or another of its package; imported when it is first needed."""
        return client(name or self.client or "", self.extra or self.kind, f"the source {self.kind}")

    def trouble(self, reason: object) -> None:
        """Say that something is wrong, once for each change, and without any secret; `run` then tries again."""
        said = hidden(str(reason)).strip().rstrip(".")
        self.report(f"{self.address.text}: {said}; trying again.", self.address.text)

    def well(self) -> None:
        """Say that all is well again."""
        self.message, self._wait = None, _SHORTEST

    def back_off(self, clock: Clock) -> None:
        """Wait before the next attempt: longer after each, until `well`."""
        self.pause(clock, self._wait)
        self._wait = min(2 * self._wait, _LONGEST)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.address.text}>"
