"""Rows of CSV: Arrow and Python read the same."""

from __future__ import annotations

import csv
import io

from hypothesis import given
from hypothesis import strategies as st

from penstock.lift.records.csv_records import CsvRecords, read_document, read_messages

CELLS = st.text(st.characters(codec="utf-8", exclude_characters="\x00\r"), max_size=5) | st.sampled_from(
    ["", '"', ",", "\n", " ", "é", "NULL", "nan", "1.50"]
)


def rows_of(records: CsvRecords) -> list[list[str | None]]:
    columns = [column.to_pylist() for column in records.columns.values()]
    return [list(row) for row in zip(*columns, strict=True)]


@given(st.lists(st.lists(CELLS, min_size=3, max_size=3).filter(any), max_size=5))
def test_what_was_written_is_read(rows: list[list[str]]) -> None:
    text = io.StringIO()
    csv.writer(text).writerows([["a", "b", "c"], *rows])
    records, reasons = read_document(text.getvalue().encode())
    assert not reasons
    assert rows_of(records) == [[cell or None for cell in row] for row in rows]


@given(st.lists(st.lists(CELLS, min_size=2, max_size=2).filter(any), min_size=1, max_size=5))
def test_messages_of_single_rows(rows: list[list[str]]) -> None:
    messages = []
    for row in rows:
        text = io.StringIO()
        csv.writer(text).writerow(row)
        messages.append(text.getvalue().removesuffix("\r\n").encode())
    records, reasons = read_messages(messages, "a,b")
    assert not reasons
    assert rows_of(records) == [[cell or None for cell in row] for row in rows]


def test_messages_with_their_own_header() -> None:
    records, reasons = read_messages([b"a,b\n1,2\n", b"b,a\n3,4", b"a,b\n5,6\n7,8", b"a,b\n9,\xff"], None)
    assert rows_of(records)[0] == ["1", "2"]
    assert reasons == {
        1: "the header is b,a, and that of the first message a,b",
        2: "the message has 2 rows of CSV, and not one",
        3: "not UTF-8: byte 0xff",
    }


def test_a_row_that_is_not_utf_8_fails_alone() -> None:
    records, reasons = read_document(b"a,b\n1,2\n3,\xff\n5,6\n")
    assert rows_of(records) == [["1", "2"], [None, None], ["5", "6"]]
    assert reasons == {1: "not UTF-8: byte 0xff"}
