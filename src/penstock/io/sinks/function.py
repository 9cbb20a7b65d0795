"""A function as a sink."""

from __future__ import annotations

from collections.abc import Callable

from penstock.answer import Answer
from penstock.io.sinks.sink import Batch, Position

__all__ = ["FunctionSink"]


class FunctionSink:
    """Calls a function with each answer.

    A call cannot be undone: an answer whose batch was interrupted by a crash comes again, with the same
    `query` and `time`.
    """

    def __init__(self, function: Callable[[Answer], object]) -> None:
        self._function = function

    def begin(self) -> Position:
        """See `Sink.begin`."""
        return None

    def rewind(self, position: Position) -> None:
        """See `Sink.rewind`."""

    def deliver(self, batch: Batch) -> Position:
        """See `Sink.deliver`."""
        for answer in batch.answers:
            self._function(answer)
        return None

    def close(self) -> None:
        """See `Sink.close`."""
