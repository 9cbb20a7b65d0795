"""Whether an address can be reached: one attempt to connect, which sends nothing."""

from __future__ import annotations

import socket
from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from typing import Any
from urllib.parse import urlsplit

from penstock.errors import SetupError
from penstock.io.connect.address import Address
from penstock.io.connect.secrets import Secret

__all__ = ["check_address", "check_host", "check_secrets"]

_SECONDS = 5.0
_PORTS = {"http": 80, "https": 443, "ws": 80, "wss": 443}


def check_host(host: str, port: int) -> str:
    """A sentence about the host; a `SetupError` if nothing listens at that port."""
    try:
        socket.create_connection((host, port), _SECONDS).close()
    except OSError as error:
        raise SetupError(f"{host}:{port} cannot be reached: {error.strerror or error}") from None
    return f"{host}:{port} is reached"


def check_address(address: Address) -> str:
    """A sentence about the first host of the address that is reached; a `SetupError` if there is none.

    A host without a port is not tried: only its client knows the port.
    """
    hosts = list(_hosts(address))
    if not hosts:
        return "no attempt is made to connect: the address has no port"
    refusal = None
    for host, port in hosts:
        try:
            return check_host(host, port)
        except SetupError as error:
            refusal = refusal or error
    assert refusal is not None
    raise refusal


def check_secrets(options: Any) -> None:
    """Read the secrets that options refer to; a `SetupError` names a reference that leads nowhere."""
    for value in (getattr(options, field.name) for field in fields(options)) if is_dataclass(options) else ():
        for one in value.values() if isinstance(value, Mapping) else (value,):
            if isinstance(one, Secret):
                one.reveal()


def _hosts(address: Address) -> Iterator[tuple[str, int]]:
    for place in address.place.split(","):
        parts = urlsplit(f"//{place}")
        port = parts.port or _PORTS.get(address.resource.partition("://")[0])
        if parts.hostname and port:
            yield parts.hostname, port
