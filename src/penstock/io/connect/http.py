"""What all HTTP clients share: the options of a request, a client that can be interrupted, and failures in words."""

from __future__ import annotations

import base64
import socket
import ssl
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import httpx

from penstock.errors import OptionError, SetupError
from penstock.io.connect.options import SECRET, Microseconds
from penstock.io.connect.secrets import REFERENCE, Secret

__all__ = ["HttpOptions", "Wire", "check_request", "failure_of", "headers_of", "http_client", "reason_of", "trusted"]

_PREFIX = "header."
_CREDENTIALS = ("authorization", "proxy-authorization", "cookie")
_CONNECTING = 5.0  # seconds until an attempt to connect fails
_REDIRECTS = 5
_ANSWERING = Microseconds(30_000_000)


@dataclass(frozen=True, slots=True)
class HttpOptions:
    """The options of every request: who asks, further headers (`header.Accept=…`), how long an answer may take, and a
    file of certificates that are trusted too."""

    token: Secret | None = field(default=None, metadata=SECRET)
    username: Secret | None = None
    password: Secret | None = field(default=None, metadata=SECRET)
    timeout: Microseconds = _ANSWERING
    ca: str | None = None
    headers: Mapping[str, Secret] = field(default_factory=dict)


def check_request(kind: str, resource: str, options: Any, schemes: tuple[str, ...] = ("http", "https")) -> None:
    """Raise an `OptionError` if there can be no request to that URL with those options."""
    scheme, _, rest = resource.partition("://")
    if scheme not in schemes or not rest.partition("/")[0]:
        raise OptionError(f"{kind}: which resource? Write {_example(kind, schemes)}")
    if options.token and (options.username or options.password):
        raise OptionError(f"{kind}: give a token, or username and password, not both")
    for name, value in options.headers.items():
        if not name.startswith(_PREFIX):
            raise OptionError(f"{kind}: there is no option {name}: a header is written {_PREFIX}NAME=VALUE")
        if name.removeprefix(_PREFIX).lower() in _CREDENTIALS and not REFERENCE.search(value.text):
            raise OptionError(f"{kind}: the option {name} would be stored: refer to its secret, as ${{env:NAME}}")


def headers_of(options: Any) -> dict[str, str]:
    """The headers of a request, with the values of secrets."""
    headers = {name.removeprefix(_PREFIX): value.reveal() for name, value in options.headers.items()}
    if options.token:
        headers["Authorization"] = f"Bearer {options.token.reveal()}"
    elif options.username or options.password:
        pair = ":".join(part.reveal() if part else "" for part in (options.username, options.password))
        headers["Authorization"] = f"Basic {base64.b64encode(pair.encode()).decode()}"
    return headers


def http_client(options: Any, *, silence: int | None = None, redirects: bool = True) -> httpx.Client:
    """A client for one resource. `silence` is how long its answer may pause, where that is not the timeout."""
    seconds = (options.timeout if silence is None else silence) / 1e6
    timeout = httpx.Timeout(options.timeout / 1e6, connect=min(_CONNECTING, options.timeout / 1e6), read=seconds)
    return httpx.Client(
        headers=headers_of(options),
        timeout=timeout,
        follow_redirects=redirects,
        max_redirects=_REDIRECTS,
        verify=trusted(options) or True,
    )


def trusted(options: Any) -> ssl.SSLContext | None:
    """The certificates that are trusted if others are named than the usual ones; a `SetupError` if these are none."""
    if options.ca is None:
        return None
    context = ssl.create_default_context()
    try:
        context.load_verify_locations(options.ca)
    except (OSError, ssl.SSLError) as error:
        reason = (error.strerror if not isinstance(error, ssl.SSLError) else None) or "it has none in PEM"
        raise SetupError(f"The certificates of ca={options.ca} cannot be read: {reason}.") from None
    return context


class Wire:
    """The socket of a client's newest connection: `cut` makes whoever reads from it return at once."""

    def __init__(self) -> None:
        self._socket: socket.socket | None = None
        self._is_cut = False

    @property
    def extensions(self) -> dict[str, Any]:
        """The extensions of a request by which the socket becomes known as soon as there is one."""
        return {"trace": self._traced}

    def open(self) -> None:
        """Let connections be made again."""
        self._is_cut = False

    def cut(self) -> None:
        """End the connection that there is, and those that are made from now on."""
        self._is_cut = True
        if self._socket is not None:
            with suppress(OSError):
                socket.socket.shutdown(self._socket, socket.SHUT_RDWR)  # that of the connection, below any TLS

    def _traced(self, event: str, info: Mapping[str, Any]) -> None:
        if event.endswith((".connect_tcp.complete", ".start_tls.complete")):
            self._socket = info["return_value"].get_extra_info("socket")
            if self._is_cut:
                self.cut()


def reason_of(error: BaseException) -> str:
    """An error of the client in a few words."""
    if isinstance(error, httpx.TimeoutException):
        return "there was no answer in time"
    if isinstance(error, httpx.TooManyRedirects):
        return "it redirects in circles"
    if "CERTIFICATE_VERIFY_FAILED" in str(error):
        return f"its certificate is refused ({str(error).partition('verify failed: ')[2].partition(' (_ssl')[0]})"
    said = str(error).strip() or type(error).__name__
    return f"it cannot be reached ({said})" if isinstance(error, httpx.ConnectError) else said


def failure_of(response: httpx.Response) -> str | None:
    """The reason why a response is none that was asked for; None if it is one."""
    if response.status_code < 300 or response.status_code == 304:
        return None
    hint = " (give token, or username and password)" if response.status_code == 401 else ""
    return f"the server says {response.status_code} {response.reason_phrase}".rstrip() + hint


def _example(kind: str, schemes: tuple[str, ...]) -> str:
    return f"{kind}://HOST/PATH" if kind in schemes else f"{kind}+{schemes[-1]}://HOST/PATH"
