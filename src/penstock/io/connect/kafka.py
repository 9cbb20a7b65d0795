"""Kafka's client: its settings, its topics, and what it says when something is wrong."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Any, Final

from penstock.errors import OptionError
from penstock.io.connect.address import Address
from penstock.io.connect.secrets import Secret

__all__ = ["TIMEOUT", "Problems", "Topics", "check_settings", "said", "settings"]

TIMEOUT: Final = 5.0  # seconds for an answer of a broker
_TIMES = re.compile(r"\s*\(after \d+ms[^()]*\)|\s*\(_[A-Z_]+\)")  # these differ from attempt to attempt
_NODE = re.compile(r"^\S+/(?:bootstrap|\d+): ")
_DOWN = {"_ALL_BROKERS_DOWN", "_AUTHENTICATION", "_SSL", "_RESOLVE"}
_REFUSED = {"_AUTHENTICATION", "_SSL"}
_CLEARER = {
    "certificate verify failed": "the certificate of the broker is not valid: it has expired, is for another host, or "
    "its authority is not in ssl.ca.location",
}
_QUIET = 2  # the client writes to standard error by itself; what it has to say comes through `Problems` too


def settings(address: Address, own: Mapping[str, Secret], fixed: Mapping[str, object]) -> dict[str, Any]:
    """The settings of a client: the brokers of an address, the user's own, with secrets, and those that are fixed."""
    given = {name: secret.reveal() for name, secret in own.items()}
    return {"log_level": _QUIET, **given, "bootstrap.servers": address.place, **fixed}


def check_settings(address: Address, own: Mapping[str, Secret], fixed: Iterable[str]) -> None:
    """Raise an `OptionError` if there is no broker, or a setting is the user's that exactly-once depends on."""
    if not address.place:
        raise OptionError("kafka: which broker? Write kafka://HOST:9092/TOPIC")
    if not address.path.strip(","):
        raise OptionError(f"kafka: which topic? Write {address.text.rstrip('/')}/TOPIC")
    if taken := sorted(own.keys() & {*fixed, "bootstrap.servers"}):
        raise OptionError(f"kafka: the option {taken[0]} cannot be set, since nothing lost and nothing twice needs it")


@dataclass(slots=True)
class Problems:
    """Notes what a client says of its connections; it is the client's `error_cb`."""

    reason: str | None = None
    down: bool = False
    refused: bool = False

    def __call__(self, error: Any) -> None:
        if error.name() != "_ALL_BROKERS_DOWN" or self.reason is None:
            self.reason, self.refused = said(error), error.name() in _REFUSED
        self.down = self.down or error.name() in _DOWN

    def of(self, error: Any) -> str:
        """The sentence of an error: where no broker answers, the reason that the client has told before."""
        unanswered = error.args and getattr(error.args[0], "name", str)() in ("_TRANSPORT", "_TIMED_OUT")
        what = "no connection" if self.refused else "no broker answers"
        return f"{what}: {self.reason}" if unanswered and self.reason else said(error)

    def clear(self) -> None:
        """Forget it: the brokers have answered."""
        self.reason, self.down, self.refused = None, False, False


def said(error: Any) -> str:
    """The text of an error, or of an exception with one, without the client's names of nodes and times."""
    inner = error.args[0] if getattr(error, "args", ()) else error
    text = inner.str() if hasattr(inner, "str") else str(inner)
    clearer = next((sentence for mark, sentence in _CLEARER.items() if mark in text), None)
    return clearer or _NODE.sub("", _TIMES.sub("", text)).strip()


@dataclass(frozen=True, slots=True)
class Topics:
    """Topics by name, or by a regular expression for whole names, which begins with ^ as in Kafka's own clients."""

    names: tuple[str, ...] = ()
    pattern: re.Pattern[str] | None = field(default=None)

    @classmethod
    def parse(cls, path: str) -> Topics:
        """The topics of the path of an address; an `OptionError` says why it is none."""
        if not path.startswith("^"):
            return cls(tuple(dict.fromkeys(name for name in path.split(",") if name)))
        try:
            return cls(pattern=re.compile(path))
        except re.error as error:
            raise OptionError(f"kafka: {path} is no regular expression: {error}") from None

    def chosen(self, there: Iterable[str]) -> list[str]:
        """Those that are there; a pattern never means Kafka's own, which begin with two underscores."""
        if self.pattern is None:
            return sorted(set(self.names) & set(there))
        return sorted(name for name in there if self.pattern.fullmatch(name) and not name.startswith("__"))

    def missing(self, there: Iterable[str]) -> str | None:
        """A sentence about a topic that is not there."""
        names = list(there)
        if self.pattern is not None:
            return None if self.chosen(names) else f"no topic is like {self.pattern.pattern}"
        absent = [name for name in self.names if name not in names]
        near = get_close_matches(absent[0], names, n=1) if absent else []
        guess = f" (did you mean {near[0]}?)" if near else ""
        return f"there is no topic {absent[0]}{guess}" if absent else None
