"""Secrets by reference: `${env:NAME}` is a variable of the environment, `${file:PATH}` the content of a file.

A reference is read when a connector connects. Its value is never stored, and `hidden` takes it out of whatever clients
say, so that it is in no status, error or log.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path

from penstock.errors import SetupError

__all__ = ["REFERENCE", "Secret", "hidden"]

REFERENCE = re.compile(r"\$\{(env|file):([^}]+)\}")
_SHORTEST = 3  # characters: shorter values would be found everywhere
_revealed: set[str] = set()


@dataclass(frozen=True, slots=True)
class Secret:
    """A text with references in it. It shows the references, and `reveal` reads them."""

    text: str

    def reveal(self) -> str:
        """The text with the values in it; a `SetupError` names a reference that leads nowhere."""
        return REFERENCE.sub(lambda found: _value(found[1], found[2]), self.text)

    def __str__(self) -> str:
        return self.text


def hidden(text: str) -> str:
    """The text without the values of secrets that have been read."""
    for value in sorted(_revealed, key=len, reverse=True):
        text = text.replace(value, "***")
    return text


def _value(kind: str, name: str) -> str:
    value = os.environ.get(name) if kind == "env" else _content(name)
    if value is None:
        raise SetupError(f"The secret ${{env:{name}}} cannot be read: there is no variable {name} in the environment.")
    if len(value) >= _SHORTEST:
        _revealed.add(value)
    return value


def _content(path: str) -> str:
    """The content of a file, without the newline that ends most."""
    try:
        return Path(path).expanduser().read_text("utf-8").removesuffix("\n")
    except (OSError, UnicodeDecodeError) as error:
        reason = (error.strerror if isinstance(error, OSError) else None) or "it is not text in UTF-8"
        raise SetupError(f"The secret ${{file:{path}}} cannot be read: {reason}.") from None
