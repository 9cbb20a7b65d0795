"""What the source and the sink of Redis share: options, and a client with them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from penstock.errors import OptionError
from penstock.io.connect.address import Address
from penstock.io.connect.options import SECRET
from penstock.io.connect.secrets import Secret
from penstock.io.connect.tls import TlsOptions, check_tls, reason_of

__all__ = ["RedisOptions", "check_redis", "holds", "last_id", "new_client", "order", "redis_reason"]

_PORT = 6379
_TIMEOUT = 5  # seconds
_NO_STREAM = "WRONGTYPE"
_NO_KEY = "no such key"


@dataclass(frozen=True, slots=True)
class RedisOptions(TlsOptions):
    """The options of every connection to Redis."""

    username: Secret | None = None
    password: Secret | None = field(default=None, metadata=SECRET)
    db: int = 0


def check_redis(address: Address, options: RedisOptions) -> None:
    """Raise an `OptionError` if the address has no key, or an option does not fit."""
    check_tls(address.kind, options, secure=address.kind == "rediss")
    address.host_and_port(_PORT)
    if not address.path:
        raise OptionError(f"{address.kind}: which key? Write {address.kind}://HOST:PORT/KEY")
    if options.db < 0:
        raise OptionError(f"{address.kind}: the option db is 0 or more")
    if options.username is not None and options.password is None:
        raise OptionError(f"{address.kind}: the option username needs password")


def new_client(redis: Any, address: Address, options: RedisOptions) -> Any:
    """A client that connects with its first command. It repeats none: an XADD whose answer is lost may be done."""
    host, port = address.host_and_port(_PORT)
    secured = {"ssl": True, "ssl_ca_certs": options.ca_file, "ssl_certfile": options.cert_file}
    return redis.Redis(
        host,
        port,
        options.db,
        username=None if options.username is None else options.username.reveal(),
        password=None if options.password is None else options.password.reveal(),
        socket_timeout=_TIMEOUT,
        socket_connect_timeout=_TIMEOUT,
        retry=redis.retry.Retry(redis.backoff.NoBackoff(), 0),
        protocol=2,
        **({**secured, "ssl_keyfile": options.key_file} if address.kind == "rediss" else {}),
    )


def last_id(client: Any, key: str) -> str | None:
    """The id of the last entry that was added to a stream, also if it was removed; None: there is no such key."""
    try:
        last = client.xinfo_stream(key)["last-generated-id"]
    except Exception as error:
        if _NO_KEY in str(error):
            return None
        raise
    return str(last.decode()) if isinstance(last, bytes) else str(last)


def holds(client: Any, key: str, id: str) -> bool:
    """Whether an entry is in a stream."""
    return bool(client.xrange(key, id, id, 1))


def order(id: str) -> tuple[int, int]:
    """The id of an entry as numbers: milliseconds, and a number within them."""
    time, _, number = id.partition("-")
    return int(time), int(number or 0)


def redis_reason(error: BaseException, key: str) -> str:
    """Why Redis cannot be used, in a few words."""
    if _NO_STREAM in str(error):
        return f"the key {key} holds no stream"
    if type(error).__name__ == "AuthenticationError":
        return f"the server refuses the connection ({str(error).rstrip('.')})"
    if type(error).__name__ == "TimeoutError":
        return "it cannot be reached (timed out)"
    below = next((one for one in _chain(error) if isinstance(one, OSError) and one.strerror), None)
    return reason_of(below or error)


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__
