"""References to what a broker says of a message beside its payload: `@topic`, `@topic.N`, `@key`, `@header.NAME`.

They stand where a reference to the payload may stand, in RML and in the templates of contexts. The topic is the subject
of NATS and the key of a Redis stream; its N-th level is counted from 1, between slashes or, where there are none, dots.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeVar

import numpy as np

from penstock.lift.columns import Column, Ints, strings
from penstock.syntax.suggest import did_you_mean

__all__ = ["MessageReference", "Origin", "Said", "reader", "values_of_messages"]

Parsed = TypeVar("Parsed")
_PATTERN = re.compile(r"@(?:(?P<topic>topic)(?:\.(?P<level>[1-9][0-9]{0,3}))?|(?P<key>key)|header\.(?P<header>\S+))")
_KNOWN = "@topic, @topic.N, @key and @header.NAME"


class Origin(Protocol):
    """What a broker says of a message. Names of headers are in lower case."""

    @property
    def topic(self) -> str | None: ...
    @property
    def key(self) -> bytes | None: ...
    @property
    def headers(self) -> tuple[tuple[str, bytes], ...]: ...


@dataclass(frozen=True, slots=True)
class Said:
    """An `Origin` that is given, to try a mapping."""

    topic: str | None = None
    key: bytes | None = None
    headers: tuple[tuple[str, bytes], ...] = ()


@dataclass(frozen=True, slots=True)
class MessageReference:
    """The topic, or with `level` one level of it; or the key; or the header of that name."""

    level: int | None = None
    key: bool = False
    header: str | None = None

    def __str__(self) -> str:
        if self.header is not None:
            return f"@header.{self.header}"
        return "@key" if self.key else "@topic" if self.level is None else f"@topic.{self.level}"

    def texts(self, origin: Origin) -> list[str]:
        """The values of a message; a `ValueError` if one is not text."""
        if self.header is not None:
            return [self._decoded(value) for name, value in origin.headers if name == self.header]
        if self.key:
            return [] if origin.key is None else [self._decoded(origin.key)]
        if origin.topic is None or self.level is None:
            return [] if origin.topic is None else [origin.topic]
        levels = origin.topic.split("/" if "/" in origin.topic else ".")
        return levels[self.level - 1 : self.level]

    def _decoded(self, value: bytes) -> str:
        try:
            return value.decode()
        except UnicodeDecodeError as error:
            place = f"byte 0x{value[error.start]:02x} at byte {error.start + 1}"
            raise ValueError(f"{self} of the message is not UTF-8: {place}") from None


def reader(parse: Callable[[str], Parsed], *, attributes: bool = False) -> Callable[[str], Parsed | MessageReference]:
    """The function that reads these references, and others by `parse`. A `ValueError` tells of an unknown one, unless
    @ begins the name of an attribute as well."""

    def read(text: str) -> Parsed | MessageReference:
        name = text.strip()
        if (match := _PATTERN.fullmatch(name)) is not None:
            header, level = match["header"], match["level"]
            return MessageReference(int(level) if level else None, bool(match["key"]), header and header.lower())
        if name.startswith("@") and not attributes:
            near = did_you_mean(name, ("@topic", "@key", "@header.NAME"))
            raise ValueError(f"a message has no {name}; there are {_KNOWN}" + (f"; {near}" if near else ""))
        return parse(text)

    return read


def values_of_messages(
    reference: MessageReference,
    messages: Ints,
    origins: Sequence[Origin],
    first: int,
    fail: Callable[[Ints, str], None],
) -> Column:
    """The values for records, each of which is in the message with its number; the first of all has that number."""
    if not len(origins):
        return Column.empty()
    numbers, places = np.unique(messages, return_inverse=True)
    found = list(_found(reference, numbers, origins, first, fail))
    counts = np.array([len(texts) for texts in found], np.int64)
    texts = strings([text for each in found for text in each])
    owners = counts[places]
    rows = np.repeat(np.arange(len(messages)), owners)
    starts = (np.cumsum(counts) - counts)[places]
    taken = np.arange(len(rows)) - np.repeat(np.cumsum(owners) - owners - starts, owners)
    return Column(rows, texts.take(taken))


def _found(
    reference: MessageReference, numbers: Ints, origins: Sequence[Origin], first: int, fail: Callable[[Ints, str], None]
) -> Iterator[list[str]]:
    for number in numbers.tolist():
        try:
            yield reference.texts(origins[number - first])
        except ValueError as error:
            fail(np.array([number]), str(error))
            yield []
