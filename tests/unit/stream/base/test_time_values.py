"""Times and durations as people write them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import numpy as np
import pandas as pd
import pytest

from penstock.errors import OptionError
from penstock.stream.base.time_values import Duration, Moment, microseconds, moment, to_datetime


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("10s", 10_000_000), ("500ms", 500_000), ("2 minutes", 120_000_000), ("1.5 h", 5_400_000_000),
        ("3 days", 259_200_000_000), ("0s", 0), (" 7 US ", 7), ("0.5ms", 500),
        ("PT1H", 3_600_000_000), ("P1DT0.5S", 86_400_500_000),
        (timedelta(milliseconds=3), 3_000), (42, 42),
    ],
)  # fmt: skip
def test_durations(written: Duration, expected: int) -> None:
    assert microseconds(written) == expected


@pytest.mark.parametrize("written", ["", "10", "s", "10 parsecs", "-5s", "1,5s", "P1M", "PT"])
def test_error_of_a_duration_says_how_to_write_one(written: str) -> None:
    with pytest.raises(
        ValueError, match=r'is not a duration: write one as 10s, 500ms, 5m, 2h, 1d, "2 minutes" or PT1H'
    ):
        microseconds(written)


def test_no_duration_is_negative() -> None:
    with pytest.raises(ValueError, match="must not be negative"):
        microseconds(-1)


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        (datetime(1970, 1, 1, 0, 0, 1, tzinfo=UTC), 1_000_000),
        (datetime(1970, 1, 1, 0, 0, 1), 1_000_000),
        (datetime(1970, 1, 1, 1, 0, tzinfo=timezone(timedelta(hours=1))), 0),
        (-5, -5),
        (pd.Timestamp("1970-01-01T00:00:01.000001"), 1_000_001),
        (pd.Timestamp("1970-01-01T01:00:01", tz="Europe/Rome"), 1_000_000),
        (np.datetime64("1970-01-01T00:01"), 60_000_000),
        (np.datetime64("1970-01-01T00:00:01.000001999"), 1_000_001),
        (np.int64(7), 7),
        (500_000_000, 500_000_000),  # eight minutes of 1970
        (86_400_000_000, 86_400_000_000),  # its first day
        (1_772_442_060_000_000, 1_772_442_060_000_000),
    ],
)
def test_moments(written: Moment, expected: int) -> None:
    assert moment(written) == expected


@pytest.mark.parametrize("written", [pd.NaT, np.datetime64("NaT"), 1.5, "2026-01-01"])
def test_other_values_are_no_times(written: Any) -> None:
    with pytest.raises(OptionError, match="is not a time: give a datetime, or microseconds since 1970"):
        moment(written)


@pytest.mark.parametrize(
    ("written", "message"),
    [
        (
            1_772_442_060,
            "1772442060 is 1970-01-01T00:29:32.44206Z as microseconds and 2026-03-02T09:01:00Z as seconds:"
            " give microseconds (1772442060000000) or a datetime",
        ),
        (
            np.int64(1_772_442_060_500),
            "1772442060500 is 1970-01-21T12:20:42.0605Z as microseconds and 2026-03-02T09:01:00.5Z as milliseconds:"
            " give microseconds (1772442060500000) or a datetime",
        ),
    ],
)
def test_seconds_are_not_taken_for_microseconds(written: Moment, message: str) -> None:
    with pytest.raises(OptionError) as caught:
        moment(written)
    assert str(caught.value) == message


@pytest.mark.parametrize("minutes", [1, 20, 30, 60, 29_500])
def test_made_up_streams_may_count_from_1970(minutes: int) -> None:
    assert moment(minutes * 60_000_000) == minutes * 60_000_000


def test_datetimes_are_in_utc_and_never_overflow() -> None:
    assert to_datetime(None) is None
    assert to_datetime(1) == datetime(1970, 1, 1, 0, 0, 0, 1, tzinfo=UTC)
    assert to_datetime(-(10**18)) == datetime.min.replace(tzinfo=UTC)
    assert to_datetime(10**18) == datetime.max.replace(tzinfo=UTC)
