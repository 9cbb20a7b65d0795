"""A message of a source: its payload, and what a broker says of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

__all__ = ["Message", "total_size"]


class Message(NamedTuple):
    """A payload in the stream's format, and where it came from.

    `key`, `headers` and `topic` (or subject) are as the broker has them; names of headers are in lower case. `time` is
    the broker's, in microseconds since 1970. Messages of one `partition` are in order; None: the source has none.
    `place` tells a person where the message was, as in "orders/0@17".
    A tuple is made in a quarter of a dataclass's time.
    """

    payload: bytes
    key: bytes | None = None
    headers: tuple[tuple[str, bytes], ...] = ()
    topic: str | None = None
    time: int | None = None
    partition: str | None = None
    place: str | None = None


def total_size(messages: Sequence[Message]) -> int:
    """About the bytes that messages take."""
    more = [len(message.key or b"") + sum(len(value) for _, value in message.headers)
            for message in messages if message.key or message.headers]  # fmt: skip
    return sum([len(message.payload) for message in messages]) + sum(more)
