"""Clients of brokers are extras: a client is imported when it is used, and a missing one is one sentence."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from typing import Any

from penstock.errors import SetupError

__all__ = ["check_client", "client"]


def client(module: str, extra: str, user: str) -> Any:
    """The module of a client; a `SetupError` says how to install it. `user` needs it, as in "the source kafka"."""
    try:
        return import_module(module)
    except ImportError as error:
        raise SetupError(_missing(extra, user, str(error))) from error


def check_client(module: str, extra: str, user: str) -> None:
    """Raise a `SetupError` if a client is not installed; it is not imported for that."""
    package = module.partition(".")[0]
    if find_spec(package) is None:
        raise SetupError(_missing(extra, user, f"there is no {package}"))


def _missing(extra: str, user: str, reason: str) -> str:
    return (
        f"{user[0].upper()}{user[1:]} needs a package that is not installed ({reason}): pip install penstock[{extra}]"
    )
