"""The protocol of live sources: they bring messages to the log, with their position, until they are stopped.

    source ──accept(messages, position)──► one durable append: the elements, and the position
           ◄──start(accept, clock, position)── after a restart, the position that was appended last

So a message is in the log if and only if the position behind it is: none is lost, and none comes twice.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol, TypeAlias, runtime_checkable

from penstock.stream.base.clock import Clock
from penstock.stream.ingest.messages.message import Message
from penstock.stream.log.source_positions import SourcePosition

__all__ = ["BEGINNING", "Accept", "Message", "Positions", "Source", "SourcePosition"]

Positions: TypeAlias = Mapping[str, SourcePosition]
"""By partition, the position from which to continue, as JSON. A source without partitions has one that is named ""."""

BEGINNING: Positions = {}
"""No position is stored."""


class Accept(Protocol):
    """Takes what a source has read. Any thread may call it."""

    def __call__(self, messages: Sequence[Message], position: Positions = BEGINNING) -> int:
        """Return when the messages are durable, with their number, together with the positions behind them.

        Of partitions that are not named the position stays. Positions without messages are stored as well: by these a
        source says which partitions there are, since one that has brought nothing holds back the watermark too. While
        the stream is full this waits.
        """

    @property
    def is_full(self) -> bool:
        """Whether a call would wait. A source whose client has to be asked all the time pauses it instead."""


@runtime_checkable
class Source(Protocol):
    """A live source. It is made from the part of its spec after `://`, and connects to nothing before `start`."""

    @property
    def name(self) -> str | None:
        """The name under which the log stores its positions; None: it has neither positions nor partitions."""

    @property
    def message(self) -> str | None:
        """The problem of the source in one sentence, or None."""

    def start(self, accept: Accept, clock: Clock, position: Positions = BEGINNING) -> None:
        """Begin to call `accept`, in a thread of its own, from the stored position on. `start` may follow `stop`."""

    def stop(self) -> None:
        """Give `accept` all that has been read, then end. Nothing is given after this returns."""
