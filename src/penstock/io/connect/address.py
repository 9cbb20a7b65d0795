"""Addresses of connectors: one text, with the options in it.

    kafka://broker-1:9092,broker-2:9092/orders?start=earliest
    poll+https://example.org/posts?page=1#interval=10s

Behind `+` there is the URL of a resource, whose query is its own: there, and for ws:// and wss://, options are in the
fragment. A mapping with an "address" and options, as a file of TOML has it, is the same as the text.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote, unquote

from penstock.errors import OptionError

__all__ = ["Address", "address_text"]

_SAFE = "/:,$@{}*+#-._~"
_RESOURCES = ("ws", "wss")


@dataclass(frozen=True, slots=True)
class Address:
    """An address in its parts: `place` is all before the path, as HOST:PORT; options are texts by name."""

    kind: str
    place: str
    path: str
    options: Mapping[str, str]
    resource: str = ""  # the URL of a resource, without the options

    @classmethod
    def parse(cls, kind: str, rest: str) -> Address:
        """The address of a connector from the part behind its kind: behind `://`, or behind `+`."""
        is_resource = "://" in rest or kind in _RESOURCES
        bare, _, options = rest.partition("#" if is_resource else "?")
        resource = bare if "://" in bare else f"{kind}://{bare}" if is_resource else ""
        place, _, path = bare.partition("://")[2].partition("/") if "://" in bare else bare.partition("/")
        _refuse_password(kind, place)
        return cls(kind, place, path if is_resource else unquote(path), _options(kind, options), resource)

    @property
    def text(self) -> str:
        """The address without its options, to show."""
        if self.resource:
            return self.resource if self.resource.startswith(f"{self.kind}://") else f"{self.kind}+{self.resource}"
        return f"{self.kind}://{self.place}/{self.path}" if self.path else f"{self.kind}://{self.place}"

    def host_and_port(self, default: int) -> tuple[str, int]:
        """The place as a host and a port, which may be left out; an IPv6 address is in brackets."""
        host, colon, port = self.place.rpartition(":")
        if not colon or self.place.endswith("]"):
            host, port = self.place, str(default)
        if not host or not port.isdecimal() or not 0 < int(port) < 65536:
            raise OptionError(f"{self.kind}: {self.place or 'nothing'} is no HOST:PORT")
        return host.strip("[]"), int(port)


def address_text(spec: Mapping[str, Any]) -> str:
    """The text of a mapping with an "address" and options beside it."""
    if not isinstance(address := spec.get("address"), str):
        raise OptionError(
            'a mapping for a source or sink has an "address", as in {"address": "kafka://HOST:9092/TOPIC"}'
        )
    others = {name: value for name, value in spec.items() if name != "address"}
    scheme = address.partition("://")[0]
    mark = "#" if "+" in scheme or scheme in _RESOURCES else "?"
    given = _options(scheme, address.partition(mark)[2])
    if twice := sorted(given.keys() & others.keys()):
        raise OptionError(f"{scheme}: the option {twice[0]} is in the address and beside it: give it once")
    texts = [f"{quote(name)}={quote(_text(name, value), safe=_SAFE)}" for name, value in others.items()]
    joint = "" if not texts else "&" if given else mark
    return f"{address}{joint}{'&'.join(texts)}"


def _text(name: str, value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str | int | float):
        return str(value)
    if isinstance(value, list | tuple):
        return ",".join(_text(name, one) for one in value)
    raise OptionError(f"the option {name} is a text, a number, true or false, or a list of these, not {value!r}")


def _options(kind: str, text: str) -> dict[str, str]:
    options: dict[str, str] = {}
    for pair in filter(None, text.split("&")):
        name, given, value = pair.partition("=")
        if not given:
            raise OptionError(f"{kind}: the option {name} has no value: write {name}=…")
        if unquote(name) in options:
            raise OptionError(f"{kind}: the option {unquote(name)} is given twice")
        options[unquote(name)] = unquote(value)
    return options


def _refuse_password(kind: str, place: str) -> None:
    if "@" in place:
        raise OptionError(
            f"{kind}: an address is stored, so it has neither user nor password: give the options username=… and "
            "password=${env:NAME} or ${file:PATH}"
        )
