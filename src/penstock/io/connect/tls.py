"""TLS of connectors: certificates by path, and one sentence when a peer cannot be reached or trusted."""

from __future__ import annotations

import os
import ssl
from dataclasses import dataclass

from penstock.errors import OptionError, SetupError

__all__ = ["TlsOptions", "check_tls", "reason_of", "tls_context"]


@dataclass(frozen=True, slots=True)
class TlsOptions:
    """Paths of PEM files: whom to trust instead of the system's authorities, and who we are."""

    ca_file: str | None = None
    cert_file: str | None = None
    key_file: str | None = None


def check_tls(kind: str, options: TlsOptions, *, secure: bool) -> None:
    """Raise an `OptionError` if the files do not fit together, or the connection has no TLS."""
    given = [name for name in ("ca_file", "cert_file", "key_file") if getattr(options, name) is not None]
    if given and not secure:
        raise OptionError(f"{kind}: the option {given[0]} is for a connection with TLS")
    if options.key_file is not None and options.cert_file is None:
        raise OptionError(f"{kind}: the option key_file needs cert_file")


def tls_context(options: TlsOptions) -> ssl.SSLContext:
    """The settings of a connection that checks the server's certificate; a `SetupError` if a file cannot be read."""
    try:
        context = ssl.create_default_context(cafile=options.ca_file)
        if options.cert_file is not None:
            context.load_cert_chain(options.cert_file, options.key_file)
    except (OSError, ssl.SSLError) as error:
        files = ", ".join(filter(None, (options.ca_file, options.cert_file, options.key_file)))
        raise SetupError(f"A certificate cannot be read ({files}): {error.strerror or error}.") from None
    return context


def reason_of(error: BaseException) -> str:
    """Why a peer cannot be reached, in a few words."""
    if isinstance(error, ssl.SSLCertVerificationError):
        return f"its certificate is not trusted ({error.verify_message})"
    if isinstance(error, ssl.SSLError):
        return f"it does not speak TLS as expected ({error.reason or error})"
    if isinstance(error, OSError) and error.strerror is not None:
        known = os.strerror(error.errno) if error.errno and error.errno > 0 else error.strerror
        return f"it cannot be reached ({known})"
    if isinstance(error, TimeoutError) and str(error) in ("", "timed out"):
        return "it cannot be reached (timed out)"
    return str(error) or type(error).__name__
