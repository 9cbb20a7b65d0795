"""The protocol of sinks, by which every answer is delivered exactly once, whatever happens between two lines of code.

After each batch the engine saves the sink's position together with the query's progress, in one step. When it comes
back after a crash it rewinds the sink to the position saved last: later output is removed, and its batch is delivered
again.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Protocol, TypeAlias, runtime_checkable

from penstock.answer import Answer

if TYPE_CHECKING:
    import pyarrow

__all__ = ["Batch", "Position", "Sink"]

Position: TypeAlias = int | str | None


class Batch(Protocol):
    """The answers of a query at some instants, in their order."""

    @property
    def query(self) -> str:
        """The name of the query. With the number it is a key by which a reader, or a sink, knows a repeated batch."""

    @property
    def number(self) -> int:
        """The number of batches that the query delivered before; one that is delivered again has the same number."""

    @property
    def instants(self) -> int:
        """The number of answers; 0 if only Spark knows, since they are not collected."""

    @property
    def size(self) -> int:
        """The number of rows, counting one for an answer that has none; they are fetched for that."""

    @property
    def answers(self) -> Iterator[Answer]:
        """An answer an instant, decoded one by one."""

    @property
    def rows(self) -> pyarrow.Table:
        """All rows: `time`, then a column of encoded terms a variable; s, p, o for a graph; `boolean` for ASK."""

    def write_parquet(self, folder: str) -> None:
        """The rows as Parquet files in a folder, which is replaced; written by Spark unless they are here already."""


@runtime_checkable
class Sink(Protocol):
    """The receiver of the answers of one query."""

    def begin(self) -> Position:
        """The position before the first answer. Called once, when the query is registered for the first time."""

    def rewind(self, position: Position) -> None:
        """Remove all deliveries after that position. Called before the first delivery of each process."""

    def deliver(self, batch: Batch) -> Position:
        """Keep the batch, for good when this returns, and say where that has led."""

    def close(self) -> None:
        """Let go of files. Closing twice is harmless."""
