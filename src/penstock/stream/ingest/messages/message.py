"""A message of a source: its payload, and what a broker says of it."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Message"]


@dataclass(frozen=True, slots=True)
class Message:
    """A payload in the stream's format, and where it came from.

    `key`, `headers` and `topic` (or subject) are as the broker has them; names of headers are in lower case. `time` is
    the broker's, in microseconds since 1970. Messages of one `partition` are in order; None: the source has none.
    `place` tells a person where the message was, as in "orders/0@17".
    """

    payload: bytes
    key: bytes | None = None
    headers: tuple[tuple[str, bytes], ...] = ()
    topic: str | None = None
    time: int | None = None
    partition: str | None = None
    place: str | None = None

    @property
    def size(self) -> int:
        """About the bytes that it takes."""
        return len(self.payload) + len(self.key or b"") + sum(len(value) for _, value in self.headers)
