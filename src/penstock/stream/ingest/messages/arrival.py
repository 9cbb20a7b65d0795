"""Messages of one partition on their way to elements: what the formats need to know of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from penstock.io.graphs import PROPERTIES, Properties
from penstock.io.nquads import scope
from penstock.lift.lifting import Lifting
from penstock.options import StreamTime
from penstock.stream.ingest.dead_letters import Malformed
from penstock.stream.ingest.messages.message import Message
from penstock.tuning import DEFAULT, Tuning

__all__ = ["Arrival", "by_line", "no_element"]

_NO_TIME = "the broker has given the message no time"


@dataclass(frozen=True, slots=True)
class Arrival:
    """The stream and the batch of some messages, their number in it, and how to read them.

    `clock` is the clock's time when they came. `time` says where the times of their elements come from (None: as the
    format has it), `properties` are those with a time, and `lifting` the mapping of messages that are not RDF.
    """

    stream: str
    batch: str
    number: int
    clock: int
    time: StreamTime | None = None
    properties: Properties = PROPERTIES
    lifting: Lifting | None = None
    tuning: Tuning = DEFAULT
    declared: bool = False  # whether the properties are, or are the usual ones

    def labels(self, place: int | str) -> str:
        """The prefix of blank nodes' labels of the message at that place: of no other message."""
        return scope(f"{self.stream} {self.batch} {self.number}.{place}")

    def stamps(self, messages: Sequence[Message]) -> tuple[list[Message], list[int], list[Malformed]]:
        """The messages with the times that they have from outside, and those that should have one and do not."""
        if self.time != "broker":
            return list(messages), [self.clock] * len(messages), []
        timed = [message for message in messages if message.time is not None]
        bad = [no_element(message, self.stream, _NO_TIME) for message in messages if message.time is None]
        return timed, [message.time for message in timed if message.time is not None], bad


def no_element(message: Message, stream: str, reason: str, line: int = 1) -> Malformed:
    """A message that holds no element, as a dead letter."""
    return Malformed(message.place or stream, line, message.payload.decode(errors="replace").rstrip("\r\n"), reason)


def by_line(messages: Sequence[Message]) -> list[Message]:
    """A message for each line that is not empty."""
    return [
        message._replace(payload=line) for message in messages for line in message.payload.splitlines() if line.strip()
    ]
