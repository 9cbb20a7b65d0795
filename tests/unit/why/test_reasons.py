"""The list of reasons: its order and its text."""

from __future__ import annotations

import pytest

from penstock import Reason, Why
from penstock.why.reasons import in_order
from penstock.why.wording import counted, roughly

NOTHING, LATE = Reason("nothing", "Nothing has come.", "Push."), Reason("late", "All came late.")


def test_the_most_likely_reason_is_first() -> None:
    again = Reason("nothing", "Nothing has come to another stream.")
    assert in_order([LATE, NOTHING, again]) == (NOTHING, again, LATE)


def test_reasons_print_as_a_numbered_list() -> None:
    why = Why("cars", (NOTHING, LATE))
    assert str(why) == "1. Nothing has come. Push.\n2. All came late."
    assert why._repr_html_() == "<pre>1. Nothing has come. Push.\n2. All came late.</pre>"
    assert (list(why), len(why), why.top(1)) == ([NOTHING, LATE], 2, Why("cars", (NOTHING,)))


@pytest.mark.parametrize(
    ("time", "text"),
    [(7, "7us"), (250_400, "250ms"), (37_900_000, "37s"), (7_530_000_000, "2h 5m"), (90_000_000_000, "1d 1h")],
)
def test_lengths_of_time(time: int, text: str) -> None:
    assert roughly(time) == text


def test_numbers_of_things() -> None:
    assert [counted(1, "row"), counted(2000, "row")] == ["1 row", "2,000 rows"]
