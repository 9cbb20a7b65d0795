"""Rows of CSV as records: Arrow reads columns of texts, and Python the rows where Arrow stops."""

from __future__ import annotations

import csv
import io
import re
from codecs import BOM_UTF8
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
import pyarrow as pa
import pyarrow.csv as pacsv

from penstock.lift.columns import Column, Ints, strings
from penstock.lift.records.reference_values import Records, ReferenceValues

__all__ = ["CsvRecords", "read_document", "read_messages"]


_NOT_UTF_8 = re.compile("[\udc80-\udcff]")


@dataclass(frozen=True, slots=True)
class CsvRecords(Records):
    """Rows with a text or NULL in each column. An empty cell is no value."""

    columns: dict[str, pa.StringArray]
    messages: Ints

    def find(self, references: Sequence[Any]) -> list[ReferenceValues]:
        return [ReferenceValues.plain(self._column(name)) for name in references]

    def _column(self, name: str) -> Column:
        texts = self.columns.get(name)
        if texts is None:
            return Column.empty()
        rows = np.flatnonzero(texts.is_valid().to_numpy(zero_copy_only=False))
        return Column(rows, texts if len(rows) == len(texts) else texts.take(rows))

    def names(self) -> list[str]:
        return list(self.columns)


def read_document(data: bytes) -> tuple[CsvRecords, dict[int, str]]:
    """The rows below a header, numbered from 0, and the reasons why some are none."""
    data = data.removeprefix(BOM_UTF8)
    try:
        return _by_arrow(data), {}
    except (pa.ArrowInvalid, pa.ArrowKeyError):
        rows, reasons = _rows(data)
        reasons = {max(0, place - 1): reason for place, reason in reasons.items()}
        return _records(rows[0] if rows else [], rows[1:], reasons), reasons


def read_messages(messages: Sequence[bytes], header: str | None) -> tuple[CsvRecords, dict[int, str]]:
    """A row from each message: all it has if the `header` is given, else the row below a header of its own."""
    if header is not None and not any(b'"' in message or b"\n" in message or not message for message in messages):
        lines = b"\n".join([header.encode(), *messages])
        if b"\r" not in lines:
            return read_document(lines)
    names: list[str] | None = None if header is None else next(csv.reader([header]))
    records: list[list[str]] = []
    reasons: dict[int, str] = {}
    for number, message in enumerate(messages):
        rows, problems = _rows(message.removeprefix(BOM_UTF8))
        names = names or (rows[0] if rows else None)
        body = rows if header is not None else rows[1:]
        if problems or len(body) != 1:
            reasons[number] = next(iter(problems.values()), f"the message has {len(body)} rows of CSV, and not one")
        elif header is None and rows[0] != names:
            reasons[number] = (
                f"the header is {','.join(rows[0])}, and that of the first message {','.join(names or [])}"
            )
        records.append(body[0] if number not in reasons else [])
    return _records(names or [], records, reasons), reasons


def _by_arrow(data: bytes) -> CsvRecords:
    header = next(csv.reader([data.split(b"\n", 1)[0].decode()]), [])
    if len(set(header)) < len(header) or not header:
        raise pa.ArrowInvalid("names of columns are not unique")
    table = pacsv.read_csv(
        io.BytesIO(data),
        pacsv.ReadOptions(use_threads=False, block_size=max(1 << 20, len(data) + 1)),
        pacsv.ParseOptions(newlines_in_values=True, ignore_empty_lines=True),
        pacsv.ConvertOptions(
            column_types=dict.fromkeys(header, pa.string()),
            null_values=[""],
            strings_can_be_null=True,
            quoted_strings_can_be_null=True,
        ),
    )
    columns = {name: cast(pa.StringArray, table.column(name).combine_chunks()) for name in header}
    return CsvRecords(columns, np.arange(table.num_rows))


def _rows(data: bytes) -> tuple[list[list[str]], dict[int, str]]:
    """The rows that are not empty, and by their places the reasons why some are wrong, or why they end early."""
    rows: list[list[str]] = []
    reasons: dict[int, str] = {}
    try:
        for row in csv.reader(io.StringIO(data.decode(errors="surrogateescape"), ""), strict=True):
            if row and (wrong := _NOT_UTF_8.search("".join(row))):
                reasons[len(rows)] = f"not UTF-8: byte 0x{ord(wrong[0]) & 0xFF:02x}"
            if row:
                rows.append(row)
    except csv.Error as error:
        reasons[len(rows)] = f"not CSV: {error}"
        rows.append([])
    return rows, reasons


def _records(names: list[str], rows: list[list[str]], reasons: dict[int, str]) -> CsvRecords:
    """The rows as columns; one with another number of cells than the header has none, and a reason."""
    for number, row in enumerate(rows):
        if number not in reasons and len(row) != len(names):
            reasons[number] = f"the row has {len(row)} cells, and the header {len(names)}"
    kept = [[] if number in reasons else row for number, row in enumerate(rows)]
    columns = {name: strings([row[place] or None if row else None for row in kept]) for place, name in enumerate(names)}
    return CsvRecords(columns, np.arange(len(rows)))
