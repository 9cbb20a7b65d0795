"""Timestamps as they may be written, by the kernels and one by one."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.io.nquads import parse
from penstock.io.nquads_fast import Block, read_block
from penstock.io.nquads_grammar import DATE_TIME, MOMENT, TIMED_LINES
from penstock.io.nquads_time import microseconds
from tests.support.terms import unhurried

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def moment(*parts: int) -> int:
    return (datetime(*parts, tzinfo=UTC) - EPOCH) // timedelta(microseconds=1)  # type: ignore[misc, arg-type]


def by_kernels(*texts: str) -> list[int]:
    lines = "".join(f'<a:s> <a:p> <a:o> "{text}"^^<{DATE_TIME}> .\n' for text in texts)
    times = read_block(Block.of(pa.py_buffer(lines.encode())), TIMED_LINES, "", timed=True).ts
    assert times is not None
    return [int(time) for time in times]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2009-07-20T22:48:52Z", moment(2009, 7, 20, 22, 48, 52)),
        ("2009-07-20T22:48:52", moment(2009, 7, 20, 22, 48, 52)),
        ("2009-07-20T22:48:52+02:00", moment(2009, 7, 20, 20, 48, 52)),
        ("2009-07-20T22:48:52-05:30", moment(2009, 7, 21, 4, 18, 52)),
        ("2009-07-20T22:48:52.5+14:00", moment(2009, 7, 20, 8, 48, 52, 500_000)),
        ("2009-07-20T22:48:52.1Z", moment(2009, 7, 20, 22, 48, 52, 100_000)),
        ("2009-07-20T22:48:52.123456999-14:00", moment(2009, 7, 21, 12, 48, 52, 123_456)),
        ("1969-12-31T23:59:59.9999999Z", -1),
        ("1969-12-31T23:59:59.0000001Z", -1_000_000),
        ("2008-02-29T00:00:00Z", moment(2008, 2, 29)),
        ("2000-02-29T00:00:00Z", moment(2000, 2, 29)),
        ("1582-10-10T00:00:00Z", moment(1582, 10, 10)),
        ("2999-12-31T23:59:59.999999Z", moment(2999, 12, 31, 23, 59, 59, 999_999)),
    ],
)
def test_moments(text: str, expected: int) -> None:
    assert microseconds(text) == expected
    assert by_kernels(text) == [expected]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2009-07-20T24:00:00Z", moment(2009, 7, 21)),
        ("2009-12-31T24:00:00.000+01:00", moment(2009, 12, 31, 23)),
        ("0001-01-01T00:00:00Z", moment(1, 1, 1)),
        ("9999-12-31T23:59:59.999999Z", moment(9999, 12, 31, 23, 59, 59, 999_999)),
    ],
)
def test_moments_that_the_kernels_leave(text: str, expected: int) -> None:
    assert microseconds(text) == expected
    assert by_kernels(text) == []


@pytest.mark.parametrize(
    ("text", "because"),
    [
        ("2009-02-29T00:00:00Z", "invalid date"),
        ("2100-02-29T00:00:00Z", "invalid date"),
        ("2009-04-31T00:00:00Z", "invalid date"),
        ("2009-13-01T00:00:00Z", "invalid date"),
        ("2009-00-01T00:00:00Z", "invalid date"),
        ("2016-12-31T23:59:60Z", "invalid time of day"),
        ("2009-07-20T24:00:01Z", "invalid time of day"),
        ("2009-07-20T24:00:00.1Z", "invalid time of day"),
        ("2009-07-20T25:00:00Z", "invalid time of day"),
        ("2009-07-20T22:60:00Z", "invalid time of day"),
        ("2009-07-20T22:48:52+14:01", "invalid time zone"),
        ("2009-07-20T22:48:52+01:60", "invalid time zone"),
        ("0000-01-01T00:00:00Z", "years 1 to 9999"),
        ("-0001-01-01T00:00:00Z", "years 1 to 9999"),
        ("12009-01-01T00:00:00Z", "years 1 to 9999"),
        ("0001-01-01T00:00:00+01:00", "years 1 to 9999"),
        ("9999-12-31T24:00:00Z", "years 1 to 9999"),
        ("2009-07-20", "not written like"),
        ("2009-07-20 22:48:52Z", "not written like"),
        ("2009-07-20T22:48Z", "not written like"),
        ("2009-07-20T22:48:52.Z", "not written like"),
        ("2009-07-20T22:48:52z", "not written like"),
        ("2009-07-20T22:48:52Z ", "not written like"),
        ("٢٠٠٩-07-20T22:48:52Z", "not written like"),
        ("1248130132", "not written like"),
    ],
)
def test_malformed_timestamps(text: str, because: str) -> None:
    with pytest.raises(ValueError, match=because):
        microseconds(text)
    assert by_kernels(text) == []


@pytest.mark.parametrize(
    "tail", ["", f"^^<{DATE_TIME}>", f"^^<{DATE_TIME}Stamp>", "^^<http://www.w3.org/2001/XMLSchema#string>"]
)
def test_types_of_timestamps(tail: str) -> None:
    parsed = parse(f'<a:s> <a:p> <a:o> "2009-07-20T22:48:52Z"{tail} .\n'.encode() * 100, "http://stream")
    assert parsed.elements["ts"].to_pylist() == [moment(2009, 7, 20, 22, 48, 52)] * 100


def test_escapes_in_timestamps() -> None:
    line = r'<a:s> <a:p> <a:o> "2009\u002D07-20T22:48:52Z"^^<http://www.w3.org/2001/XMLSchema\u0023dateTime> .'
    assert parse(line.encode(), "http://stream").elements["ts"].to_pylist() == [moment(2009, 7, 20, 22, 48, 52)]


@unhurried
@given(st.lists(st.from_regex(MOMENT, fullmatch=True), min_size=1, max_size=5))
def test_whatever_the_kernels_take_they_read_as_one_by_one(texts: list[str]) -> None:
    assert by_kernels(*texts) == [microseconds(text) for text in texts]


@unhurried
@given(st.datetimes(datetime(1000, 1, 1), datetime(2999, 12, 31)))
def test_the_kernels_take_every_day_there_is(local: datetime) -> None:
    assert by_kernels(local.isoformat()) == [microseconds(local.isoformat())]
