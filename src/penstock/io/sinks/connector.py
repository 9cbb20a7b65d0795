"""The base of sinks that are extras: an address with options, a client that may be missing, and repeated batches.

A connector is a class with four names and `send`, in a file of its own, and a row in the table of `sinks/__init__.py`.
The position is the number of batches. A batch that is delivered again after a crash has the same query and number:
a sink that can look these up delivers it once, and any other one sends them along, so that a reader can drop doubles.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from penstock.errors import StoreError
from penstock.io.connect.connector import AddressedConnector
from penstock.io.connect.secrets import hidden
from penstock.io.sinks.answer_formats import AnswerFormat, encoder
from penstock.io.sinks.sink import Batch, Position

__all__ = ["AnswerFormat", "SinkConnector", "SinkOptions", "encoder"]


@dataclass(frozen=True, slots=True)
class SinkOptions:
    """The options that every sink with messages has."""

    format: AnswerFormat = "ndjson"


class SinkConnector(AddressedConnector):
    """A `Sink` with an `address` and `options`.

    `kind` is the scheme, `client` the module of the client and `extra` the extra that installs it (None: it needs
    none), `Options` the dataclass of the options. Overwrite `send`, `close`, and where a repeated batch can be looked
    up `rewind`; an error of a client becomes one sentence without secrets.
    """

    role = "sink"
    Options: ClassVar[type[Any]] = SinkOptions

    def __init__(self, address: str) -> None:
        self.read_address(address)
        self.check()

    def send(self, batch: Batch) -> None:
        """Deliver the batch, for good when this returns."""
        raise NotImplementedError

    def begin(self) -> Position:
        """See `Sink.begin`."""
        return 0

    def rewind(self, position: Position) -> None:
        """See `Sink.rewind`. What was sent cannot be taken back: readers know it by query and number."""

    def deliver(self, batch: Batch) -> Position:
        """See `Sink.deliver`."""
        try:
            self.send(batch)
        except Exception as error:
            raise StoreError(f"{self.address.text}: {hidden(str(error)) or type(error).__name__}") from None
        return batch.number + 1

    def close(self) -> None:
        """See `Sink.close`."""
