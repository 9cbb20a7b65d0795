"""The common part of connectors, sources and sinks alike: an address with options, and a client that may be missing."""

from __future__ import annotations

from typing import Any, ClassVar

from penstock.io.connect.address import Address
from penstock.io.connect.clients import check_client, client
from penstock.io.connect.options import read_options
from penstock.io.connect.reachable import check_address, check_secrets

__all__ = ["AddressedConnector"]


class AddressedConnector:
    """Has the `address` and the `options` of a connector, once `read_address` was called.

    `role` is "source" or "sink", `kind` the scheme, `client` the module of the client and `extra` the extra that
    installs it (None: it needs none), `Options` the dataclass of the options.
    """

    role: ClassVar[str]
    kind: ClassVar[str]
    client: ClassVar[str | None] = None
    extra: ClassVar[str | None] = None
    Options: ClassVar[type[Any]]

    def read_address(self, address: str) -> None:
        """Check that the client is there, and read the address and its options."""
        if self.client is not None:
            check_client(self.client, self.extra or self.kind, f"the {self.role} {self.kind}")
        self.address = Address.parse(self.kind, address)
        self.options: Any = read_options(self.kind, self.Options, self.address.options)

    def check(self) -> None:
        """Raise an `OptionError` if the address or an option cannot be; called when it is declared or registered."""

    def check_connection(self) -> str:
        """A sentence about the peer, for `penstock check`; a `PenstockError` if it cannot be reached.

        It is cheap and changes nothing: by default the secrets are read, and one of the hosts is connected to.
        """
        check_secrets(self.options)
        return check_address(self.address)

    def module(self, name: str | None = None) -> Any:
        """The client's module, or another of its package; imported when it is first needed."""
        return client(name or self.client or "", self.extra or self.kind, f"the {self.role} {self.kind}")

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.address.text}>"
