"""The result of lifting: a table of elements, and the messages that could not be lifted."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

import numpy as np
import pyarrow as pa

from penstock.io.columns import ELEMENTS, LOGGED
from penstock.lift.columns import Ints
from penstock.lift.message_references import MessageReference, Origin, values_of_messages
from penstock.lift.records.reference_values import ReferenceValues

__all__ = ["MESSAGE", "Batch", "Failure", "Failures", "Lifted", "Triples", "assemble"]

MESSAGE = "message"


@dataclass(frozen=True, slots=True)
class Failure:
    """A message that was not lifted, by its number, and the reason."""

    message: int
    reason: str


@dataclass(frozen=True, slots=True)
class Lifted:
    """The elements of a batch, by message, and the failures.

    `table` has the encoded terms s, p and o, and g if some are in a graph; the number of the `message` of each; and
    its time `ts` in microseconds since 1970 if times are declared. A message is lifted whole or not at all. `messages`
    were read, the `first` of which has that number. `absent` are sentences about references that found nothing.
    """

    table: pa.Table
    failures: Sequence[Failure] = ()
    absent: Sequence[str] = ()
    messages: int = 0
    first: int = 0

    def elements(self, stamps: int | Ints | None = None) -> pa.Table:
        """The columns of a stream's elements. Without declared times, `stamps` has one for all elements or, by the
        place of their message in the batch, one for each message."""
        table = self.table
        if "ts" not in table.column_names:
            if stamps is None:
                raise ValueError("the mapping declares no time, so stamps are needed")
            rows = table.column(MESSAGE).to_numpy() if not isinstance(stamps, int) else None
            ts = np.full(table.num_rows, stamps, np.int64) if rows is None else np.asarray(stamps)[rows - self.first]
            table = table.append_column(ELEMENTS.field("ts"), pa.array(ts, pa.int64()))
        names = [name for name in LOGGED.names if name in table.column_names]
        return table.select(names)


class Failures:
    """The first reason of each message of a batch that cannot be lifted."""

    def __init__(self) -> None:
        self.reasons: dict[int, str] = {}

    def add(self, messages: Ints, reason: str) -> None:
        """Add a reason for some messages."""
        for message in messages.tolist():
            self.reasons.setdefault(message, reason)

    def add_all(self, reasons: dict[int, str], first: int) -> None:
        """The reasons of messages by their places in the batch, the first of which has this number."""
        for place, reason in reasons.items():
            self.reasons.setdefault(first + place, reason)


@dataclass(frozen=True, slots=True)
class Batch:
    """The state of one batch beside the plan and the triples: labels, what the broker says of each message, failures,
    references without a value."""

    first: int = 0
    labels: str = ""
    origins: Sequence[Origin] = ()
    failures: Failures = field(default_factory=Failures)
    present: set[object] = field(default_factory=set)
    missing: dict[object, str | None] = field(default_factory=dict)

    def find(self, reference: MessageReference, messages: Ints) -> ReferenceValues:
        """The values of a reference for records, each of which is in the message with its number."""
        column = values_of_messages(reference, messages, self.origins, self.first, self.failures.add)
        return ReferenceValues.plain(column)

    def note(self, reference: object, has_values: bool, suggestion: Callable[[], str | None]) -> None:
        """Remember whether a reference has found something."""
        if has_values:
            self.present.add(reference)
        elif reference not in self.missing:
            self.missing[reference] = suggestion()

    def absent(self) -> list[str]:
        """A sentence for each reference that has found nothing at all."""
        return [
            f"{reference} occurs in no message" + (f"; {hint}" if hint else "")
            for reference, hint in self.missing.items()
            if reference not in self.present
        ]


@dataclass(frozen=True, slots=True)
class Triples:
    """Columns of triples: the message and record of each, its terms, and where they are known its graph and time."""

    messages: Ints
    records: Ints
    s: pa.StringArray
    p: pa.StringArray
    o: pa.StringArray
    g: pa.StringArray | None = None
    ts: Ints | None = None


def assemble(parts: Sequence[Triples], failures: Failures, *, timed: bool) -> pa.Table:
    """One table of all triples of messages that did not fail, by message."""
    parts = [part for part in parts if len(part.messages)]
    schema = pa.schema([ELEMENTS.field(name) for name in "spo"])
    if any(part.g is not None for part in parts):
        schema = schema.append(LOGGED.field("g"))
    if timed:
        schema = schema.append(ELEMENTS.field("ts"))
    schema = schema.append(pa.field(MESSAGE, pa.int64()))
    if not parts:
        return schema.empty_table()
    columns = [_column(parts, field.name) for field in schema]
    return _in_order(pa.Table.from_arrays(columns, schema=schema), failures)


def _column(parts: Sequence[Triples], name: str) -> pa.Array[Any]:
    if name == MESSAGE:
        return pa.array(np.concatenate([part.messages for part in parts]), pa.int64())
    if name == "ts":
        return pa.array(np.concatenate([cast(Ints, part.ts) for part in parts]), pa.int64())
    if name == "g":
        return pa.concat_arrays(
            [pa.nulls(len(part.messages), pa.string()) if part.g is None else part.g for part in parts]
        )
    return pa.concat_arrays([getattr(part, name) for part in parts])


def _in_order(table: pa.Table, failures: Failures) -> pa.Table:
    """The rows by message, those of one in the order of the parts, without messages that failed."""
    messages = table.column(MESSAGE).to_numpy()
    order = np.argsort(messages, kind="stable")
    if failures.reasons:
        order = order[~np.isin(messages[order], list(failures.reasons))]
    elif len(order) < 2 or (messages[1:] >= messages[:-1]).all():
        return table
    return table.take(order)
