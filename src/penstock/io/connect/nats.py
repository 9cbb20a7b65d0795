"""What the source and the sink of NATS share: options, and a connection with them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from penstock.errors import OptionError, PenstockError
from penstock.io.connect.address import Address
from penstock.io.connect.options import SECRET
from penstock.io.connect.secrets import Secret
from penstock.io.connect.tls import TlsOptions, check_tls, reason_of, tls_context

__all__ = ["NatsOptions", "check_nats", "connect", "nats_reason"]

Closed: TypeAlias = Callable[[], Awaitable[None]]
_CONNECTING = 5  # seconds until an attempt fails
_REFUSED = "authorization violation"


@dataclass(frozen=True, slots=True)
class NatsOptions(TlsOptions):
    """The options of every connection to NATS. `credentials` is the path of a file with a JWT and its seed."""

    username: Secret | None = None
    password: Secret | None = field(default=None, metadata=SECRET)
    token: Secret | None = field(default=None, metadata=SECRET)
    credentials: str | None = None
    tls: bool = False


def check_nats(address: Address, options: NatsOptions) -> None:
    """Raise an `OptionError` if the address has no servers, or an option does not fit."""
    check_tls("nats", options, secure=options.tls)
    if not all(_is_place(place) for place in address.place.split(",")):
        raise OptionError(f"nats: {address.place or 'nothing'} is no HOST:PORT, nor several with commas")
    if (options.username is None) != (options.password is None):
        raise OptionError("nats: the options username and password go together")


async def connect(nats: Any, address: Address, options: NatsOptions, closed: Closed | None = None) -> Any:
    """A connection. When it is lost it stays so, and `closed` is called: the caller makes another."""
    scheme = "tls" if options.tls else "nats"
    troubles: list[Exception] = []
    try:
        return await nats.connect(
            [f"{scheme}://{place}" for place in address.place.split(",")],
            name="penstock",
            allow_reconnect=False,
            max_reconnect_attempts=1,
            reconnect_time_wait=0,
            connect_timeout=_CONNECTING,
            error_cb=_noting(troubles),
            closed_cb=closed,
            user=_revealed(options.username),
            password=_revealed(options.password),
            token=_revealed(options.token),
            user_credentials=options.credentials,
            tls=tls_context(options) if options.tls else None,
        )
    except nats.errors.NoServersError:
        raise (troubles or [ConnectionError("it cannot be reached")])[-1] from None


def nats_reason(error: BaseException) -> str:
    """Why NATS cannot be used, in a few words."""
    if isinstance(error, PenstockError):
        return str(error)
    if _REFUSED in str(error).lower():
        return "the server refuses the connection (authorization violation)"
    described = getattr(error, "description", None)
    return str(described) if described else reason_of(error).removeprefix("nats: ")


def _noting(troubles: list[Exception]) -> Callable[[Exception], Awaitable[None]]:
    async def note(error: Exception) -> None:
        troubles.append(error)

    return note


def _revealed(secret: Secret | None) -> str | None:
    return None if secret is None else secret.reveal()


def _is_place(text: str) -> bool:
    host, colon, port = text.rpartition(":")
    return bool(host) and port.isdecimal() and 0 < int(port) < 65536 if colon else bool(text)
