"""Whether a value of TOML fits the type of a parameter, and the types in words."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import is_dataclass
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin

__all__ = ["choices", "fits", "in_words"]

_PLAIN = {bool: "true or false", int: "a whole number", float: "a number", str: "a text"}
_ORIGINS = {Mapping: "a table", Sequence: "a list", Collection: "a list"}


def fits(value: Any, of: Any) -> bool:
    """Whether the value can be given for a parameter of that type."""
    if get_origin(of) in (Union, UnionType):
        return any(fits(value, one) for one in get_args(of))
    if get_origin(of) is Literal:
        return value in get_args(of) and not isinstance(value, bool)
    if get_origin(of) is Mapping or is_dataclass(of):
        return isinstance(value, dict)
    if get_origin(of) in (Sequence, Collection):
        return isinstance(value, list) and all(fits(one, get_args(of)[0]) for one in value)
    if of is float:
        return isinstance(value, int | float) and not isinstance(value, bool)
    return of in _PLAIN and type(value) is of


def in_words(of: Any) -> str:
    """The values that fit a type, as in "a text or a list"."""
    return " or ".join(dict.fromkeys(filter(None, _words(of))))


def choices(of: Any) -> list[str]:
    """The words that a parameter can be."""
    if get_origin(of) is Literal:
        return [one for one in get_args(of) if isinstance(one, str)]
    return [one for part in get_args(of) for one in choices(part)] if get_origin(of) in (Union, UnionType) else []


def _words(of: Any) -> list[str]:
    if get_origin(of) in (Union, UnionType):
        return [word for one in get_args(of) if one is not NoneType for word in _words(one)]
    if get_origin(of) is Literal:
        return [f"one of {', '.join(map(str, get_args(of)))}"]
    return ["a table" if is_dataclass(of) else _ORIGINS.get(get_origin(of), "") or _PLAIN.get(of, "")]
