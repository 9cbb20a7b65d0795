"""Options of connectors: a dataclass names them, and its types say which values they can have.

    @dataclass(frozen=True, slots=True)
    class KafkaOptions:
        start: Literal["earliest", "latest"] = "latest"
        username: Secret | None = None
        password: Secret | None = field(default=None, metadata=SECRET)
        interval: Microseconds = 1_000_000
        client: Mapping[str, Secret] = field(default_factory=dict)      # all options with a dot in their names

A field without a default has to be given. Every error names the option, and the one that was perhaps meant.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import MISSING, Field, fields
from difflib import get_close_matches
from types import MappingProxyType, NoneType, UnionType
from typing import Any, Final, Literal, NewType, TypeVar, Union, get_args, get_origin, get_type_hints

from penstock.errors import OptionError
from penstock.io.connect.secrets import REFERENCE, Secret

__all__ = ["SECRET", "Microseconds", "read_options"]

SECRET: Final[Mapping[str, bool]] = MappingProxyType({"secret": True})
"""The metadata of a field whose value has to be a reference, since the address is stored."""
Microseconds = NewType("Microseconds", int)
"""A duration, written as 10s or 500ms."""

_UNITS = {"us": 1, "ms": 1_000, "s": 1_000_000, "m": 60_000_000, "min": 60_000_000, "h": 3_600_000_000}
_DURATION = re.compile(r"(\d+(?:\.\d+)?)\s*([a-z]+)")
_SOUNDS_SECRET = re.compile(r"pass|secret|token|key(?!\.location)|credential", re.IGNORECASE)
_TRUTH = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}

Options = TypeVar("Options")


def read_options(kind: str, cls: type[Options], given: Mapping[str, str]) -> Options:
    """The options of a connector from their texts; an `OptionError` names the option that is wrong."""
    known = {field.name: field for field in fields(cls)}  # type: ignore[arg-type]
    types = get_type_hints(cls)
    more = next((name for name, of in types.items() if get_origin(of) is Mapping), None)
    values: dict[str, Any] = {}
    dotted: dict[str, Secret] = {}
    for name, text in given.items():
        if name in known and name != more:
            values[name] = _value(kind, known[name], types[name], text)
        elif more is not None and "." in name:
            dotted[name] = _reference(kind, name, text, needed=bool(_SOUNDS_SECRET.search(name)))
        else:
            raise OptionError(_unknown(kind, name, [one for one in known if one != more]))
    if more is not None:
        values[more] = dotted
    if missing := [name for name, field in known.items() if name not in values and _is_needed(field)]:
        raise OptionError(f"{kind}: the option {missing[0]} is missing")
    return cls(**values)


def _is_needed(field: Field[Any]) -> bool:
    return field.default is MISSING and field.default_factory is MISSING


def _unknown(kind: str, name: str, known: list[str]) -> str:
    near = get_close_matches(name, known, n=1)
    guess = f"did you mean {near[0]}? " if near else ""
    return f"{kind}: there is no option {name}: {guess}there are {', '.join(known) or 'none'}"


def _value(kind: str, field: Field[Any], of: Any, text: str) -> Any:
    """The value of an option of a type."""
    if get_origin(of) in (Union, UnionType):
        of = next(one for one in get_args(of) if one is not NoneType)
    if of is Secret:
        return _reference(kind, field.name, text, needed=bool(field.metadata.get("secret")))
    if REFERENCE.search(text):
        raise OptionError(f"{kind}: the option {field.name} is no secret: write it out, and not as {text}")
    try:
        return _READERS[of](text) if of in _READERS else _choice(of, text)
    except ValueError as error:
        raise OptionError(f"{kind}: the option {field.name} is {error}, not {text!r}") from None


def _reference(kind: str, name: str, text: str, *, needed: bool) -> Secret:
    if needed and not REFERENCE.fullmatch(text):
        raise OptionError(f"{kind}: the option {name} would be stored: refer to it, as ${{env:NAME}} or ${{file:PATH}}")
    return Secret(text)


def _choice(of: Any, text: str) -> Any:
    if get_origin(of) is Literal:
        if text in get_args(of):
            return text
        raise ValueError(f"one of {', '.join(map(str, get_args(of)))}")
    if get_origin(of) is tuple:
        return tuple(part.strip() for part in text.split(",") if part.strip())
    raise TypeError(f"no option can be of {of}")


def _duration(text: str) -> Microseconds:
    match = _DURATION.fullmatch(text.strip())
    if match is None or match[2] not in _UNITS:
        raise ValueError("a duration such as 10s or 500ms")
    return Microseconds(round(float(match[1]) * _UNITS[match[2]]))


def _whole(text: str) -> int:
    if not text.strip().lstrip("-").isdecimal():
        raise ValueError("a whole number")
    return int(text)


def _truth(text: str) -> bool:
    if text.lower() not in _TRUTH:
        raise ValueError("true or false")
    return _TRUTH[text.lower()]


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise ValueError("a number") from None


_READERS: dict[Any, Callable[[str], Any]] = {
    str: str, int: _whole, float: _number, bool: _truth, Microseconds: _duration,
}  # fmt: skip
